"""Study sheets: what reports say of a study beside its questions and responses.

Revision: 0020
Follows: 0019
"""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "study_sheets",
        sa.Column("survey_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.CheckConstraint("number >= 1", name=op.f("ck_study_sheets_number_is_positive")),
        sa.ForeignKeyConstraint(
            ["survey_id"], ["surveys.id"], name="fk_study_sheets_survey_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("survey_id", name="pk_study_sheets"),
    )
