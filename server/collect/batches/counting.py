"""How many responses to a survey are stored, without counting them."""

import os
from collections.abc import Collection, Mapping
from functools import lru_cache

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from server.store.own_tables import counters_of
from server.store.prepared import Prepared

_WRITERS = 16


@lru_cache(maxsize=1024)
def _adding(survey_id: int, dialect: str) -> Prepared:
    table = counters_of(survey_id)
    insert = (sqlite.insert if dialect == "sqlite" else postgresql.insert)(table)
    more = {"n": table.c.n + insert.excluded.n}
    return Prepared(insert.on_conflict_do_update(index_elements=[table.c.writer], set_=more))


def lock_counters(connection: sa.Connection, surveys: Collection[int]) -> None:
    """Let others who store responses to these surveys, and hold them too, wait until the transaction ends."""
    if connection.dialect.name != "sqlite":  # which lets one write after the other
        for survey in sorted(surveys):
            _add(connection, survey, 0, 0)


def count(connection: sa.Connection, numbers: Mapping[int, int]) -> None:
    """Count responses to surveys, in the transaction that stores them."""
    # Processes that write at the same time mostly have different numbers; SQLite lets one write after the other.
    writer = 0 if connection.dialect.name == "sqlite" else os.getpid() % _WRITERS
    for survey, n in sorted(numbers.items()):
        _add(connection, survey, writer, n)


def _add(connection: sa.Connection, survey: int, writer: int, n: int) -> None:
    _adding(survey, connection.dialect.name).run_each(connection, [{"writer": writer, "n": n}])


def count_stored(connection: Session | sa.Connection, survey: int) -> int:
    """The number of responses to a survey, those that wait included."""
    total = sa.select(sa.func.coalesce(sa.func.sum(counters_of(survey).c.n), 0))
    return int(connection.scalar(total) or 0)


def set_stored(connection: sa.Connection, survey: int, number: int) -> None:
    """Let the counters of a survey say this."""
    table = counters_of(survey)
    connection.execute(sa.delete(table))
    connection.execute(sa.insert(table).values(writer=0, n=number))
