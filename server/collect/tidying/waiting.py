"""How long tidying waits for others, and others for it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import local

BRIEFLY = 0.2
"""Seconds to wait for something that only one may have: whoever comes meanwhile waits behind."""

HELD_UP = 0.3
"""Seconds at most for which others are kept from writing, or from a table that all surveys share."""

PAUSE = 0.5
"""Seconds in which others go first, before the next attempt."""

SHORTEST_TURN = 0.01
"""Seconds at least for which a lock is left to others."""

WHOLE_TURN = 0.15
"""Seconds for which it is left now and then: longer than whoever waits for SQLite lets pass between two attempts."""

LONG_PATIENCE = 30.0
"""Seconds that a command tries."""


_since_whole_turn = local()


@contextmanager
def leave_turn() -> Iterator[None]:
    """Leave a lock to others for as long as it was held or waited for meanwhile, in vain or not.

    Whoever takes it again at once leaves it for moments only, which SQLite's own waiting, up to a tenth of a
    second between two attempts, would seldom meet. What was tried in vain is tried again, survey by survey.
    Turns shorter than that tenth could be missed again and again, by whoever looks in the same rhythm: so after
    `BRIEFLY` in all comes one that nobody misses who waits.
    """
    started = time.monotonic()
    try:
        yield
    finally:
        spent = time.monotonic() - started
        taken = getattr(_since_whole_turn, "taken", 0.0) + spent
        turn = max(spent, WHOLE_TURN if taken > BRIEFLY else SHORTEST_TURN)
        _since_whole_turn.taken = 0.0 if turn >= WHOLE_TURN else taken
        time.sleep(turn)


class UnfinishedError(RuntimeError):
    """Something could not be tidied; says why. Nothing is lost, and it stays due."""


class OvertakenError(UnfinishedError):
    """Another process is at it, or has changed meanwhile what was being tidied, as it may; it begins anew by itself."""


class Patience:
    """How long to try, and whether others may be held up.

    Parameters
    ----------
    seconds : float
        From now on.
    is_over : Callable
        Asked between pieces: whether to give up at once.
    holds_up : bool
        Whether a table that all surveys share may be kept from others for as long as it takes.
    """

    def __init__(
        self, seconds: float, is_over: Callable[[], bool] = lambda: False, *, holds_up: bool = False
    ) -> None:
        self._until = time.monotonic() + seconds
        self._is_over = is_over
        self._holds_up = holds_up
        self.longest = None if holds_up else HELD_UP

    def at_once(self) -> "Patience":
        """The same without waiting for anybody."""
        return Patience(0, self._is_over, holds_up=self._holds_up)

    def go_on(self) -> None:
        """Between two pieces.

        Raises
        ------
        UnfinishedError
            If somebody wants it to stop.
        """
        if self._is_over():
            raise UnfinishedError("the server was stopped")

    def pause(self, reason: str, ending: type[UnfinishedError] = UnfinishedError) -> None:
        """Let others go first, and come back for another attempt.

        Raises
        ------
        UnfinishedError
            With the reason, if it was tried for long enough: `ending`, which says of which kind.
        """
        self.go_on()
        if time.monotonic() + PAUSE > self._until:
            raise ending(reason)
        time.sleep(PAUSE)
