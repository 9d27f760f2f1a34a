"""Tidying on SQLite: pages that hold one survey's rows and nothing else, in the order of their keys."""

import fcntl
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from server.collect.tidying import few_rows
from server.collect.tidying.due_marks import CHANGED, Due, is_unchanged
from server.collect.tidying.few_rows import fill_in_place, has_at_most
from server.collect.tidying.pieces import (
    LOG_LEFT,
    REKEYED,
    fill,
    remove_all,
    write_definition,
    write_log_back,
)
from server.collect.tidying.waiting import (
    BRIEFLY,
    HELD_UP,
    OvertakenError,
    Patience,
    UnfinishedError,
    leave_turn,
)
from server.store import own_table_making, own_tables
from server.store.models import Base
from server.store.private_files import keep_private
from server.store.write_turns import hold_turn

_NEW, _OLD = "_tidied", "_untidied"
_MOMENT = 0.02
"""Seconds to wait for readers while the write lock is held, at first."""
COPIED = 50_000
"""Rows up to which a table is copied while others wait: about 0.1 seconds."""
COPIED_BYTES = 1 << 23
"""The same of what is counted."""
_BUSY = "somebody kept reading or writing"
READING = "somebody kept reading; only the log is left to do"


@contextmanager
def tidy_alone(engine: sa.Engine, patience: Patience) -> Iterator[None]:
    """While no other process tidies."""
    path = Path(f"{engine.url.database}-tidying")
    keep_private(path, make=True)  # whoever can open it can keep it locked
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
    """Write a closed survey's tables anew: those of few rows at once where they are, in one turn for all of them.

    What was filled anew takes the place of each other one, one by one. Every table always holds the same.
    """
    assert work.survey_id is not None
    remove_all(engine, work.survey_id, (REKEYED, _NEW, _OLD), patience)  # of an attempt that was not finished
    with _take_turn_without_references(engine, patience) as connection:
        if not is_unchanged(connection, work):
            raise OvertakenError(CHANGED)
        larger = [kind for kind in own_tables.KINDS if not fill_in_place(connection, kind, work.survey_id)]
    if not larger:
        return
    for kind in larger:
        fill(engine, kind, work.survey_id, _NEW, patience)
    remove_all(engine, work.survey_id, (REKEYED,), patience)
    for kind in larger:
        with _take_turn_without_references(engine, patience) as connection:
            if not is_unchanged(connection, work):
                raise OvertakenError(CHANGED)
            _replace(connection, kind, work.survey_id)
    remove_all(engine, work.survey_id, (_NEW, _OLD), patience)


def _replace(connection: sa.Connection, kind: own_tables.TableKind, survey_id: int) -> None:
    """Let what was filled anew stand in a table's place.

    To rename a table SQLite reads whatever the schema has: with hundreds of surveys that takes longer than to copy
    what most of them hold. Copied as it is, it lies in the old one, which was emptied, as it lay in the new.
    """
    table, new = own_tables.table(kind, survey_id), own_tables.table(kind, survey_id, _NEW)
    own_table_making.take_guards_off(connection, kind, survey_id)
    if has_at_most(connection, new, kind.large, COPIED, COPIED_BYTES):
        connection.exec_driver_sql(f"DELETE FROM {table.name}")  # noqa: S608
        connection.exec_driver_sql(f"INSERT INTO {table.name} SELECT * FROM {new.name}")  # noqa: S608
    else:
        connection.exec_driver_sql(f"ALTER TABLE {table.name} RENAME TO {table.name}{_OLD}")
        connection.exec_driver_sql(f"ALTER TABLE {new.name} RENAME TO {table.name}")
    own_table_making.guard_tables(connection, kind, survey_id)


@contextmanager
def _take_turn_without_references(engine: sa.Engine, patience: Patience) -> Iterator[sa.Connection]:
    """A turn in which what refers to a table goes on referring to its name, and loses nothing with its rows.

    The connection is used on: a new one reads whatever the schema has, and beside many surveys that is much.
    """
    patience.go_on()
    with leave_turn(), engine.execution_options(moneda_writes=True).connect() as connection:
        refers = False
        try:
            _set_references(connection, "OFF")
            with connection.begin():
                yield connection
            refers = _set_references(connection, "ON")
        finally:
            if not refers:
                connection.invalidate()  # whoever had it next would write without references


