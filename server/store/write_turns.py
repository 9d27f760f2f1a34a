"""Who writes next to an SQLite database, within one process: in the order of asking, one at a time.

SQLite lets whoever waits for its write lock look again and again, up to a tenth of a second apart. Where others of
the same process write without a pause, that can be in vain for as long as they do. Processes still wait for each
other in SQLite's way.
"""

import os
import sqlite3
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock, get_ident
from traceback import walk_stack
from typing import Any
from weakref import WeakValueDictionary

import sqlalchemy as sa

from server.store.failures import LockedWithinError, find_place

_OPTION = "moneda_write_turns"
_HELD = "moneda_write_turn"


class WriteTurns:
    """The queue of a database."""

    def __init__(self) -> None:
        self._changing = Lock()
        self._waiting: deque[Event] = deque()
        self._taken = False
        self._taken_by = 0

    def take(self, seconds: float) -> bool:
        """Whether it is one's turn, within so many seconds."""
        with self._changing:
            if not self._taken:
                self._taken = True
                self._taken_by = get_ident()
                return True
            turn = Event()
            self._waiting.append(turn)
        if not turn.wait(seconds):
            with self._changing:
                if not turn.is_set():  # unless at the last moment
                    self._waiting.remove(turn)
                    return False
        self._taken_by = get_ident()
        return True

    def find_holder(self) -> str:
        """Where the thread that took the turn last is now: a file and a line of ours, for the log."""
        frame = sys._current_frames().get(self._taken_by)
        return find_place(list(walk_stack(frame))[::-1]) if frame else "the end of its thread"

    def leave(self) -> None:
        """Let the next one have it."""
        with self._changing:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._taken = False


_known: WeakValueDictionary[str, WriteTurns] = WeakValueDictionary()
_finding = Lock()


def keep_turns(engine: sa.Engine) -> None:
    """Let transactions of an engine on SQLite that take its write lock wait for their turn, until they have ended."""
    path = os.path.realpath(str(engine.url.database))
    with _finding:
        turns = _known.setdefault(path, WriteTurns())
    engine.update_execution_options(**{_OPTION: turns})
    for name in ("checkin", "invalidate", "close"):
        sa.event.listen(engine, name, _give_back)


def take_turn_of(connection: sa.Connection, seconds: float) -> None:
    """Wait for the turn of a connection that is about to take the write lock; it ends when that is given back.

    Raises
    ------
    OperationalError
        As SQLite does of a lock, if others write for so many seconds.
    """
    turns: WriteTurns = connection.get_execution_options()[_OPTION]
    if not turns.take(seconds):
        raise sa.exc.OperationalError("BEGIN IMMEDIATE", None, _busy(turns))
    connection.info[_HELD] = turns


@contextmanager
def hold_turn(engine: sa.Engine, seconds: float) -> Iterator[None]:
    """The same for what is done below SQLAlchemy.

    Raises
    ------
    sqlite3.OperationalError
        If others write for so many seconds.
    """
    turns: WriteTurns = engine.get_execution_options()[_OPTION]
    if not turns.take(seconds):
        raise _busy(turns)
    try:
        yield
    finally:
        turns.leave()


def _busy(turns: WriteTurns) -> sqlite3.OperationalError:
    error = LockedWithinError("database is locked")
    error.holder = turns.find_holder()
    error.sqlite_errorcode = sqlite3.SQLITE_BUSY
    error.sqlite_errorname = "SQLITE_BUSY"
    return error


def _give_back(_connection: Any, record: Any, *_reason: Any) -> None:
    turns = record.info.pop(_HELD, None) if record is not None else None
    if turns is not None:
        turns.leave()
