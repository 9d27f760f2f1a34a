"""Surveys that give everybody who finishes a code of their own: the key that signs these, and which were found good.

Revision: 0032
Follows: 0031
"""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table, column in (("surveys", "completions"), ("ticket_keys", "completes")):
        op.add_column(table, sa.Column(column, sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "accepted_codes",
        sa.Column("survey_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("code", sa.String(20), nullable=False),
        sa.PrimaryKeyConstraint("survey_id", "code", name=op.f("pk_accepted_codes")),
        sa.ForeignKeyConstraint(
            ["survey_id"], ["surveys.id"], name=op.f("fk_accepted_codes_survey_id"), ondelete="CASCADE"
        ),
    )
