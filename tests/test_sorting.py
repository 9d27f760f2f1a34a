"""Putting responses into an order takes little memory, however many there are."""

import tracemalloc
from collections.abc import Callable, Iterator

import numpy as np

from server.collect.batches import add_up, as_keys
from server.collect.tallies import Tally
from server.reports.response_order import in_order

LENGTH = 30
PATTERNS = 20_000
"""Of a part: about a megabyte with their counts."""


def parts(number: int) -> Iterator[Tally]:
    """Parts that are nearly all different, the same each time."""
    for seed in range(number):
        strings = np.random.default_rng(seed).integers(0, 4, (PATTERNS, LENGTH), dtype=np.uint8)
        yield Tally.of(strings.tobytes(), LENGTH)


def peak(work: Callable[[], object]) -> int:
    """The most bytes that it had at once."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def exhaust(number: int) -> None:
    last = b""
    total = 0
    for tally in in_order(lambda: parts(number)):
        keys = as_keys(tally.patterns)
        assert last < keys[0]
        assert bool((keys[:-1] < keys[1:]).all())
        last, total = keys[-1], total + tally.n
    assert total == number * PATTERNS


def test_ten_times_as_many_take_hardly_more_memory() -> None:
    few, many = peak(lambda: exhaust(8)), peak(lambda: exhaust(80))

    assert many < 1.5 * few


def test_having_all_in_memory_would_be_noticed() -> None:
    few, many = peak(lambda: add_up(list(parts(8)))), peak(lambda: add_up(list(parts(80))))

    assert many > 1.5 * few
