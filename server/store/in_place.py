"""Whether SQLite's files are still those that were opened.

A process goes on writing into a file that was removed or replaced, and into a write-ahead log that was
removed, without any error; all of it is gone when the last of them closes it. Without the log's index, which other
processes make anew, each of them writes over what others wrote. Nor does it notice for a while that
a file was cut, as by whoever copies another one over it: pages that are gone are still in its memory. What it adds
to a log that was cut comes after what is gone, and so nobody finds it. So a change is only reported as made after a
look at the path, and none is begun without one.
"""

import math
import os
from pathlib import Path
from threading import Lock
from typing import Any

import sqlalchemy as sa

from server.store.failures import MovedError

_OPTION = "moneda_files"
_LOG, _INDEX, _TIDYING = "-wal", "-shm", "-tidying"

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
        that the engine's connections opened, or the file was cut. On PostgreSQL never.
    """
    files: _Files | None = engine.get_execution_options().get(_OPTION)
    if files is not None:
        files.check()


def find_tidying_file(engine: sa.Engine) -> Path:
    """The file beside SQLite's that whoever tidies keeps locked; its time is when the log was last cut on purpose."""
    return Path(f"{engine.url.database}{_TIDYING}")


def announce_cut(engine: sa.Engine) -> None:
    """Let nobody who finds the write-ahead log shorter than before, in whatever process, take that for damage."""
    os.utime(find_tidying_file(engine))


class _Files:
    """The database file and what SQLite keeps beside it, as an engine's connections opened them."""

    def __init__(self, path: str) -> None:
        self._path = os.path.abspath(path)
        # SQLite keeps the log and its index beside the file that a symbolic link leads to.
        self._beside = [os.path.realpath(path) + ending for ending in (_LOG, _INDEX)]
        self._log = _Log(self._beside[0], self._path + _TIDYING)
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
                self._log.watch()

    def after_closing(self, *_: Any) -> None:
        with self._changing:
            self._connections -= 1
            if not self._connections:
                # Whoever closes a database last removes both.
                self._kept_beside = {}
                self._log.forget()


class _Log:
    """How long the write-ahead log was: nothing makes it shorter but tidying, which says so before."""

    def __init__(self, path: str, tidying: str) -> None:
        self._path = path
        self._tidying = tidying
        self._looking = Lock()
        self._length = 0
        self._cut_at = self._find_cut()
        self._is_watched = False
        self._is_cut = False

    def check(self) -> None:
        with self._looking:  # else one who looked before it was cut would write down a length of then
            if self._is_watched:
                found = _stat(self._path)
                length = found.st_size if found else 0
                if length < self._length:
                    cut_at = self._find_cut()
                    self._is_cut |= cut_at == self._cut_at
                    self._cut_at = cut_at
                self._length = length
            if self._is_cut:  # for good: nobody knows what is whole, before the next start looks
                raise MovedError("the database's write-ahead log was cut")

    def watch(self) -> None:
        """Somebody has the database open."""
        with self._looking:
            self._is_watched = True

    def forget(self) -> None:
        """Whoever closes the database last is about to remove it."""
        with self._looking:
            self._is_watched = False
            self._length = 0

    def _find_cut(self) -> int:
        found = _stat(self._tidying)
        return found.st_mtime_ns if found else 0


def _identity(path: str) -> _Identity | None:
    found = _stat(path)
    return None if found is None else _identify(found)


def _identify(found: os.stat_result) -> _Identity:
    return found.st_dev, found.st_ino


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:  # the folder may be gone, or closed to us
        return None
