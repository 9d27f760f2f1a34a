"""Strata that are open or by invitation, whatever the survey is.

Revision: 0015
Follows: 0014
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("strata", sa.Column("by_invitation", sa.Boolean(), nullable=True))
