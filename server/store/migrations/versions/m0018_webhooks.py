"""Webhooks, and what is sent to their receivers.

Revision: 0018
Follows: 0017
"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "webhooks",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("survey_id", sa.Integer(), nullable=False),
        sa.Column("researcher_id", sa.Integer(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("secret_sealed", sa.Text(), nullable=False),
        sa.Column("made_on", sa.Date(), nullable=False),
        sa.Column("looked_on", sa.Date(), nullable=False),
        sa.ForeignKeyConstraint(
            ["survey_id"], ["surveys.id"], name="fk_webhooks_survey_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["researcher_id"], ["researchers.id"], name="fk_webhooks_researcher_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_webhooks"),
    )
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("webhook_id", sa.String(32), nullable=False),
        sa.Column("event", sa.String(40), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("next_at", sa.DateTime(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.Column("outcome", sa.String(10)),
        sa.Column("trouble", sa.String(20)),
        sa.Column("status", sa.Integer()),
        sa.CheckConstraint("attempts >= 0", name=op.f("ck_webhook_deliveries_attempts_are_counted")),
        sa.CheckConstraint(
            "outcome IN ('delivered', 'given up')", name=op.f("ck_webhook_deliveries_outcome_is_known")
        ),
        sa.ForeignKeyConstraint(
            ["webhook_id"], ["webhooks.id"], name="fk_webhook_deliveries_webhook_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_deliveries"),
    )
    for table, column in (
        ("webhooks", "survey_id"),
        ("webhooks", "researcher_id"),
        ("webhook_deliveries", "webhook_id"),
    ):
        op.create_index(f"ix_{table}_{column}", table, [column])
