"""Tidying on SQLite: pages that hold one survey's rows and nothing else, in the order of their keys."""

import fcntl
import re
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import sqlalchemy as sa

from server import own_tables
from server.db import open_session
from server.models import Base
from server.tidying.marks import Due, stands
from server.tidying.waiting import BRIEFLY, LONG_PATIENCE, OvertakenError, Patience, UnfinishedError

PIECE = 2000
"""Rows that are written or removed in one transaction."""
_RANGE = 100
"""Rows that lie together and are removed one after the other."""

_NEW, _OLD = "_tidied", "_untidied"
_MOMENT = 20
"""Milliseconds to wait for readers while the write lock is held."""
_BUSY = "somebody kept reading or writing"


@contextmanager
def alone(engine: sa.Engine, patience: Patience) -> Iterator[None]:
    """While no other process tidies."""
    path = Path(f"{engine.url.database}-tidying")
    with path.open("wb") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                patience.pause("another process is tidying")
            else:
                break
        yield


def rewrite(engine: sa.Engine, work: Due, patience: Patience) -> None:
    """Have new tables take the place of a closed survey's."""
    assert work.survey_id is not None
    for kind in own_tables.KINDS:
        for suffix in (_NEW, _OLD):  # of an attempt that was not finished
            _remove(engine, own_tables.table(kind, work.survey_id, suffix), patience)
        _fill(engine, kind, work.survey_id, patience)
    with turn(engine, patience) as connection:
        if not stands(connection, work):
            raise OvertakenError("codes were withdrawn meanwhile")
        for kind in own_tables.KINDS:
            old, new = (own_tables.table(kind, work.survey_id, suffix).name for suffix in ("", _NEW))
            for guard in own_tables.guards(kind, work.survey_id):
                connection.exec_driver_sql(f"DROP TRIGGER {guard}")
            connection.exec_driver_sql(f"ALTER TABLE {old} RENAME TO {old}{_OLD}")
            connection.exec_driver_sql(f"ALTER TABLE {new} RENAME TO {old}")
            own_tables.guard(connection, kind, work.survey_id)
    for kind in own_tables.KINDS:
        _remove(engine, own_tables.table(kind, work.survey_id, _OLD), patience)


def remove(engine: sa.Engine, work: Due, patience: Patience) -> None:
    """Drop the tables of a survey that is gone."""
    if work.survey_id is not None:
        for kind in own_tables.KINDS:
            for suffix in ("", _NEW, _OLD):
                _remove(engine, own_tables.table(kind, work.survey_id, suffix), patience)


def rewrite_shared(engine: sa.Engine, patience: Patience, names: Iterable[str]) -> None:
    """Write tables that all surveys share anew, one by one: a page may hold copies of rows that were moved off it."""
    for name in names:
        while not _rebuild(engine, name, patience.longest):
            patience.pause(f"{_BUSY}, or {name} takes too long to write anew")


def forget_statistics(engine: sa.Engine, patience: Patience) -> None:
    """Nothing: none are kept."""


def forget_log(engine: sa.Engine, patience: Patience) -> None:
    """Write the log back, and cut it to nothing."""
    while not _checkpoint(engine):
        patience.pause(_BUSY)


def _fill(engine: sa.Engine, kind: own_tables.Kind, survey_id: int, patience: Patience) -> None:
    """A new table in the order of keys, each row after the last: its pages depend on the rows alone."""
    old = own_tables.table(kind, survey_id)
    with turn(engine, patience) as connection:
        new = own_tables.create_table(connection, kind, survey_id, _NEW)
    key, last = next(iter(old.c)), b""
    highest = sa.select(sa.func.max(next(iter(new.c))))
    while True:
        with turn(engine, patience) as connection:
            some = sa.select(*old.c).where(key > last).order_by(key).limit(PIECE)
            connection.execute(sa.insert(new).from_select(old.c.keys(), some))
            reached = connection.scalar(highest)
        if reached is None or reached == last:
            return
        last = reached


