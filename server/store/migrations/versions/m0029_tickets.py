"""Surveys whose codes buy tickets: the keys that sign these, and of each survey what was bought and what was spent.

Revision: 0029
Follows: 0028
"""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("surveys", sa.Column("tickets", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "ticket_keys",
        sa.Column("modulus", sa.LargeBinary(256), nullable=False),
        sa.Column("survey_id", sa.Integer(), nullable=False),
        sa.Column("stratum_id", sa.Integer(), nullable=True),
        sa.Column("exponent_sealed", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("modulus", name=op.f("pk_ticket_keys")),
        sa.ForeignKeyConstraint(
            ["survey_id"], ["surveys.id"], name=op.f("fk_ticket_keys_survey_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["stratum_id"], ["strata.id"], name=op.f("fk_ticket_keys_stratum_id"), ondelete="CASCADE"
        ),
        sa.CheckConstraint("length(modulus) = 256", name=op.f("ck_ticket_keys_modulus_has_2048_bits")),
    )
    op.create_index(op.f("ix_ticket_keys_survey_id"), "ticket_keys", ["survey_id"])
    op.create_index(op.f("ix_ticket_keys_stratum_id"), "ticket_keys", ["stratum_id"])
    connection = op.get_bind()
    for survey in connection.execute(sa.text("SELECT id FROM surveys ORDER BY id")).scalars().all():
        _create(f"purchases_{survey}", "code_hash", "blinded_hash")
        _create(f"tickets_{survey}", "id")


def _create(table: str, *columns: str) -> None:
    """A table of hashes, which are looked for by the first of its columns."""
    op.create_table(
        table,
        *(sa.Column(column, sa.LargeBinary(32), nullable=False) for column in columns),
        sa.PrimaryKeyConstraint(columns[0], name=f"pk_{table}"),
        *(
            sa.CheckConstraint(f"length({column}) = 32", name=op.f(f"ck_{table}_{column}_is_sha256"))
            for column in columns
        ),
        sqlite_with_rowid=False,
    )
    if op.get_bind().dialect.name == "postgresql":
        for column in columns:
            op.execute(f"ALTER TABLE {table} ALTER {column} SET STATISTICS 0")
