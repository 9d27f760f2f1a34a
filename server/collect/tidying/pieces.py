"""Pieces that SQLite writes and removes one by one: between two of them others have their turn."""

import re
import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import pairwise
from typing import Any

import sqlalchemy as sa

from server.collect import batches
from server.collect.tidying.waiting import LONG_PATIENCE, PAUSE, Patience, leave_turn
from server.store import own_table_making, own_tables
from server.store.engines import open_session, snapshot

PIECE = 2000
"""Most rows that are written or removed in one transaction."""
FIRST = PIECE // 4
"""Those of the first one, before anybody knows how long they take."""
FEWEST = 100
"""As many are, however long that takes."""
HELD = 0.05
"""Seconds that others should wait for a piece; on a busy machine the next one may take some times as long."""
SMALL = 1 << 20
"""Bytes of what is counted that are, unless a single row has more: up to 4 MB."""
LOG_LEFT = 2000
"""Pages of SQLite's log, eight megabytes, that somebody may have to write back while others wait."""
REKEYED = "_rekeyed"
"""Ends the name of a table that is there while ids are drawn."""
_RANGE = 100
"""Rows that lie together and are removed one after the other."""


class PieceSize:
    """How many rows the next piece has, by how long the last one took.

    Rows under random keys are each in a page of their own once a table is large: how many a disk writes in a
    moment nobody knows before.
    """

    def __init__(self) -> None:
        self.rows = FIRST

    def learn(self, seconds: float) -> None:
        """Of the last piece: others waited so long for it."""
        self.rows = min(max(int(self.rows * HELD / max(seconds, HELD / 2)), FEWEST), PIECE)


def fill(
    engine: sa.Engine, kind: own_tables.TableKind, survey_id: int, suffix: str, patience: Patience
) -> None:
    """A new table in the order of keys, each row after the last: its pages depend on the rows alone.

    What it refers to is what the old one refers to.
    """
    old = own_tables.table(kind, survey_id)
    new = own_tables.table(kind, survey_id, suffix)
    with take_turn(engine, patience) as connection:
        cursor = connection.connection.cursor()
        cursor.execute(write_definition(cursor, old.name, new.name))  # type: ignore[arg-type]
        cursor.close()
    if kind.new_keys:
        old = _draw_new_ids(engine, kind, survey_id, patience)
    if kind is own_tables.BATCHES:
        _fill_batches(engine, new, survey_id, patience)
        return
    key = next(iter(old.c))
    last: object = None
    highest = sa.select(sa.func.max(next(iter(new.c))))
    size = PieceSize()
    while True:
        with take_turn(engine, patience, size) as connection:
            some = sa.select(*old.c).order_by(key).limit(size.rows)
            if last is not None:
                some = some.where(key > last)
            connection.execute(sa.insert(new).from_select(old.c.keys(), some))
            reached = connection.scalar(highest)
        if reached is None or reached == last:
            return
        last = reached


def _draw_new_ids(
    engine: sa.Engine, kind: own_tables.TableKind, survey_id: int, patience: Patience
) -> sa.Table:
    """A copy of a table under new random ids, which are in no order that the old ones had."""
    old = own_tables.table(kind, survey_id)
    with take_turn(engine, patience) as connection:
        new = own_table_making.create_table(connection, kind, survey_id, REKEYED)
    others = [column for column in old.c if column is not old.c.id]
    low = b""
    size = PieceSize()
    while True:
        here = sa.select(old.c.id).where(old.c.id > low).order_by(old.c.id)
        with take_turn(engine, patience, size) as connection:
            end = connection.scalar(here.offset(size.rows - 1).limit(1))
            upto = old.c.id <= end if end is not None else sa.true()
            some = sa.select(sa.func.randomblob(16), *others).where(old.c.id > low, upto)
            connection.execute(
                sa.insert(new).from_select([old.c.id.key, *(each.key for each in others)], some)
            )
        if end is None:
            return new
        low = end


def _fill_batches(engine: sa.Engine, new: sa.Table, survey_id: int, patience: Patience) -> None:
    """The same of what is counted, in one order; a transaction writes one large row, or several small ones."""

    def write() -> None:
        if rows:
            # What is read meanwhile keeps the log from being written back: it would be waited for in vain.
            with take_turn(engine, patience, waits=False) as connection:
                connection.execute(sa.insert(new), rows)

    rows: list[dict[str, Any]] = []
    size = 0
    with snapshot(engine) as reading:
        for row in batches.order_batches(reading.connection(), survey_id):
            if size + len(row["content"]) > SMALL or len(rows) == _RANGE:
                write()
                rows, size = [], 0
            rows.append(row)
            size += len(row["content"])
        write()


