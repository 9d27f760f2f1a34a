"""Tokens of programs, and what they were answered.

Revision: 0016
Follows: 0015
"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "api_tokens",
        sa.Column("secret_hash", sa.LargeBinary(32), nullable=False),
        sa.Column("researcher_id", sa.Integer(), nullable=False),
        sa.Column("survey_id", sa.Integer()),
        sa.Column("role", sa.String(8), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("made_on", sa.Date(), nullable=False),
        sa.Column("expires_at", sa.DateTime(), nullable=False),
        sa.Column("seen_on", sa.Date()),
        sa.CheckConstraint("length(secret_hash) = 32", name=op.f("ck_api_tokens_secret_hash_is_sha256")),
        sa.CheckConstraint("role IN ('viewer', 'editor')", name=op.f("ck_api_tokens_role_is_known")),
        sa.ForeignKeyConstraint(
            ["researcher_id"], ["researchers.id"], name="fk_api_tokens_researcher_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["survey_id"], ["surveys.id"], name="fk_api_tokens_survey_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("secret_hash", name="pk_api_tokens"),
    )
    op.create_table(
        "kept_replies",
        sa.Column("researcher_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("key", sa.String(100), nullable=False),
        sa.Column("survey_id", sa.Integer()),
        sa.Column("request_hash", sa.LargeBinary(32), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("kept_at", sa.DateTime(), nullable=False),
        sa.CheckConstraint("length(request_hash) = 32", name=op.f("ck_kept_replies_request_hash_is_sha256")),
        sa.ForeignKeyConstraint(
            ["researcher_id"], ["researchers.id"], name="fk_kept_replies_researcher_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["survey_id"], ["surveys.id"], name="fk_kept_replies_survey_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("researcher_id", "key", name="pk_kept_replies"),
    )
    for table, column in (
        ("api_tokens", "researcher_id"),
        ("api_tokens", "survey_id"),
        ("kept_replies", "survey_id"),
    ):
        op.create_index(f"ix_{table}_{column}", table, [column])
