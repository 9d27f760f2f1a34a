"""When surveys were closed, and what the server deletes of them by itself so many days later.

Revision: 0025
Follows: 0024

When surveys were closed that are closed already was not stored: for them it is the moment of this migration, so that
nothing is deleted earlier than anybody was told.
"""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("surveys", sa.Column("closed_at", sa.DateTime(), nullable=True))
    for name in ("keep_rows", "keep_counts", "keep_rest"):
        op.add_column("surveys", sa.Column(name, sa.Integer(), nullable=True))
    op.add_column("surveys", sa.Column("deleted", sa.Integer(), nullable=False, server_default=sa.text("0")))
    surveys = sa.table("surveys", sa.column("state", sa.String), sa.column("closed_at", sa.DateTime))
    now = datetime.now(UTC).replace(tzinfo=None)
    op.execute(surveys.update().where(surveys.c.state == "closed").values(closed_at=now))
