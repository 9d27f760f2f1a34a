"""Whether tables, columns and triggers are those that the code relies on."""

from collections.abc import Iterator, Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.store import own_table_making, own_tables
from server.store.models import Base, Untidied

SHARED_TRIGGERS = frozenset(
    {
        "survey_versions_are_immutable",
        *(
            f"{table}_refuse_{operation}"
            for table in (
                "privacy_budgets",
                "releases",
                "ledger_entries",
                "released_values",
                "search_answers",
            )
            for operation in ("update", "delete")
        ),
        *(
            f"{table}_{operation}_raises_revision"
            for table in ("surveys", "survey_versions", "strata", "study_sheets")
            for operation in ("insert", "update", "delete")
            if (table, operation) not in (("surveys", "delete"), ("study_sheets", "delete"))
        ),
    }
)
"""The triggers on tables that all surveys share, as migrations make them; a test holds the two equal."""

_COLUMNS = {
    "sqlite": "SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'",
    "postgresql": "SELECT table_name, column_name FROM information_schema.columns "
    "WHERE table_schema = current_schema()",
}
_TRIGGERS = {
    "sqlite": "SELECT name FROM sqlite_schema WHERE type = 'trigger'",
    "postgresql": "SELECT tgname FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid "
    "JOIN pg_namespace n ON n.oid = relnamespace "
    "WHERE nspname = current_schema() AND NOT tgisinternal AND tgenabled IN ('O', 'A')",
}
_INDEXES = {
    "sqlite": "SELECT name FROM sqlite_schema WHERE type = 'index'",
    "postgresql": "SELECT indexname FROM pg_indexes WHERE schemaname = current_schema()",
}
_PROBLEMS = 10
"""Of SQLite's file, as many are named."""


def check_file(session: Session, _ids: Sequence[int]) -> Iterator[str]:
    """On SQLite, every page is one, indexes agree with their tables, and rows with what their tables demand."""
    connection = session.connection()
    if connection.dialect.name != "sqlite":
        return
    for (said,) in connection.exec_driver_sql(f"PRAGMA integrity_check({_PROBLEMS})").all():
        if said != "ok":
            yield " ".join(str(said).split())


def check_tables(session: Session, ids: Sequence[int]) -> Iterator[str]:
    """Every table has its columns and no other; each survey has its own tables, and what was deleted has none."""
    found: dict[str, set[str]] = {}
    for table, column in _select(session, _COLUMNS):
        found.setdefault(table, set()).add(column)
    own = [own_tables.table(kind, survey_id) for survey_id in ids for kind in own_tables.KINDS]
    expected = {table.name: set(table.columns.keys()) for table in [*Base.metadata.sorted_tables, *own]}
    for name in sorted(expected.keys() - found.keys()):
        yield f"table {name} is missing"
    for name in sorted(expected.keys() & found.keys()):
        if missing := expected[name] - found[name]:
            yield f"table {name} lacks {', '.join(sorted(missing))}"
        if more := found[name] - expected[name]:
            yield f"table {name} has {', '.join(sorted(more))}, which nothing here writes"
    unique = {index.name for table in Base.metadata.sorted_tables for index in table.indexes if index.unique}
    for name in sorted(map(str, unique - {name for (name,) in _select(session, _INDEXES)})):
        yield f"index {name}, which lets nothing be there twice, is missing"
    # Those of a survey that was deleted are emptied and dropped by tidying, which is due.
    due = set(session.scalars(sa.select(Untidied.survey_id))) if Untidied.__tablename__ in found else set()
    for name in sorted(found.keys() - expected.keys()):
        kind, _, number = name.partition("_")
        if number.isdigit() and int(number) not in due and kind in {each.name for each in own_tables.KINDS}:
            yield f"table {name} is of no survey"


def check_triggers(session: Session, ids: Sequence[int]) -> Iterator[str]:
    """Everything that the database itself refuses is refused still."""
    found = {name for (name,) in _select(session, _TRIGGERS)}
    own = {name for survey_id in ids for name in own_table_making.list_triggers(survey_id)}
    for name in sorted((SHARED_TRIGGERS | own) - found):
        yield f"trigger {name} is missing"


def _select(session: Session, by_dialect: dict[str, str]) -> Iterator[Sequence[str]]:
    connection = session.connection()
    yield from connection.exec_driver_sql(by_dialect[connection.dialect.name]).all()