def _remove(engine: sa.Engine, table: sa.Table, patience: Patience) -> None:
    """Drop a table, if it is there.

    Most rows go first, in pieces and in random order: SQLite notes its free pages in the order in which
    they became free, and which pages had which keys tells something of when these came.
    """
    if not sa.inspect(engine).has_table(table.name):
        return
    key = next(iter(table.c))
    with open_session(engine, writes=False) as session:
        place = sa.func.row_number().over(order_by=key).label("place")
        numbered = sa.select(key.label("key"), place).subquery()
        firsts = sa.select(numbered.c.key).where(numbered.c.place % _RANGE == 1).order_by(numbered.c.key)
        starts = list(session.scalars(firsts))
    bounds: list[bytes | None] = [*starts, None]
    ranges = list(pairwise(bounds))
    secrets.SystemRandom().shuffle(ranges)
    while ranges:
        some, ranges = ranges[: PIECE // _RANGE], ranges[PIECE // _RANGE :]
        with turn(engine, patience) as connection:
            for low, high in some:
                end = key < high if high is not None else sa.true()
                connection.execute(sa.delete(table).where(key >= low, end))
    with turn(engine, patience) as connection:
        table.drop(connection)


@contextmanager
def turn(engine: sa.Engine, patience: Patience) -> Iterator[sa.Connection]:
    """A short transaction that writes; afterwards the write lock is left to others for as long as it was held.

    Whoever writes all the time leaves the lock for moments only, which SQLite's own waiting, up to a
    tenth of a second between two attempts, would seldom meet.
    """
    with engine.execution_options(moneda_writes=True).connect() as connection:
        raw = connection.connection.cursor()
        ((usual,),) = raw.execute("PRAGMA busy_timeout").fetchall()
        raw.execute("PRAGMA busy_timeout = 0")
        try:
            _begin(connection, patience)
            started = time.monotonic()
            yield connection
            connection.commit()
        finally:
            connection.rollback()
            raw.execute(f"PRAGMA busy_timeout = {usual}")
    time.sleep(max(time.monotonic() - started, 0.01))


def _begin(connection: sa.Connection, patience: Patience) -> None:
    until = time.monotonic() + LONG_PATIENCE
    while True:
        patience.go_on()
        try:
            connection.begin()
        except sa.exc.OperationalError as error:
            if error.orig.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:  # type: ignore[union-attr]
                raise
            time.sleep(0.001)
        else:
            return


def _rebuild(engine: sa.Engine, name: str, longest: float | None) -> bool:
    """Fill a small table anew, with everything that belongs to it."""
    with _raw(engine) as cursor:
        # Other tables' references to this one stay as they are, and its rows are not taken for deleted.
        cursor.execute("PRAGMA foreign_keys = OFF")
        cursor.execute("PRAGMA legacy_alter_table = ON")
        try:
            _meet(lambda: cursor.execute("BEGIN IMMEDIATE"))
            if longest is not None:
                until = time.monotonic() + longest
                cursor.connection.set_progress_handler(lambda: time.monotonic() > until, 1000)
            ((made,),) = cursor.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchall()
            belonging = cursor.execute(
                "SELECT sql FROM sqlite_master WHERE tbl_name = ? AND type <> 'table' AND sql IS NOT NULL",
                (name,),
            ).fetchall()
            table = Base.metadata.tables[name]
            order = ", ".join(column.name for column in table.primary_key)
            cursor.execute(re.sub(rf'^CREATE TABLE "?{name}"?', f"CREATE TABLE {name}{_NEW}", made, count=1))
            cursor.execute(f"INSERT INTO {name}{_NEW} SELECT * FROM {name} ORDER BY {order}")  # noqa: S608
            cursor.execute(f"DROP TABLE {name}")
            cursor.execute(f"ALTER TABLE {name}{_NEW} RENAME TO {name}")
            for (statement,) in belonging:
                cursor.execute(statement)
            cursor.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_INTERRUPT):
                raise
            return False
    return True


def _checkpoint(engine: sa.Engine) -> bool:
    with _raw(engine) as cursor:
        # Most of it without keeping anybody from writing.
        cursor.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        try:
            _meet(lambda: _cut(cursor))
        except UnfinishedError:
            return False
    return True


def _cut(cursor: sqlite3.Cursor) -> None:
    rows = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    # Without a row where somebody was in the way at the very beginning; else it begins with whether somebody was.
    if not rows or rows[0][0]:
        raise UnfinishedError(_BUSY)


def _meet(act: Callable[[], object]) -> None:
    """Do what needs the write lock at one of the moments at which nobody has it."""
    until = time.monotonic() + BRIEFLY
    while True:
        try:
            act()
        except (sqlite3.OperationalError, UnfinishedError) as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_BUSY)
            if code != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.001)
        else:
            return


@contextmanager
def _raw(engine: sa.Engine) -> Iterator[sqlite3.Cursor]:
    """A connection of one's own below SQLAlchemy, which hardly waits for others, and is closed afterwards."""
    pooled = engine.raw_connection()
    try:
        cursor = pooled.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {_MOMENT}")
        cursor.execute("PRAGMA query_only = OFF")
        yield cursor  # type: ignore[misc]
    finally:
        pooled.invalidate()
