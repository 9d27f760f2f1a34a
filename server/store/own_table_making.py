"""Making the tables that each survey has of its own, and what has the database guard them."""

from collections.abc import Iterator, Sequence
from functools import cache

import sqlalchemy as sa
from sqlalchemy.dialects import registry
from sqlalchemy.schema import CreateTable

from server.store.own_tables import BATCHES, INVITATIONS, KINDS, TableKind, table

_STATISTICS_FREE = (sa.String, sa.LargeBinary)
"""Of what PostgreSQL keeps no commonest values: these would outlive the rows in its statistics."""
_ANY = 987_654_321
"""Stands for the number of any survey in what is written once."""


def create_tables(connection: sa.Connection, survey_id: int, kinds: Sequence[TableKind] = KINDS) -> None:
    """Make the tables of a new survey."""
    dialect = connection.dialect.name
    statements = [
        statement
        for kind in kinds
        for statement in (
            *_define(kind, int(survey_id), "", dialect),
            *_guards(kind, int(survey_id), dialect),
        )
    ]
    if dialect == "postgresql":  # in one journey
        statements = [";\n".join(statements)]
    for statement in statements:
        connection.exec_driver_sql(statement)


def create_table(connection: sa.Connection, kind: TableKind, survey_id: int, suffix: str = "") -> sa.Table:
    """Make one of them, which nothing guards yet."""
    for statement in _define(kind, int(survey_id), suffix, connection.dialect.name):
        connection.exec_driver_sql(statement)
    return table(kind, survey_id, suffix)


def _define(kind: TableKind, survey_id: int, suffix: str, dialect: str) -> Iterator[str]:
    name = f"{kind.name}_{survey_id}{suffix}"
    yield _write_definition(kind, suffix, dialect).replace(str(_ANY), str(survey_id))
    if dialect == "postgresql":
        changes = [
            f"ALTER {column.name} SET STATISTICS 0"
            for column in table(kind, _ANY, suffix).c
            if isinstance(column.type, _STATISTICS_FREE)
        ]
        if kind is INVITATIONS:
            # A code that is used is written anew on its own page, and the index knows it already.
            changes.append("SET (fillfactor = 90)")
        if kind is BATCHES:
            # Report strings look like noise: trying to compress them is work for nothing.
            changes.append(f"ALTER {kind.large} SET STORAGE EXTERNAL")
        if changes:
            yield f"ALTER TABLE {name} {', '.join(changes)}"


@cache
def _write_definition(kind: TableKind, suffix: str, dialect: str) -> str:
    """What makes such a table, for a survey that is none: to write it takes longer than to make the table."""
    return str(CreateTable(table(kind, _ANY, suffix)).compile(dialect=registry.load(dialect)()))


def guard_tables(connection: sa.Connection, kind: TableKind, survey_id: int) -> None:
    """Have the database refuse what does not belong there, and changes of what is final; and look things up fast."""
    for statement in _guards(kind, int(survey_id), connection.dialect.name):
        connection.exec_driver_sql(statement)


def list_triggers(survey_id: int) -> list[str]:
    """The names of the triggers that guard a survey's tables."""
    ends = (
        (kind.name, end)
        for kind in KINDS
        for end, rule in (("belong", kind.strangers), ("stay", kind.changes))
        if rule
    )
    return [f"{name}_{int(survey_id)}_{end}" for name, end in ends]


def take_guards_off(connection: sa.Connection, kind: TableKind, survey_id: int) -> None:
    """On SQLite: let another table have their names."""
    for name in (f"{kind.name}_{survey_id}_belong", f"{kind.name}_{survey_id}_stay"):
        connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {name}")
    connection.exec_driver_sql(f"DROP INDEX IF EXISTS {_index(kind, survey_id)}")


def _index(kind: TableKind, survey_id: int) -> str:
    return "_".join(("ix", kind.name, str(survey_id), *kind.index))


def _guards(kind: TableKind, survey_id: int, dialect: str) -> Iterator[str]:
    name = f"{kind.name}_{survey_id}"
    if kind.index:
        yield f"CREATE INDEX {_index(kind, survey_id)} ON {name} ({', '.join(kind.index)})"
    if kind.strangers and dialect == "postgresql":
        yield (
            f"CREATE TRIGGER {name}_belong AFTER INSERT ON {name} REFERENCING NEW TABLE AS written "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {kind.name}_belong({survey_id})"
        )
    elif kind.strangers:
        yield (
            f"CREATE TRIGGER {name}_belong BEFORE INSERT ON {name} WHEN {kind.strangers.format(survey_id)} "
            f"BEGIN SELECT RAISE(ABORT, '{kind.name} belong to their survey'); END"
        )
    if kind.changes and dialect == "postgresql":
        yield (
            f"CREATE TRIGGER {name}_stay BEFORE {kind.changes} ON {name} "
            f"FOR EACH ROW EXECUTE FUNCTION {kind.name}_are_immutable()"
        )
    elif kind.changes:
        yield (
            f"CREATE TRIGGER {name}_stay BEFORE {kind.changes} ON {name} "
            f"BEGIN SELECT RAISE(ABORT, '{kind.name} are immutable'); END"
        )
