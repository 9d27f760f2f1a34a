"""Surveys whose open links ask for proof of work.

Revision: 0031
Follows: 0030
"""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("surveys", sa.Column("works", sa.Boolean(), nullable=False, server_default=sa.false()))
