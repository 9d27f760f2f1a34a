"""Room on the pages of invitations, so that PostgreSQL writes a used code anew on its own page.

Revision: 0033
Follows: 0032
"""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return
    for survey in connection.execute(sa.text("SELECT id FROM surveys ORDER BY id")).scalars().all():
        op.execute(f"ALTER TABLE invitations_{survey} SET (fillfactor = 90)")
