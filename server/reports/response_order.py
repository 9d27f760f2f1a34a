"""Responses in an order that says nothing of who came first: sorted by what they hold, however many there are."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

import numpy as np

from server.collect.batches import add_up, as_keys
from server.collect.tallies import Tally

_IN_MEMORY = 2 << 20
"""Bytes of patterns and counts that are sorted at once."""
_SAMPLED = 1 << 10
"""Patterns of each part that say where the others lie."""


def in_order(parts: Callable[[], Iterable[Tally]]) -> Iterator[Tally]:
    """The sum of tallies in parts, in the order of the patterns, each pattern once.

    Parameters
    ----------
    parts : callable
        Gives the same tallies each time; those that do not fit into memory are gone through twice.
    """
    together: Tally | None = None
    waiting: list[Tally] = []
    size = 0
    for part in parts():
        waiting.append(part)
        size += _bytes(part)
        if size > _IN_MEMORY:
            together = _sum(together, waiting)
            waiting, size = [], _bytes(together)
            if size > _IN_MEMORY // 2:
                yield from _from_disk(parts)
                return
    if waiting or together is not None:
        yield _sum(together, waiting)


def _from_disk(parts: Callable[[], Iterable[Tally]]) -> Iterator[Tally]:
    """The same by way of a file: patterns that lie close to each other are brought together, and then sorted."""
    sample, size = [], 0
    for part in parts():
        keys = as_keys(part.patterns)
        # Copied: a slice would keep all of the part in memory.
        sample.append(keys[:: max(len(keys) // _SAMPLED, 1)].copy())
        size += _bytes(part)
    bounds = np.unique(np.concatenate(sample))
    sample.clear()
    drawers = 1 + 2 * size // _IN_MEMORY
    bounds = bounds[np.arange(1, drawers) * len(bounds) // drawers]
    with tempfile.TemporaryFile() as file:
        places: list[list[tuple[int, int]]] = [[] for _ in range(len(bounds) + 1)]
        length = 0
        for part in parts():
            length = part.patterns.shape[1]
            drawer = np.searchsorted(bounds, as_keys(part.patterns), side="right")
            for number in np.unique(drawer).tolist():
                own = drawer == number
                places[number].append((file.tell(), int(own.sum())))
                file.write(np.ascontiguousarray(part.patterns[own]).tobytes())
                file.write(part.counts[own].tobytes())
        for pieces in places:
            if pieces:
                yield add_up([_read(file, start, rows, length) for start, rows in pieces])


def _read(file: BinaryIO, start: int, rows: int, length: int) -> Tally:
    file.seek(start)
    patterns = np.frombuffer(file.read(rows * length), dtype=np.uint8).reshape(rows, length)
    return Tally(patterns, np.frombuffer(file.read(rows * 8), dtype=np.int64))


def _sum(together: Tally | None, parts: list[Tally]) -> Tally:
    return add_up(parts if together is None else [together, *parts])


def _bytes(tally: Tally) -> int:
    return tally.patterns.nbytes + tally.counts.nbytes
