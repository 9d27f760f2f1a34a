"""Names of what was spent of a survey, by which a restored database is noticed.

Revision: 0013
Follows: 0011
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "debits",
        sa.Column("survey_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("token", sa.String(32), nullable=False),
        sa.Column("answers", sa.String(32)),
        sa.PrimaryKeyConstraint("survey_id", "number", name="pk_debits"),
        sa.ForeignKeyConstraint(
            ["survey_id"], ["surveys.id"], name="fk_debits_survey_id", ondelete="CASCADE"
        ),
    )