def write_definition(cursor: sqlite3.Cursor, name: str, new_name: str) -> str:
    """What makes an empty table as another one is, to the letter: rows between them are copied as they are."""
    ((made,),) = cursor.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchall()
    return re.sub(rf'^CREATE TABLE "?{name}"?', f"CREATE TABLE {new_name}", made, count=1)


def remove_all(engine: sa.Engine, survey_id: int, suffixes: Sequence[str], patience: Patience) -> None:
    """Drop a survey's tables of these suffixes, as far as they are there: emptied first, then all in one turn.

    Every connection reads the whole schema anew after a turn that has changed it.
    """
    own = {
        table.name: (kind, table)
        for suffix in suffixes
        for kind in reversed(own_tables.KINDS)  # what refers to others first
        for table in (own_tables.table(kind, survey_id, suffix),)
    }
    with open_session(engine, writes=False) as session:
        names = sa.select(sa.column("name", sa.Text)).select_from(sa.table("sqlite_master"))
        there = set(session.scalars(names.where(sa.column("name").in_(own))))
    found = [pair for name, pair in own.items() if name in there]
    for kind, table in found:
        _empty(engine, kind, table, patience)
    if found:
        with take_turn(engine, patience) as connection:
            for _kind, table in found:
                table.drop(connection)


def _empty(engine: sa.Engine, kind: own_tables.TableKind, table: sa.Table, patience: Patience) -> None:
    """Remove all rows of a table that is dropped next, in pieces and in random order.

    SQLite notes its free pages in the order in which they became free, and which pages had which keys tells something
    of when these came.
    """
    ranges = _ranges(engine, table, kind.large)
    secrets.SystemRandom().shuffle(ranges)
    key = next(iter(table.c))
    rows = PieceSize()
    while ranges:
        with take_turn(engine, patience, rows) as connection:
            left = SMALL
            for _ in range(min(rows.rows // _RANGE, len(ranges))):
                low, high, size = ranges[-1]
                if size > left and left < SMALL:
                    break
                ranges.pop()
                left -= size
                end = key < high if high is not None else sa.true()
                connection.execute(sa.delete(table).where(key >= low, end))


def _ranges(engine: sa.Engine, table: sa.Table, large: str) -> list[tuple[Any, Any, int]]:
    """Rows that are removed one after the other: the first key, that of the next range, and how many bytes."""
    key = next(iter(table.c))
    size = sa.func.length(table.c[large]) if large else sa.literal(0)
    numbered = sa.select(
        key.label("key"), size.label("size"), sa.func.row_number().over(order_by=key).label("place")
    ).subquery()
    firsts = sa.select(numbered.c.key, numbered.c.size).order_by(numbered.c.key)
    if not large:
        firsts = firsts.where(numbered.c.place % _RANGE == 1)
    with open_session(engine, writes=False) as session:
        found = session.execute(firsts).all()
    bounds = [*(first.key for first in found), None]
    return [(low, high, first.size) for first, (low, high) in zip(found, pairwise(bounds), strict=True)]


@contextmanager
def take_turn(
    engine: sa.Engine, patience: Patience, size: PieceSize | None = None, *, waits: bool = True
) -> Iterator[sa.Connection]:
    """A short transaction that writes; afterwards others have their turn, and `size` knows how long this one was.

    Where the log has become long, it `waits` for those who read a state from before.
    """
    patience.go_on()
    with leave_turn():
        with engine.execution_options(moneda_writes=True).connect() as connection:
            with connection.begin():
                begun = time.monotonic()
                yield connection
            # Else whoever commits next would do it: a respondent might wait for what was written here.
            left = write_log_back(connection.connection.cursor())  # type: ignore[arg-type]
        if size is not None:
            size.learn(time.monotonic() - begun)
    if waits and left > LOG_LEFT:
        _let_readers_end(engine, patience)


def write_log_back(cursor: sqlite3.Cursor) -> int:
    """Write back what of the log nobody reads without; how many pages are left, -1 where somebody else is at it."""
    ((busy, pages, written),) = cursor.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
    return -1 if busy else pages - written


def _let_readers_end(engine: sa.Engine, patience: Patience) -> None:
    """Write nothing while they see a state from before: all that comes later stays in the log until they end.

    Who reads for longer than that, such as a backup, has the log grow by a piece each time.
    """
    until = time.monotonic() + LONG_PATIENCE
    while time.monotonic() < until:
        patience.go_on()
        time.sleep(PAUSE)
        with closing(engine.raw_connection()) as connection:
            if write_log_back(connection.cursor()) <= LOG_LEFT:  # type: ignore[arg-type]
                return
