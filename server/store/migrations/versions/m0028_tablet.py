"""Surveys that many people may answer on one tablet, handed round by an interviewer.

Revision: 0028
Follows: 0027
"""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("surveys", sa.Column("tablet", sa.Boolean(), nullable=False, server_default=sa.false()))
