"""Since when a survey's populations, which estimates are weighted by, are what they are.

Revision: 0011
Follows: 0010
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("surveys", sa.Column("populations_since", sa.Date(), nullable=True))
