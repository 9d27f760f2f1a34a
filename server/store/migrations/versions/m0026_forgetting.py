"""Surveys that leave no note on a device on which they were answered.

Revision: 0026
Follows: 0025
"""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("surveys", sa.Column("forgets", sa.Boolean(), nullable=False, server_default=sa.false()))
