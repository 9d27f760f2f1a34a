"""How many responses to a survey were accepted and are stored, without counting them."""

import os
from collections.abc import Mapping
from functools import lru_cache
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from server.store.own_tables import counters_of, withdrawals_of
from server.store.prepared_statements import Prepared, fetch_script, write_script

_WRITERS = 16

_Insert = TypeVar("_Insert", postgresql.Insert, sqlite.Insert)


@lru_cache(maxsize=1024)
def _adding(survey_id: int, dialect: str) -> Prepared:
    table = counters_of(survey_id)
    if dialect == "sqlite":
        return Prepared(_add_up(sqlite.insert(table)))
    return Prepared(_add_up(postgresql.insert(table)))


def _add_up(insert: _Insert) -> _Insert:
    writer, n = insert.table.c.writer, insert.table.c.n
    return insert.on_conflict_do_update(index_elements=[writer], set_={n.name: n + insert.excluded.n})


def write_counting(survey_id: int, stored: sa.FromClause) -> postgresql.Insert:
    """On PostgreSQL, a part of a statement that counts the rows which it stores for the `writer` that it is given."""
    table = counters_of(survey_id)
    number = sa.select(
        sa.bindparam("writer", type_=sa.SmallInteger), sa.cast(sa.func.count(), sa.Integer)
    ).select_from(stored)
    return _add_up(postgresql.insert(table).from_select([table.c.writer, table.c.n], number))


def lock_accepted(connection: sa.Connection, survey: int) -> int:
    """As `count_accepted`; others who store responses to it, and ask this too, wait until the transaction ends."""
    if connection.dialect.name == "sqlite":  # which lets one write after the other
        return count_accepted(connection, survey)
    _locked, ((number,),) = fetch_script(connection, _write_locking(survey))
    return int(number)


@lru_cache(maxsize=1024)
def _write_locking(survey: int) -> str:
    nothing = postgresql.insert(counters_of(survey)).values(writer=0, n=0)
    return write_script([_add_up(nothing), _summing(survey)])


def count(connection: sa.Connection, numbers: Mapping[int, int]) -> None:
    """Count responses to surveys, in the transaction that stores them."""
    dialect = connection.dialect.name
    for survey, n in sorted(numbers.items()):
        _adding(survey, dialect).run(connection, {"writer": find_writer(dialect), "n": n})


def find_writer(dialect: str) -> int:
    """The number of this process among those that store responses; those of two are mostly different."""
    return 0 if dialect == "sqlite" else os.getpid() % _WRITERS  # SQLite lets one write after the other


@lru_cache(maxsize=1024)
def _summing(survey: int) -> sa.Select[tuple[int]]:
    return sa.select(sa.func.coalesce(sa.func.sum(counters_of(survey).c.n), 0))


def count_accepted(connection: Session | sa.Connection, survey: int) -> int:
    """The number of responses to a survey, those included that were taken back since: what a cap counts.

    A place that became free would show on the survey's page that somebody took a response back.
    """
    return int(connection.scalar(_summing(survey)) or 0)


def count_taken_back(connection: Session | sa.Connection, survey: int) -> int:
    """How many of them were taken back; none once the survey is closed."""
    return connection.scalar(sa.select(sa.func.count()).select_from(withdrawals_of(survey))) or 0


def count_stored(connection: Session | sa.Connection, survey: int) -> int:
    """The number of responses to a survey, those that wait included."""
    return count_accepted(connection, survey) - count_taken_back(connection, survey)


def set_stored(connection: sa.Connection, survey: int, number: int) -> None:
    """Let the counters of a survey say that so many are stored."""
    table, number = counters_of(survey), number + count_taken_back(connection, survey)
    connection.execute(sa.delete(table))
    connection.execute(sa.insert(table).values(writer=0, n=number))
