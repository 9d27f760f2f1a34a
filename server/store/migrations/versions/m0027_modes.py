"""Responses say whether they were keyed in from paper; those before came from browsers.

Revision: 0027
Follows: 0026
"""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    inspector = sa.inspect(connection)
    for survey in connection.execute(sa.text("SELECT id FROM surveys ORDER BY id")).scalars().all():
        table = f"responses_{survey}"
        # A backup from before is restored into tables as they are now, and brought up to date afterwards.
        if "mode" not in {column["name"] for column in inspector.get_columns(table)}:
            mode = sa.Column("mode", sa.SmallInteger(), nullable=False, server_default=sa.text("0"))
            op.add_column(table, mode)
