"""Whether the site can do its work: the database answers, its schema fits, its disk has room.

Anybody may ask, as often as they like: one look serves all who ask within a second, and one that takes too
long is waited for by nobody. What is answered does not depend on any one respondent. It would if a look
asked whether responses wait to be stored: then a stranger could tell, beside a database that is stuck, when
somebody sent one.
"""

import asyncio
import os
import tempfile
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from enum import StrEnum
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Final

import sqlalchemy as sa

from server.config import marks_folder
from server.store.failures import OutdatedError
from server.store.in_place import check_in_place

KEPT: Final = 1.0
"""Seconds for which what a look found is given to all who ask."""
LONGEST: Final = 2.0
"""Seconds after which a database that has not answered counts as one that does not."""
ROOM: Final = 256 * 1024 * 1024
"""Bytes that each disk must have free: a few uploads, and what SQLite's log may grow to."""


class SitePart(StrEnum):
    """What must be ready; the value is the word that strangers are told."""

    DATABASE = "database"
    SCHEMA = "schema"
    DISK = "disk"


class Readiness:
    """Looks, once for all who ask at about the same time.

    Parameters
    ----------
    engine : sqlalchemy.Engine
        On the database; one that watches its schema (`schema_fit.watch_revision`).
    room : int
        Bytes that each disk must have free.
    """

    def __init__(self, engine: sa.Engine, room: int = ROOM) -> None:
        self._engine = engine.execution_options(moneda_writes=False)
        self._room = room
        self._folders = list_folders(engine)
        self._thread = ThreadPoolExecutor(1)
        self._lock = Lock()
        self._look: Future[tuple[SitePart, ...]] | None = None
        self._begun = self._ended = 0.0

    async def find_unready(self) -> Sequence[SitePart]:
        """What is not ready, for a task of an event loop; nothing, if all is."""
        look, rest = self._find_look(), self._rest()
        # What is done is told, however long it took. What is late is not even waited for: while a database is
        # stuck, who asks again and again would leave something behind each time.
        if look.done():
            return look.result()
        if rest <= 0:
            return [SitePart.DATABASE]
        try:
            async with asyncio.timeout(rest):
                return await asyncio.shield(asyncio.wrap_future(look))
        except TimeoutError:
            return [SitePart.DATABASE]

    def wait_for_unready(self) -> Sequence[SitePart]:
        """The same, for a thread."""
        look = self._find_look()
        try:
            return look.result(self._rest())
        except TimeoutError:
            return [SitePart.DATABASE]

    def close(self) -> None:
        """Begin nothing more, and wait for nothing."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _find_look(self) -> Future[tuple[SitePart, ...]]:
        """The look under way, or the last one if it is still fresh, or a new one."""
        with self._lock:
            now = monotonic()
            if self._look is None or (self._look.done() and now - self._ended > KEPT):
                self._begun = now
                self._look = self._thread.submit(self._look_around)
            return self._look

    def _rest(self) -> float:
        """Seconds that the look under way still has: who comes late does not wait as long as who began it."""
        return max(0.0, self._begun + LONGEST - monotonic())

    def _look_around(self) -> tuple[SitePart, ...]:
        unready = [*self._look_at_database()]
        if not all(map(self._has_room, self._folders)):
            unready.append(SitePart.DISK)
        self._ended = monotonic()
        return tuple(unready)

    def _look_at_database(self) -> Sequence[SitePart]:
        try:
            with self._engine.begin() as connection:  # which looks at the schema
                takes = _takes_changes(connection)
            check_in_place(self._engine)
        except OutdatedError:
            return [SitePart.SCHEMA]
        except Exception:  # whatever it is: the log of those who need the database says it
            return [SitePart.DATABASE]
        return [] if takes else [SitePart.DATABASE]

    def _has_room(self, folder: Path) -> bool:
        try:
            disk = os.statvfs(folder)
        except OSError:
            return False
        return not disk.f_flag & os.ST_RDONLY and disk.f_bavail * disk.f_frsize >= self._room


def list_folders(engine: sa.Engine) -> list[Path]:
    """Where this process writes: uploads and large answers; SQLite's file, or with PostgreSQL the marks.

    PostgreSQL's own disk is out of sight from here.
    """
    file = engine.url.database if engine.dialect.name == "sqlite" else None
    kept = Path(os.path.realpath(file)).parent if file else marks_folder()
    return [kept, Path(tempfile.gettempdir())]


def _takes_changes(connection: sa.Connection) -> bool:
    """Whether this is no replica that is only read; SQLite has none."""
    if connection.dialect.name != "postgresql":
        return True
    answer: str = connection.exec_driver_sql("SHOW transaction_read_only").scalar_one()
    return answer == "off"
