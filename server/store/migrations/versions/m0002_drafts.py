"""Drafts in a table of their own, one row for each state, so that changes can be undone.

Revision: 0002
Follows: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "drafts",
        sa.Column("survey_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("survey_id", "number", name="pk_drafts"),
        sa.ForeignKeyConstraint(
            ["survey_id"], ["surveys.id"], name="fk_drafts_survey_id", ondelete="CASCADE"
        ),
        sa.CheckConstraint("number >= 1", name=op.f("ck_drafts_number_is_positive")),
    )
    op.execute("INSERT INTO drafts (survey_id, number, document) SELECT id, 1, draft FROM surveys")
    # Written out: for SQLite, Alembic would copy the whole table to add a constraint, which other tables refer to.
    op.execute(
        "ALTER TABLE surveys ADD COLUMN draft_number INTEGER DEFAULT 1 NOT NULL "
        "CONSTRAINT ck_surveys_draft_number_is_positive CHECK (draft_number >= 1)"
    )
    op.execute("ALTER TABLE surveys DROP COLUMN draft")
