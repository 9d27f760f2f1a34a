"""Work that waits for a disk or a database, done for all that wait at once.

Tasks of the event loop hand in items; one thread takes all that are there, works on them together,
and wakes their tasks together. While it works, the next ones gather: the slower the disk, the larger
the groups.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event, Lock
from time import monotonic
from typing import Any, Generic, TypeVar

from server.web.front.timeouts import Deadlines
from server.web.watching.hourly_counts import QueueCounts

CROWD = 8
"""After a group of so many the next one is given time to grow."""
STEP = 0.002
"""Seconds; it goes on as long as it grows from one to the next, and until most of those who were there are back."""
STEPS = 4
"""Most of them."""
ANSWERING = 0.1
"""Seconds that handing out what became of a group may take, before the next one begins without those in it."""

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


class OverloadedError(Exception):
    """There is no place in the queue, or what is before it takes too long."""


class Groups(Generic[Item, Outcome]):
    """A queue, and the one thread that works on it; there is no thread while nothing waits.

    Parameters
    ----------
    work : Callable
        From items to an outcome each, in their order; runs in the thread, and raises nothing.
    size : int
        Most items of a group.
    places : int
        Most items that wait.
    patience : float
        Seconds after which a group under way counts as stuck, and newcomers are sent away.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item]], Sequence[Outcome]],
        *,
        size: int,
        places: int,
        patience: float,
    ) -> None:
        self._work = work
        self._size = size
        self._places = places
        self._patience = patience
        self._queue: deque[tuple[Item, asyncio.Future[Outcome]]] = deque()
        self._waits = Deadlines(5 * patience, OverloadedError)
        self._thread = ThreadPoolExecutor(1)
        self._deciding = Lock()
        self._busy = False
        self._enough = 0
        self._answered = Event()
        self._gathered = Event()
        self._since = 0.0
        self._counts = QueueCounts()

    async def submit(self, item: Item) -> Outcome:
        """What became of an item.

        Raises
        ------
        OverloadedError
            At once, if the item was not taken; or after waiting for as long as `patience` allows five times,
            when it may still be worked on later.
        """
        if len(self._queue) >= self._places or (self._busy and monotonic() - self._since > self._patience):
            raise OverloadedError
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Outcome] = loop.create_future()
        self._queue.append((item, future))
        if len(self._queue) == self._enough:
            self._gathered.set()
        with self._deciding:
            idle, self._busy = not self._busy, True
        if idle:
            self._since = monotonic()
            self._thread.submit(self._run, loop)
        self._waits.begin(future)
        return await future

    def is_crowded(self) -> bool:
        """Whether half of the places are taken."""
        return 2 * len(self._queue) >= self._places

    def take_counts(self) -> QueueCounts:
        """What was done since the queue was made; the most that waited, since this was asked last."""
        with self._deciding:
            counts, self._counts = self._counts, replace(self._counts, most_waiting=0)
        return counts

    def _count(self, items: int, seconds: float, waiting: int) -> None:
        with self._deciding:
            before = self._counts
            self._counts = QueueCounts(
                before.groups + 1,
                before.items + items,
                before.seconds + seconds,
                max(before.most_waiting, waiting),
            )

    def close(self) -> None:
        """Begin nothing more, and wait for nothing."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _gather(self) -> None:
        """Let some who were just answered come back: fewer, larger groups are less work, and nobody waits longer."""
        self._answered.wait(ANSWERING)
        for _ in range(STEPS):
            waiting = len(self._queue)
            if waiting >= self._enough or self._gathered.wait(STEP) or len(self._queue) == waiting:
                return

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        while True:
            waiting = len(self._queue)
            group = [self._queue.popleft() for _ in range(min(len(self._queue), self._size))]
            if not group:
                # An item that is added after this look finds nobody at work, and starts the thread again.
                with self._deciding:
                    self._busy = bool(self._queue)
                    if not self._busy:
                        return
                continue
            begun = self._since = monotonic()
            outcomes = self._work([item for item, _future in group])
            self._since = (
                monotonic()
            )  # nobody who comes from now on waits for this group, however long it took
            self._answered.clear()
            self._gathered.clear()
            # One in eight may have left. With half of them, more groups cost more than it saves that the others are
            # answered while these wait for the disk.
            self._enough = min((7 * (len(self._queue) + len(group)) + 7) // 8, self._size)
            loop.call_soon_threadsafe(_wake, group, outcomes, self._answered)
            self._count(len(group), self._since - begun, waiting)
            if len(group) >= CROWD:
                self._gather()


def _wake(
    group: Sequence[tuple[Any, "asyncio.Future[Any]"]], outcomes: Sequence[Any], answered: Event
) -> None:
    for (_item, future), outcome in zip(group, outcomes, strict=True):
        if not future.done():  # its task may have given up
            future.set_result(outcome)
    asyncio.get_running_loop().call_soon(answered.set)  # comes after all of these tasks
