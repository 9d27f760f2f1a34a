"""How far long work has come, for whoever waits for it."""

from collections.abc import Callable

ProgressReporter = Callable[[int, int], None]
"""Called with how many parts of the work are done, and of how many."""


def report_no_progress(_done: int, _of: int) -> None:
    """Nobody waits."""
