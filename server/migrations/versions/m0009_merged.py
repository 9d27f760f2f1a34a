"""Merged groups: which strata came with an archive as a part of the one around them.

Revision: 0009
Follows: 0008
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("surveys", "strata"):
        op.add_column(table, sa.Column("merged", sa.Boolean(), nullable=False, server_default=sa.false()))
