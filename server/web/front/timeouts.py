"""Waits that end after a while, for thousands of tasks at once.

`asyncio.timeout` sets and clears a timer of the event loop for each wait, which for a response takes as
long as reading it. Here one timer looks at all waits together, so that each may last a little longer.
"""

import asyncio
from collections import deque
from time import monotonic
from types import TracebackType
from typing import Any

STEP = 0.25
"""Seconds between two looks: so much later than asked for may a wait end."""


class Deadlines:
    """Ends waits for futures that all may take equally long, in the order in which they began.

    Less work than to cancel the tasks that wait: whoever ends a future needs to know nothing of them.

    Parameters
    ----------
    seconds : float
        How long a wait may take.
    error : type
        What it ends with.
    """

    def __init__(self, seconds: float, error: type[Exception]) -> None:
        self._seconds = seconds
        self._error = error
        self._waits: deque[tuple[float, asyncio.Future[Any]]] = deque()

    def begin(self, future: asyncio.Future[Any]) -> None:
        """Let a wait begin now."""
        if not self._waits:
            future.get_loop().call_later(STEP, self._look)
        self._waits.append((monotonic(), future))

    def _look(self) -> None:
        over = monotonic() - self._seconds
        while self._waits and (self._waits[0][1].done() or self._waits[0][0] <= over):
            _since, future = self._waits.popleft()
            if not future.done():
                future.set_exception(self._error())
        if self._waits:
            self._waits[0][1].get_loop().call_later(STEP, self._look)


class Timeouts:
    """Ends what takes too long, in one event loop; it has no timer while nothing waits."""

    def __init__(self) -> None:
        self._waits: set[Timeout] = set()
        self._looking = False

    def after(self, seconds: float) -> "Timeout":
        """For `with`: cancels what it holds after so many seconds, and raises TimeoutError then."""
        return Timeout(self, monotonic() + seconds)

    def add(self, wait: "Timeout") -> None:
        """Look at a wait from now on."""
        self._waits.add(wait)
        if not self._looking:
            self._looking = True
            asyncio.get_running_loop().call_later(STEP, self._look)

    def remove(self, wait: "Timeout") -> None:
        """Look at it no longer."""
        self._waits.discard(wait)

    def _look(self) -> None:
        now = monotonic()
        for wait in [each for each in self._waits if each.end <= now]:
            self._waits.remove(wait)
            wait.expire()
        self._looking = bool(self._waits)
        if self._looking:
            asyncio.get_running_loop().call_later(STEP, self._look)


class Timeout:
    """One wait of one task."""

    __slots__ = ("_cancelling", "_expired", "_task", "_timeouts", "end")

    def __init__(self, timeouts: Timeouts, end: float) -> None:
        self._timeouts = timeouts
        self._expired = False
        self.end = end

    def __enter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._cancelling = task.cancelling()
        self._timeouts.add(self)

    def expire(self) -> None:
        """Cancel what is waited for."""
        self._expired = True
        self._task.cancel()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._timeouts.remove(self)
        # Where somebody else cancels the task as well, it stays cancelled.
        if self._expired and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error
