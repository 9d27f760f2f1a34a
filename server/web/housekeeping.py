"""The one job that a serving process does by itself: it closes surveys, deletes what is due, and tidies.

Closed are surveys whose time is over; deleted is what of closed ones has been kept for as long as was announced. An
import that died on its way, what programs were answered more than a day ago, and failed sign-ins that count no more
are cleared away by it, too; and it has what a process remembers of addresses forgotten in time, also where nobody comes
any more.

No page changes anything for being looked at; what is due is done here, at once when a page says so
(`notify`), and otherwise looked for every few seconds. Several processes may each have a job: the
tidying lets one of them do it.
"""

import logging
import time
from collections.abc import Callable
from threading import Event, Lock, Thread

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server import archives
from server.collect import tidying
from server.people import throttling
from server.people.reply_keeping import forget_old_replies, has_old_replies
from server.store.engines import open_session
from server.store.failures import Failure, describe_failure, find_failure
from server.study import surveys

LOOK = 5.0
"""Seconds between two looks."""
LONGEST_PAUSE = 300.0
"""Seconds before what could not be finished is tried again: first `LOOK`, then twice as long each time."""
ROUND = 60.0
"""Seconds for which a survey's tidying is tried at a time."""
LAST = 2.0
"""Seconds for what is due when the server stops."""


Mark = Callable[[Session, bytes], None]
"""Notes the day on which what has this hash was used."""


class Housekeeper:
    """The job of one process. It does nothing until it is started."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._wake = Event()
        self._until: float | None = None
        self._thread: Thread | None = None
        self._used: dict[bytes, Mark] = {}
        self._chores: list[Callable[[], None]] = []
        self._lock = Lock()

    def add_chore(self, act: Callable[[], None]) -> None:
        """Have this done at each look, before anything that the database may keep from being done."""
        self._chores.append(act)

    def start(self) -> None:
        """Begin to look."""
        self._until = None
        self._thread = Thread(target=self._run, name="housekeeper", daemon=True)
        self._thread.start()

    def notify(self) -> None:
        """Look at once: something was closed or deleted."""
        self._wake.set()

    def note_use(self, secret_hash: bytes, mark: Mark) -> None:
        """Have it marked, before long, that a sign-in or a program's token was used today."""
        with self._lock:
            self._used[secret_hash] = mark

    def stop(self, timeout: float = LAST) -> None:
        """Do what is due once more, for so many seconds at most, and end."""
        self._until = time.monotonic() + timeout
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout + 1)
            self._thread = None

    def _run(self) -> None:
        pause = LOOK
        while True:
            is_last = self._until is not None
            for act in self._chores:
                act()
            finished = self._do_what_is_due()
            if is_last:
                return
            pause = LOOK if finished else min(2 * pause, LONGEST_PAUSE)
            if self._wake.wait(pause):
                pause = LOOK
            self._wake.clear()

    def _do_what_is_due(self) -> bool:
        """Whether everything is done that was due."""
        try:
            self._mark_used()
            self._forget_attempts()
            with open_session(self._engine, writes=False) as session:
                now = surveys.now()
                is_old = has_old_replies(session)
                due = tidying.is_due(session, now) or archives.are_due(session, now)
                if not due and not archives.are_late(session, now) and not is_old:
                    return True
            with open_session(self._engine, writes=True) as session, session.begin():
                archives.give_up_late(session, surveys.now())
                tidying.close_over(session, surveys.now())
                forget_old_replies(session)
            seconds = ROUND if self._until is None else self._until - time.monotonic()
            patience = tidying.Patience(seconds, self._is_over)
            archives.delete_due(self._engine, surveys.now(), patience)
            tidying.tidy(self._engine, patience)
        except tidying.OvertakenError:
            return False
        except tidying.UnfinishedError as error:
            logging.getLogger(__name__).warning("tidying was not finished and stays due: %s", error)
            return False
        except Exception as error:
            # Whatever it was, the next look comes; the log says nothing of what was stored.
            # Where somebody writes for long, nothing is broken.
            locked = find_failure(error) is Failure.LOCKED
            level = logging.WARNING if locked else logging.ERROR
            logging.getLogger(__name__).log(level, "%s while keeping house", describe_failure(error))
            return False
        return True

    def _mark_used(self) -> None:
        with self._lock:
            used, self._used = self._used, {}
        if used:
            with open_session(self._engine, writes=True) as session, session.begin():
                for secret_hash in sorted(used):  # all processes in one order, so that none waits in a circle
                    used[secret_hash](session, secret_hash)

    def _forget_attempts(self) -> None:
        with open_session(self._engine, writes=False) as session:
            if not throttling.may_forget(session):
                return
        with open_session(self._engine, writes=True) as session, session.begin():
            throttling.forget_attempts(session)

    def _is_over(self) -> bool:
        return self._until is not None and time.monotonic() > self._until
