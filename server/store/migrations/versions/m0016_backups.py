"""Surveys that came from a backup which left something out.

Revision: 0016
Follows: 0020
"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("surveys", sa.Column("incomplete", sa.Boolean(), nullable=False, server_default=sa.false()))
