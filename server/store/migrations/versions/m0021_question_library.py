"""Question libraries: questions that a researcher keeps for other surveys.

Revision: 0021
Follows: 0020
"""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "library_questions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("researcher_id", sa.Integer(), nullable=False),
        sa.Column("entry", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["researcher_id"],
            ["researchers.id"],
            name="fk_library_questions_researcher_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_library_questions"),
    )
    op.create_index("ix_library_questions_researcher_id", "library_questions", ["researcher_id"])
