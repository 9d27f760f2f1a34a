"""Surveys that can be answered without a network, once they were opened.

Revision: 0024
Follows: 0023
"""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("surveys", sa.Column("offline", sa.Boolean(), nullable=False, server_default=sa.false()))
