"""Failed sign-ins, counted by all processes together; the key under which secrets are sealed, by its public half.

Revision: 0019
Follows: 0018
"""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "failed_attempts",
        sa.Column("slot", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("slot", "at", name="pk_failed_attempts"),
    )
    op.create_index("ix_failed_attempts_until", "failed_attempts", ["until"])
    if op.get_context().dialect.name == "postgresql":
        for name in (
            "slot",
            "at",
            "until",
            "n",
        ):  # commonest values would outlive the rows in the server's statistics
            op.execute(f"ALTER TABLE failed_attempts ALTER {name} SET STATISTICS 0")
    op.add_column("servers", sa.Column("sealed_by", sa.String(100)))
