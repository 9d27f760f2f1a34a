"""The tables that each survey has of its own: what respondents leave behind.

Whoever writes anew, empties or deletes one survey's rows holds up no other survey, and what is
left of them in files is nobody else's page. `responses_17` and `invitations_17` belong to the
survey with the id 17; they are made together with it.

A response is a random id, the version it answers, the link's stratum, a byte for each report, the
day. Nothing else may ever be added that could join it to a person. Of an invitation only the hash of
its code is kept, and whether it was used: not when, nor for what. Keys are random and SQLite has no
rowid here, so that rows lie in the order of random numbers and no query tells in which order they
arrived. While a study runs, who holds the files still finds traces of it; `server.tidying` says which,
and takes them away once it is closed.

Ids and hashes are unique within a survey: a response is sent again by a link of the same survey.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import sqlalchemy as sa

T = TypeVar("T")

STATISTICS_FREE = (sa.String, sa.LargeBinary)
"""Of what PostgreSQL keeps no commonest values: these would outlive the rows in its statistics."""


@dataclass(frozen=True)
class Kind:
    """One of the tables that each survey has.

    Attributes
    ----------
    name : str
        Of the tables, before the survey's number.
    columns : Callable
        Makes its columns, the key first, and its constraints.
    final : bool
        Whether the database refuses every change of a row.
    """

    name: str
    columns: Callable[[], Iterator[sa.Column[object] | sa.CheckConstraint]]
    final: bool


def _responses() -> Iterator[sa.Column[object] | sa.CheckConstraint]:
    yield sa.Column("id", sa.LargeBinary(16), nullable=False)
    yield sa.Column("version_id", sa.Integer, nullable=False)
    yield sa.Column("reports", sa.LargeBinary, nullable=False)
    yield sa.Column("day", sa.Date, nullable=False)
    yield sa.Column("stratum_id", sa.Integer)
    yield sa.CheckConstraint("length(id) = 16", name="id_is_128_bits")
    yield sa.CheckConstraint("length(reports) >= 1", name="reports_are_present")


def _invitations() -> Iterator[sa.Column[object] | sa.CheckConstraint]:
    yield sa.Column("code_hash", sa.LargeBinary(32), nullable=False)
    yield sa.Column("batch_id", sa.Integer, nullable=False)
    yield sa.Column("spent", sa.Boolean, nullable=False)
    yield sa.CheckConstraint("length(code_hash) = 32", name="code_hash_is_sha256")


KINDS = (Kind("responses", _responses, True), Kind("invitations", _invitations, False))
_RESPONSES, _INVITATIONS = KINDS


@lru_cache(maxsize=1024)
def responses_of(survey_id: int) -> sa.Table:
    """Where the responses to a survey are: `id`, `version_id`, `reports`, `day`, `stratum_id`."""
    return table(_RESPONSES, survey_id)


@lru_cache(maxsize=1024)
def invitations_of(survey_id: int) -> sa.Table:
    """Where the invitations to a survey are: `code_hash`, `batch_id`, `spent`."""
    return table(_INVITATIONS, survey_id)


def grouped(pairs: Iterable[tuple[int, T]]) -> list[tuple[int, list[T]]]:
    """What belongs to each survey, by its id, in the order of ids: always the same, so that none waits for ever."""
    found: dict[int, list[T]] = {}
    for survey_id, each in pairs:
        found.setdefault(survey_id, []).append(each)
    return sorted(found.items(), key=lambda pair: pair[0])


def table(kind: Kind, survey_id: int, suffix: str = "") -> sa.Table:
    """One of a survey's tables, or what is made to take its place."""
    name = f"{kind.name}_{int(survey_id)}{suffix}"
    convention = {"ck": "ck_%(table_name)s_%(constraint_name)s", "pk": "pk_%(table_name)s"}
    columns = list(kind.columns())
    return sa.Table(
        name,
        sa.MetaData(naming_convention=convention),
        *columns,
        sa.PrimaryKeyConstraint(next(column for column in columns if isinstance(column, sa.Column))),
        sqlite_with_rowid=False,
    )


def create_tables(connection: sa.Connection, survey_id: int) -> None:
    """Make the tables of a new survey."""
    for kind in KINDS:
        create_table(connection, kind, survey_id)
        guard(connection, kind, survey_id)


def create_table(connection: sa.Connection, kind: Kind, survey_id: int, suffix: str = "") -> sa.Table:
    """Make one of them, which nothing guards yet."""
    made = table(kind, survey_id, suffix)
    made.create(connection)
    if connection.dialect.name == "postgresql":
        for column in made.c:
            if isinstance(column.type, STATISTICS_FREE):
                connection.exec_driver_sql(f"ALTER TABLE {made.name} ALTER {column.name} SET STATISTICS 0")
    return made


def guard(connection: sa.Connection, kind: Kind, survey_id: int) -> None:
    """Have the database refuse rows that belong to something of another survey, and changes of what is final."""
    for statement in _guards(kind, int(survey_id), connection.dialect.name):
        connection.exec_driver_sql(statement)


def guards(kind: Kind, survey_id: int) -> tuple[str, str]:
    """The names of its triggers: against rows of others, and against changes."""
    return f"{kind.name}_{survey_id}_belong", f"{kind.name}_{survey_id}_stay"


def _guards(kind: Kind, survey_id: int, dialect: str) -> Iterator[str]:
    name = f"{kind.name}_{survey_id}"
    belong, stay = guards(kind, survey_id)
    change = "UPDATE" if kind.final else "UPDATE OF batch_id"
    if dialect == "postgresql":
        yield (
            f"CREATE TRIGGER {belong} AFTER INSERT ON {name} REFERENCING NEW TABLE AS written "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {kind.name}_belong({survey_id})"
        )
        yield (
            f"CREATE TRIGGER {stay} BEFORE {change} ON {name} "
            f"FOR EACH ROW EXECUTE FUNCTION {kind.name}_are_immutable()"
        )
        return
    yield (
        f"CREATE TRIGGER {belong} BEFORE INSERT ON {name} WHEN {_STRANGERS[kind.name].format(survey_id)} "
        f"BEGIN SELECT RAISE(ABORT, '{kind.name} belong to their survey'); END"
    )
    yield (
        f"CREATE TRIGGER {stay} BEFORE {change} ON {name} "
        f"BEGIN SELECT RAISE(ABORT, '{kind.name} are immutable'); END"
    )


_VERSION = "SELECT 1 FROM survey_versions v WHERE v.id = NEW.version_id AND v.survey_id = {0}"
_STRATUM = "SELECT 1 FROM strata s WHERE s.id = NEW.stratum_id AND s.survey_id = {0}"
_BATCH = "SELECT 1 FROM invitation_batches b WHERE b.id = NEW.batch_id AND b.survey_id = {0}"
# On PostgreSQL, functions of the migrations say the same.
_STRANGERS = {
    "responses": f"NOT EXISTS ({_VERSION}) OR NEW.stratum_id IS NOT NULL AND NOT EXISTS ({_STRATUM})",
    "invitations": f"NOT EXISTS ({_BATCH})",
}
