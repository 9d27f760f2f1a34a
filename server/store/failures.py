"""What failed below a request: the disk, a lock, the connection. The log names it without a word of the request."""

import errno
import sqlite3
from collections.abc import Iterable
from enum import Enum
from traceback import walk_tb
from types import FrameType
from typing import Any, Final

from sqlalchemy import exc

from server.config import ROOT

RETRY_AFTER: Final = 5
"""Seconds after which whoever was sent away (503) may ask again."""

_OURS: Final = str(ROOT / "server")


class MovedError(OSError):
    """The database's files are no longer those at their path, or were cut: what is written to them is lost."""


class OutdatedError(Exception):
    """The schema is no longer the one that this process was written for: another version upgraded it."""


class LockedWithinError(sqlite3.OperationalError):
    """The write lock is held by this process itself; `holder` is where, as `find_place` says."""

    holder: str


class Failure(Enum):
    """What made a database unusable; the value is what the log says."""

    FULL = "the disk is full"
    DISK = "the disk failed"
    LOCKED = "the database was locked for too long"
    READ_ONLY = "the database may not be written to"
    MOVED = "the database's files are no longer those at their path, or were cut; start the server again"
    OUTDATED = (
        "another version of Moneda has upgraded the database; this one must be ended, and that one started"
    )
    UNREACHABLE = "the database could not be reached, or its connection broke"
    CROWDED = "the database has no connection left"
    CONFLICT = "two changes stood in each other's way, and the database refused one"
    DAMAGED = "the database is damaged"
    MEMORY = "the database has no memory left"

    @property
    def undone(self) -> bool:
        """Whether it is certain that nothing of the transaction was kept.

        A connection or a disk may also fail after the commit, before it is confirmed.
        """
        return self in _UNDONE


_UNDONE: Final = {
    Failure.FULL,
    Failure.LOCKED,
    Failure.READ_ONLY,
    Failure.CROWDED,
    Failure.CONFLICT,
    Failure.OUTDATED,
}

_SQLITE: Final = {
    "SQLITE_FULL": Failure.FULL,
    "SQLITE_IOERR": Failure.DISK,
    "SQLITE_BUSY": Failure.LOCKED,
    "SQLITE_LOCKED": Failure.LOCKED,
    "SQLITE_PROTOCOL": Failure.LOCKED,
    "SQLITE_READONLY": Failure.READ_ONLY,
    "SQLITE_PERM": Failure.READ_ONLY,
    "SQLITE_READONLY_DBMOVED": Failure.MOVED,
    "SQLITE_CANTOPEN": Failure.UNREACHABLE,
    "SQLITE_CORRUPT": Failure.DAMAGED,
    "SQLITE_NOTADB": Failure.DAMAGED,
    "SQLITE_NOMEM": Failure.MEMORY,
}
"""By SQLite's names of errors; one that is not here is known by the first two words of its name."""

_POSTGRESQL: Final = {
    "53100": Failure.FULL,
    "58": Failure.DISK,
    "55P03": Failure.LOCKED,
    "57014": Failure.LOCKED,  # a statement took longer than it may
    "25006": Failure.READ_ONLY,
    "42501": Failure.READ_ONLY,  # a role without the right
    "08": Failure.UNREACHABLE,
    "28": Failure.UNREACHABLE,
    "3D000": Failure.UNREACHABLE,
    "57P": Failure.UNREACHABLE,
    "53300": Failure.CROWDED,
    "40": Failure.CONFLICT,
    "XX001": Failure.DAMAGED,
    "XX002": Failure.DAMAGED,
    "53200": Failure.MEMORY,
}
"""By the beginning of a SQLSTATE (PostgreSQL's manual, appendix A)."""

_SYSTEM: Final = {
    errno.ENOSPC: Failure.FULL,
    errno.EDQUOT: Failure.FULL,
    errno.EFBIG: Failure.DISK,  # a file longer than it may be; SQLite calls it so, too
    errno.EIO: Failure.DISK,
    errno.EROFS: Failure.READ_ONLY,
}
"""By the operating system's numbers: of files beside the database, such as an export's."""

_LOST: Final = "8s2b"
"""SQLAlchemy's name for a transaction whose connection was lost (its manual, error messages)."""
_CUT_AGAIN: Final = "This connection is closed"
"""What it says of a connection that could not be taken from the pool several times in a row."""


def find_failure(error: BaseException) -> Failure | None:
    """What made the database or the disk unusable; None where the error is another mistake."""
    if isinstance(error, exc.TimeoutError):  # of the pool of connections
        return Failure.CROWDED
    if isinstance(error, exc.InvalidRequestError):
        return _find_earlier(error)
    raised = _of_driver(error)
    if isinstance(raised, MovedError):
        return Failure.MOVED
    if isinstance(raised, OutdatedError):
        return Failure.OUTDATED
    if isinstance(raised, sqlite3.Error):
        name = getattr(raised, "sqlite_errorname", "")
        return _SQLITE.get(name) or _SQLITE.get("_".join(name.split("_")[:2]))
    if isinstance(raised, OSError):
        return _SYSTEM.get(raised.errno or 0)
    state = _sqlstate(raised)
    if state is not None:
        return next((_POSTGRESQL[state[:n]] for n in (5, 3, 2) if state[:n] in _POSTGRESQL), None)
    if not isinstance(error, exc.OperationalError) and not getattr(error, "connection_invalidated", False):
        return None
    # Not a state, but a sentence: so PostgreSQL answers where it takes no connection.
    crowded = any(words in str(raised) for words in ("too many clients", "connection slots"))
    return Failure.CROWDED if crowded else Failure.UNREACHABLE


def _find_earlier(error: exc.InvalidRequestError) -> Failure | None:
    """What failed before something was asked that SQLAlchemy refuses since: it tells of that, and not of the first.

    A connection that was cut, and is used before it was given back; or new ones, each cut before it was used.
    """
    if error.code == _LOST or error.args[:1] == (_CUT_AGAIN,):
        return Failure.UNREACHABLE
    earlier = (error.__cause__ or error.__context__) if isinstance(error, exc.PendingRollbackError) else None
    return None if earlier is None else find_failure(earlier)


def describe_failure(error: BaseException) -> str:
    """What the log says of an error: its kind, the database's own name for it, its type and its place.

    Enough to mend it, and nothing of the request: no text of the error, no statement, no value.
    """
    said = f"{type(error).__name__} at {_place(error)}"
    failure = find_failure(error)
    if failure is None:
        return said
    raised = _of_driver(error)
    name = getattr(raised, "sqlite_errorname", None) or _sqlstate(raised) or type(raised).__name__
    held = f"; held at {raised.holder}" if isinstance(raised, LockedWithinError) else ""
    return f"{failure.value} ({name}{held}): {said}"


def _place(error: BaseException) -> str:
    """File and line: the innermost of our own, for a driver's mistakes are made by who calls it."""
    return find_place(walk_tb(error.__traceback__))


def find_place(stack: Iterable[tuple[FrameType, int]]) -> str:
    """File and line of the innermost frame of our own; of the innermost of all where none is."""
    frames = [(frame.f_code.co_filename, line) for frame, line in stack]
    own = [frame for frame in frames if frame[0].startswith(_OURS)]
    return ":".join(map(str, (own or frames or [("?", 0)])[-1]))


def _of_driver(error: BaseException) -> BaseException:
    return getattr(error, "orig", None) or error


def _sqlstate(raised: Any) -> str | None:
    state = getattr(raised, "sqlstate", None)
    return state if isinstance(state, str) else None
