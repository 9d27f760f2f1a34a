"""Counts of what the site does, published in steps of an hour.

What moves when a respondent comes or sends is a list of times for whoever reads it every second: a counter of
responses, and no less of requests, of groups or of syncs; a duration; how many wait; the size of a file, or the
room that is left on its disk. Bytes sent, processor time, memory, open connections and what the garbage collector
does are no better. So the former are published together on the hour, as they were then, and stay the same until the
next; the latter are not published at all.

Between two publications lies an hour of counting, to the minute: a process that comes late, as after a machine was
asleep or its clock was set, leaves that hour out, and one that has just started waits until it has counted for an hour.
"""

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import Final

import sqlalchemy as sa

HOUR: Final = 3600.0
"""Seconds between two publications; all processes and machines publish when their clocks show a full one (UTC)."""
PUNCTUAL: Final = 60.0
"""Seconds after the hour in which it is still published."""
BOUNDS: Final = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0)
"""Seconds up to which requests are counted together."""


@dataclass(frozen=True)
class QueueCounts:
    """What a queue of `group_commits` has done: groups, items in them, seconds of work, and most items that waited."""

    groups: int = 0
    items: int = 0
    seconds: float = 0.0
    most_waiting: int = 0


@dataclass(frozen=True)
class HourlyCopy:
    """Everything, as it was at a full hour.

    Attributes
    ----------
    at : float
        When that was, in seconds since 1970 (UTC); 0 for never.
    requests : mapping
        From (pattern of the address, status) to requests answered within each of `BOUNDS`, and after the last.
    queues : mapping
        From the name of a queue to its counts; `most_waiting` is that of this hour.
    syncs : int
        Transactions that changed the database.
    sizes : mapping
        From what is measured to bytes.
    """

    at: float = 0.0
    requests: Mapping[tuple[str, str], tuple[int, ...]] = field(default_factory=dict)
    queues: Mapping[str, QueueCounts] = field(default_factory=dict)
    syncs: int = 0
    sizes: Mapping[str, int] = field(default_factory=dict)


class HourlyCounts:
    """Counts, and publishes a copy on the hour once it was started.

    Parameters
    ----------
    queues : mapping
        From the name of a queue to what takes its counts, and begins a new `most_waiting`.
    measure : callable
        Takes the sizes.
    """

    def __init__(
        self,
        engine: sa.Engine,
        queues: Mapping[str, Callable[[], QueueCounts]],
        measure: Callable[[], Mapping[str, int]],
    ) -> None:
        self._queues = queues
        self._measure = measure
        self._lock = Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._syncs = 0
        self._copy = HourlyCopy()
        self._ending = Event()
        self._thread: Thread | None = None
        sa.event.listen(engine, "commit", self._count_sync)

    @property
    def copy(self) -> HourlyCopy:
        """What may be read: everything as it was at the last full hour."""
        return self._copy

    def count(self, pattern: str, status: str, seconds: float) -> None:
        """Count a request that was answered after so many seconds."""
        with self._lock:
            self._requests[pattern, status, bisect_left(BOUNDS, seconds)] += 1

    def publish(self, at: float) -> None:
        """Let everything be read as it is now."""
        sizes = self._measure()
        queues = {name: take() for name, take in self._queues.items()}
        with self._lock:
            requests = {
                key: tuple(self._requests[*key, place] for place in range(len(BOUNDS) + 1))
                for key in sorted({each[:2] for each in self._requests})
            }
            self._copy = HourlyCopy(at, requests, queues, self._syncs, sizes)

    def start(self) -> None:
        """Begin to look at the clock."""
        self._ending.clear()
        self._thread = Thread(target=self._run, name="hourly counts", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Publish nothing more."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join(1)
            self._thread = None

    def _run(self) -> None:
        since = time.monotonic()  # not by the clock: whoever sets that must not get a shorter hour
        while not self._ending.wait(HOUR - time.time() % HOUR):
            now = time.time()
            if is_publishing_time(now, time.monotonic() - since):
                since = time.monotonic()
                self.publish(now - now % HOUR)

    def _count_sync(self, connection: sa.Connection) -> None:
        if connection.get_execution_options().get("moneda_writes"):
            with self._lock:
                self._syncs += 1


def is_publishing_time(now: float, counted: float) -> bool:
    """Whether it is a full hour, and about an hour or more was counted since something was published."""
    return now % HOUR < PUNCTUAL and counted >= HOUR - PUNCTUAL
