"""Responses are stored by a hash of their receipts; of each survey, what was taken back.

Revision: 0022
Follows: 0021
"""

import hashlib
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

_ROWS = "version_id, reports, day, stratum_id"


def upgrade() -> None:
    connection = op.get_bind()
    surveys = connection.execute(sa.text("SELECT id FROM surveys ORDER BY id")).scalars().all()
    if connection.dialect.name == "sqlite":
        driver: Any = connection.connection.driver_connection
        driver.create_function("sha256", 1, lambda value: hashlib.sha256(value).digest(), deterministic=True)
    for survey in surveys:
        _hash_ids(survey)
        _create(survey)
    # Copies of the old rows are in the files still, and of closed surveys no hash stays either.
    op.execute(
        "INSERT INTO untidied (survey_id, since) SELECT id, CURRENT_TIMESTAMP FROM surveys s WHERE state = 'closed' "
        "AND NOT EXISTS (SELECT 1 FROM untidied u WHERE u.survey_id = s.id AND NOT u.rewritten)"
    )


def _hash_ids(survey: int) -> None:
    """Fill the table anew, in the order of its keys: single rows may not be changed."""
    name, moved = f"responses_{survey}", f"responses_{survey}_moved"
    op.execute(
        f"CREATE TEMPORARY TABLE {moved} AS SELECT substr(sha256(id), 1, 16) AS id, {_ROWS} FROM {name}"  # noqa: S608
    )
    op.execute(f"DELETE FROM {name}" if _is_sqlite() else f"TRUNCATE {name}")  # noqa: S608
    op.execute(f"INSERT INTO {name} (id, {_ROWS}) SELECT id, {_ROWS} FROM {moved} ORDER BY id")  # noqa: S608
    op.execute(f"DROP TABLE {moved}")


def _create(survey: int) -> None:
    withdrawals, removals = f"withdrawals_{survey}", f"removals_{survey}"
    op.create_table(
        withdrawals,
        sa.Column("id", sa.LargeBinary(16), nullable=False),
        sa.PrimaryKeyConstraint("id", name=f"pk_{withdrawals}"),
        sa.CheckConstraint("length(id) = 16", name=op.f(f"ck_{withdrawals}_id_is_128_bits")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        removals,
        sa.Column("cell_id", sa.BigInteger(), nullable=False, autoincrement=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("strings", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("cell_id", name=f"pk_{removals}"),
        sa.ForeignKeyConstraint(
            ["cell_id"], [f"cells_{survey}.id"], name=f"fk_{removals}_cell_id", ondelete="CASCADE"
        ),
        sa.CheckConstraint("n >= 1", name=op.f(f"ck_{removals}_n_is_positive")),
        sqlite_with_rowid=False,
    )
    if not _is_sqlite():
        op.execute(f"ALTER TABLE {withdrawals} ALTER id SET STATISTICS 0")
        op.execute(f"ALTER TABLE {removals} ALTER strings SET STATISTICS 0")


def _is_sqlite() -> bool:
    return op.get_bind().dialect.name == "sqlite"
