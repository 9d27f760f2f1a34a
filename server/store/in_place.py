"""Whether SQLite's files are still those that were opened.

A process goes on writing into a file that was removed or replaced, and into a write-ahead log that was
removed, without any error; all of it is gone when the last of them closes it. Without the log's index, which other
processes make anew, each of them writes over what others wrote. Nor does it notice for a while that
a file was cut, as by whoever copies another one over it: pages that are gone are still in its memory, and to a log that
was cut it adds where the next reader does not look. So a change is only reported as made after a look at the path.
"""

import math
import os
from threading import Lock
from typing import Any, NamedTuple

import sqlalchemy as sa

from server.store.failures import MovedError

_OPTION = "moneda_files"
_LOG_HEADER, _FRAME_HEADER = 32, 24
"""Bytes with which a write-ahead log begins, and in it each page."""
_LOG_BEGINS = tuple(number.to_bytes(4, "big") for number in (0x377F0682, 0x377F0683))

_Identity = tuple[int, int]


def watch_files(engine: sa.Engine) -> None:
    """Remember which files the connections of an engine on SQLite open, and hand out none on any others."""
    files = _Files(str(engine.url.database))
    engine.update_execution_options(**{_OPTION: files})
    sa.event.listen(engine, "do_connect", files.before_opening)
    sa.event.listen(engine, "connect", files.after_opening)
    sa.event.listen(engine, "checkout", files.before_use)
    sa.event.listen(engine, "close", files.after_closing)
    sa.event.listen(engine, "close_detached", files.after_closing)


def check_in_place(engine: sa.Engine) -> None:
    """Look whether what was committed is where it will be found; call it before saying that it is.

    Raises
    ------
    MovedError
        If the database file at the path, its write-ahead log or the log's index is not the one
        that the engine's connections opened, or the file or the log was cut. On PostgreSQL never.
    """
    files: _Files | None = engine.get_execution_options().get(_OPTION)
    if files is not None:
        files.check()


class _Files:
    """The database file and what SQLite keeps beside it, as an engine's connections opened them."""

    def __init__(self, path: str) -> None:
        self._path = os.path.abspath(path)
        # SQLite keeps the log and its index beside the file that a symbolic link leads to.
        self._beside = [os.path.realpath(path) + ending for ending in ("-wal", "-shm")]
        self._log = _Log(self._beside[0])
        self._changing = Lock()
        self._connections = 0
        self._file: _Identity | None = None
        self._kept_beside: dict[str, _Identity] = {}
        self._length: float = 0

    def check(self) -> None:
        known = self._length  # read first: another thread may see the file grow meanwhile
        if self._file is not None:
            found = _stat(self._path)
            if found is None or _identify(found) != self._file:
                raise MovedError("the database file is no longer the one at its path")
            if found.st_size < known:
                # Nothing of ours makes it shorter. It is so for good: what is written back next makes it long again.
                self._length = math.inf
                raise MovedError("the database file was cut")
            if found.st_size > known:
                self._length = max(self._length, found.st_size)
        for path, known_beside in list(self._kept_beside.items()):
            if _identity(path) != known_beside:
                raise MovedError(
                    "the database's write-ahead log, or its index, is no longer the one at its path"
                )
        self._log.check()

    def before_opening(self, *_: Any) -> None:
        # Else SQLite would make a new, empty file, or read another log by this one's index.
        self.check()

    def after_opening(self, *_: Any) -> None:
        with self._changing:
            self._connections += 1
            self._file = self._file or _identity(self._path)
        self.before_use()

    def before_use(self, *_: Any) -> None:
        self.check()
        # SQLite makes them when it first needs them.
        for path in self._beside:
            if path not in self._kept_beside and (found := _identity(path)):
                self._kept_beside[path] = found

    def after_closing(self, *_: Any) -> None:
        with self._changing:
            self._connections -= 1
            if not self._connections:
                # Whoever closes a database last removes both.
                self._kept_beside = {}
                self._log.forget()


class _LogLook(NamedTuple):
    """How a log begins, and how long it is."""

    begins: bytes
    length: int


class _Log:
    """The write-ahead log, which only grows as long as its first bytes stay.

    Whenever SQLite begins at its start again, shortened or not, it writes other salts there first. Source:
    https://www.sqlite.org/fileformat2.html#the_write_ahead_log
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._looking = Lock()
        self._before: _LogLook | None = None
        self._is_cut = False

    def check(self) -> None:
        with self._looking:
            self._before = self._look()
        if self._is_cut:  # for good: nobody knows what is whole before the next start looks
            raise MovedError("the database's write-ahead log was cut")

    def forget(self) -> None:
        """It may be removed, and made anew."""
        with self._looking:
            self._before = None

    def _look(self) -> _LogLook | None:
        try:
            # On it SQLite has no lock, which closing would end.
            file = os.open(self._path, os.O_RDONLY)
        except OSError:
            return None
        try:
            while True:
                found = _LogLook(os.pread(file, _LOG_HEADER, 0), os.fstat(file).st_size)
                lost = self._before is not None and _is_cut(file, self._before, found)
                if os.pread(file, _LOG_HEADER, 0) == found.begins:  # all of this was one log
                    self._is_cut |= lost
                    return found
        finally:
            os.close(file)


def _is_cut(file: int, before: _LogLook, log: _LogLook) -> bool:
    is_whole = len(log.begins) == _LOG_HEADER and log.begins.startswith(_LOG_BEGINS)
    if log.begins != before.begins:
        # One that was cut to nothing has no beginning when more is added to it.
        return log.length > 0 and not is_whole
    if log.length < before.length:
        return True
    if not is_whole:  # as what a machine left that lost its power: SQLite reads nothing of it
        return False
    # Where it was cut and then added to, there is nothing in between: no page of a database has the number 0.
    frame = _FRAME_HEADER + int.from_bytes(before.begins[8:12], "big")
    frames = (before.length - _LOG_HEADER) // frame
    return frames > 0 and os.pread(file, 4, _LOG_HEADER + (frames - 1) * frame) == bytes(4)


def _identity(path: str) -> _Identity | None:
    found = _stat(path)
    return None if found is None else _identify(found)


def _identify(status: os.stat_result) -> _Identity:
    return status.st_dev, status.st_ino


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:  # the folder may be gone, or closed to us
        return None
