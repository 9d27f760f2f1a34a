"""How far the work of a request has come, for the page that waits for its answer.

A page that sends a form puts a name into it that it has just drawn, and asks for it while it waits. What is kept is two
numbers for each work that is being done now, in the memory of the process that does it: nothing of a survey, and
nothing once the work has ended. Another process of several (PostgreSQL, `--workers`) does not know the name: it
answers as if nothing had begun, and a page that never hears more shows the seconds that have passed, as without this.
"""

import math
import re
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from threading import Lock

from flask import current_app, request

from server.output.progress import ProgressReporter, report_no_progress
from server.people.tokens import hash_of
from server.web.security import COOKIE

FIELD = "work"
"""The field of a form that names its work (client/waiting.js)."""
MOST = 256
"""Works that are followed at once; a process does fewer. Of more, the one that is oldest is forgotten."""
LONGEST = 600
"""Seconds after which a work is forgotten that reports nothing: it may have ended without a word."""
_INTERVAL = 0.1
"""Seconds between two reports that are kept."""
_NAMES = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class WorkParts:
    """How many parts of a work are done, of how many: of none where it has not begun, or nobody knows of it."""

    done: int = 0
    of: int = 0


class WorkTable:
    """The works that a process does now; each is known to the sign-in whose request it is, and to nobody else."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._works: dict[tuple[bytes, str], tuple[WorkParts, float]] = {}

    @contextmanager
    def follow(self, reader: bytes, name: str) -> Iterator[ProgressReporter]:
        """What a work tells its progress to, until it ends; under a name that no page draws, nothing is kept."""
        last = -math.inf

        def report_progress(done: int, of: int) -> None:
            nonlocal last
            now = self._clock()
            if now - last >= _INTERVAL:
                last = now
                self._keep((reader, name), WorkParts(done, of), now)

        try:
            yield report_progress if _NAMES.fullmatch(name) else report_no_progress
        finally:
            with self._lock:
                self._works.pop((reader, name), None)

    def find(self, reader: bytes, name: str) -> WorkParts:
        """How far the work of this name has come that is done for this reader."""
        with self._lock:
            parts, at = self._works.get((reader, name), (WorkParts(), math.inf))
        return WorkParts() if self._clock() - at > LONGEST else parts

    def __len__(self) -> int:
        return len(self._works)

    def _keep(self, work: tuple[bytes, str], parts: WorkParts, now: float) -> None:
        with self._lock:
            self._works.pop(work, None)  # whatever was told of last stands last
            self._works[work] = parts, now
            for other, (_parts, at) in list(self._works.items()):
                if len(self._works) <= MOST and now - at <= LONGEST:
                    break
                del self._works[other]


def follow_work() -> AbstractContextManager[ProgressReporter]:
    """What the work of this request tells its progress to; behind `signed_in`. It asks the database for nothing."""
    return _works().follow(_reader(), request.form.get(FIELD, ""))


def find_progress(name: str) -> WorkParts:
    """How far a work has come that another request of this browser's sign-in asked for."""
    return _works().find(_reader(), name)


def _works() -> WorkTable:
    value: WorkTable = current_app.extensions["moneda.works"]
    return value


def _reader() -> bytes:
    """The sign-in of a request, as the database knows it, without asking it."""
    return hash_of(request.cookies.get(COOKIE, ""))
