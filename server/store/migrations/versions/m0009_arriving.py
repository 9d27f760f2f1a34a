"""Surveys that are arriving from an archive, and batches that are written before they are shown.

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
    op.add_column("surveys", sa.Column("arriving_until", sa.DateTime(), nullable=True))
    for table in ("cells", "batches"):
        op.add_column(
            table, sa.Column("series", sa.SmallInteger(), nullable=False, server_default=sa.text("0"))
        )
