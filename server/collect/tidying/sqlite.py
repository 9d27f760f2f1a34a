"""Tidying on SQLite: pages that hold one survey's rows and nothing else, in the order of their keys."""

import fcntl
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from server.collect.tidying.due_marks import CHANGED, Due, is_unchanged
from server.collect.tidying.pieces import REKEYED, fill, remove_all, take_turn
from server.collect.tidying.waiting import (
    BRIEFLY,
    HELD_UP,
    OvertakenError,
    Patience,
    UnfinishedError,
    leave_turn,
)
from server.store import own_tables
from server.store.models import Base
from server.store.write_turns import hold_turn

_NEW, _OLD = "_tidied", "_untidied"
_MOMENT = 0.02
"""Seconds to wait for readers while the write lock is held, at first."""
_BUSY = "somebody kept reading or writing"
READING = "somebody kept reading; only the log is left to do"


@contextmanager
def tidy_alone(engine: sa.Engine, patience: Patience) -> Iterator[None]:
    """While no other process tidies."""
    path = Path(f"{engine.url.database}-tidying")
    with path.open("wb") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                patience.pause("another process is tidying", OvertakenError)
            else:
                break
        yield


def rewrite(engine: sa.Engine, work: Due, patience: Patience) -> None:
    """Have new tables take the place of a closed survey's."""
    assert work.survey_id is not None
    for suffix in (REKEYED, _NEW, _OLD):  # of an attempt that was not finished
        remove_all(engine, work.survey_id, suffix, patience)
    for kind in own_tables.KINDS:
        fill(engine, kind, work.survey_id, _NEW, patience)
    remove_all(engine, work.survey_id, REKEYED, patience)
    with take_turn(engine, patience) as connection:
        if not is_unchanged(connection, work):
            raise OvertakenError(CHANGED)
        for kind in own_tables.KINDS:
            old, new = (own_tables.table(kind, work.survey_id, suffix).name for suffix in ("", _NEW))
            own_tables.take_guards_off(connection, kind, work.survey_id)
            connection.exec_driver_sql(f"ALTER TABLE {old} RENAME TO {old}{_OLD}")
            connection.exec_driver_sql(f"ALTER TABLE {new} RENAME TO {old}")
        for kind in own_tables.KINDS:
            own_tables.guard_tables(connection, kind, work.survey_id)
    remove_all(engine, work.survey_id, _OLD, patience)


def remove(engine: sa.Engine, work: Due, patience: Patience) -> None:
    """Drop the tables of a survey that is gone."""
    if work.survey_id is not None:
        for suffix in ("", REKEYED, _NEW, _OLD):
            remove_all(engine, work.survey_id, suffix, patience)


def rewrite_shared(engine: sa.Engine, patience: Patience, names: Iterable[str]) -> None:
    """Write tables that all surveys share anew, one by one: a page may hold copies of rows that were moved off it."""
    for name in names:
        while not _rebuild(engine, name, patience.longest):
            patience.pause(f"{_BUSY}, or {name} takes too long to write anew")


def forget_statistics(engine: sa.Engine, patience: Patience) -> None:
    """Nothing: none are kept."""


def forget_log(engine: sa.Engine, patience: Patience) -> None:
    """Write the log back, and cut it to nothing.

    Whoever reads has begun with some state of it, and no other state can be written back before they end. So
    while it is cut nobody writes, for a moment that is longer each time.
    """
    moment = _MOMENT
    while not _checkpoint(engine, moment):
        patience.pause(READING)
        moment = min(2 * moment, HELD_UP)


def _rebuild(engine: sa.Engine, name: str, longest: float | None) -> bool:
    """Fill a small table anew, with everything that belongs to it."""
    with leave_turn(), _raw(engine, _MOMENT) as cursor:
        # Other tables' references to this one stay as they are, and its rows are not taken for deleted.
        cursor.execute("PRAGMA foreign_keys = OFF")
        cursor.execute("PRAGMA legacy_alter_table = ON")
        try:
            with hold_turn(engine, BRIEFLY):
                _meet(lambda: cursor.execute("BEGIN IMMEDIATE"))
                if longest is not None:
                    until = time.monotonic() + longest
                    cursor.connection.set_progress_handler(lambda: time.monotonic() > until, 1000)
                ((made,),) = cursor.execute(
                    "SELECT sql FROM sqlite_master WHERE name = ?", (name,)
                ).fetchall()
                belonging = cursor.execute(
                    "SELECT sql FROM sqlite_master WHERE tbl_name = ? AND type <> 'table' AND sql IS NOT NULL",
                    (name,),
                ).fetchall()
                table = Base.metadata.tables[name]
                order = ", ".join(column.name for column in table.primary_key)
                cursor.execute(
                    re.sub(rf'^CREATE TABLE "?{name}"?', f"CREATE TABLE {name}{_NEW}", made, count=1)
                )
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


def _checkpoint(engine: sa.Engine, moment: float) -> bool:
    with _raw(engine, moment) as cursor:
        # Most of it without keeping anybody from writing.
        cursor.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        try:
            with leave_turn(), hold_turn(engine, BRIEFLY):
                _meet(lambda: _cut(cursor))
        except UnfinishedError:
            return False
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
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
def _raw(engine: sa.Engine, moment: float) -> Iterator[sqlite3.Cursor]:
    """A connection of one's own below SQLAlchemy, which waits so many seconds for others, and is closed afterwards."""
    pooled = engine.raw_connection()
    try:
        cursor = pooled.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {round(1000 * moment)}")
        cursor.execute("PRAGMA query_only = OFF")
        yield cursor  # type: ignore[misc]
    finally:
        pooled.invalidate()
