"""Searches: what they keep between two questions, and what they were asked.

Revision: 0030
Follows: 0029
"""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "searches",
        sa.Column("entry_id", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("paid", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("entry_id", name="pk_searches"),
        _of_entry("searches"),
    )
    op.create_table(
        "search_answers",
        sa.Column("entry_id", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("number", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("asked", sa.LargeBinary(32), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("above", sa.Boolean(), nullable=False),
        sa.Column("answered_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("entry_id", "number", name="pk_search_answers"),
        _of_entry("search_answers"),
        sa.UniqueConstraint("entry_id", "asked", name="uq_search_answers_entry_id_asked"),
        sa.CheckConstraint("number >= 1", name=op.f("ck_search_answers_number_is_positive")),
        sa.CheckConstraint("length(asked) = 32", name=op.f("ck_search_answers_asked_is_sha256")),
    )
    entry = "EXISTS (SELECT 1 FROM ledger_entries WHERE ledger_entries.id = OLD.entry_id)"
    _refuse("UPDATE", "1 = 1", "search_answers are immutable")
    # They go with their survey: then the entry that each belongs to is gone first.
    _refuse("DELETE", entry, "search_answers stay as long as their survey")


def _refuse(operation: str, condition: str, message: str) -> None:
    """Refuse an operation on answers in the database itself."""
    name = f"search_answers_refuse_{operation.lower()}"
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            f"CREATE TRIGGER {name} BEFORE {operation} ON search_answers WHEN {condition} "
            f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
        )
        return
    op.execute(
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql "
        f"AS $$ BEGIN IF {condition} THEN RAISE EXCEPTION '{message}'; END IF; "
        f"IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW; END $$"
    )
    op.execute(
        f"CREATE TRIGGER {name} BEFORE {operation} ON search_answers FOR EACH ROW EXECUTE FUNCTION {name}()"
    )


def _of_entry(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["entry_id"], ["ledger_entries.id"], name=f"fk_{table}_entry_id", ondelete="CASCADE"
    )