def _set_references(connection: sa.Connection, setting: str) -> bool:
    """Whether references are kept from now on; SQLite takes this between two transactions only, and never complains."""
    cursor = connection.connection.cursor()
    cursor.execute(f"PRAGMA legacy_alter_table = {'OFF' if setting == 'ON' else 'ON'}")
    cursor.execute(f"PRAGMA foreign_keys = {setting}")
    cursor.execute("PRAGMA foreign_keys")
    ((kept,),) = cursor.fetchall()
    cursor.close()
    return bool(kept)


def remove(engine: sa.Engine, work: Due, patience: Patience) -> None:
    """Drop the tables of a survey that is gone."""
    if work.survey_id is not None:
        remove_all(engine, work.survey_id, ("", REKEYED, _NEW, _OLD), patience)


def rewrite_shared(engine: sa.Engine, patience: Patience, names: Iterable[str]) -> None:
    """Write tables that all surveys share anew, one by one: a page may hold copies of rows that were moved off it."""
    with _raw(engine, _MOMENT) as cursor:
        # Other tables' references to one stay as they are, and its rows are not taken for deleted.
        cursor.execute("PRAGMA foreign_keys = OFF")
        cursor.execute("PRAGMA legacy_alter_table = ON")
        cursor.execute("PRAGMA temp_store = MEMORY")
        for name in names:
            while not _rebuild(engine, cursor, name, patience.longest):
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


def _rebuild(engine: sa.Engine, cursor: sqlite3.Cursor, name: str, longest: float | None) -> bool:
    """Fill a small table anew, with everything that belongs to it; False where somebody was in the way."""
    with leave_turn():
        try:
            with hold_turn(engine, BRIEFLY):
                _meet(lambda: cursor.execute("BEGIN IMMEDIATE"))
                try:
                    if longest is not None:
                        until = time.monotonic() + longest
                        cursor.connection.set_progress_handler(lambda: time.monotonic() > until, 1000)
                    _write_anew(cursor, name)
                    cursor.execute("COMMIT")
                finally:
                    cursor.connection.set_progress_handler(None, 0)
                    if cursor.connection.in_transaction:
                        cursor.execute("ROLLBACK")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_INTERRUPT):
                raise
            return False
    return True


def _write_anew(cursor: sqlite3.Cursor, name: str) -> None:
    belonging = cursor.execute(
        "SELECT type, sql FROM sqlite_master WHERE tbl_name = ? AND type <> 'table' AND sql IS NOT NULL",
        (name,),
    ).fetchall()
    order = ", ".join(column.name for column in Base.metadata.tables[name].primary_key)
    new = f"{name}{_NEW}"
    ((rows,),) = cursor.execute(f"SELECT count(*) FROM (SELECT 1 FROM {name} LIMIT {COPIED + 1})").fetchall()  # noqa: S608
    if rows <= few_rows.IN_PLACE and all(kind == "index" for kind, _ in belonging):  # see few_rows
        cursor.execute(f"CREATE TEMP TABLE {new} AS SELECT * FROM {name} ORDER BY {order}")  # noqa: S608
        cursor.execute(f"DELETE FROM {name}")  # noqa: S608
        cursor.execute(f"INSERT INTO {name} SELECT * FROM temp.{new}")  # noqa: S608
        cursor.execute(f"DROP TABLE temp.{new}")
        return
    cursor.execute(write_definition(cursor, name, new))
    cursor.execute(f"INSERT INTO {new} SELECT * FROM {name} ORDER BY {order}")  # noqa: S608
    again = write_definition(cursor, name, name)
    cursor.execute(f"DROP TABLE {name}")
    if rows <= COPIED:  # see _replace
        cursor.execute(again)
        cursor.execute(f"INSERT INTO {name} SELECT * FROM {new}")  # noqa: S608
        cursor.execute(f"DROP TABLE {new}")
    else:
        cursor.execute(f"ALTER TABLE {new} RENAME TO {name}")
    for _kind, statement in belonging:
        cursor.execute(statement)


def _checkpoint(engine: sa.Engine, moment: float) -> bool:
    with _raw(engine, moment) as cursor:
        # Most of it without keeping anybody from writing. Where that could not be, it is too much for a moment.
        if not 0 <= write_log_back(cursor) <= LOG_LEFT:
            return False
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
