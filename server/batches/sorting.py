"""Tallies of any size in one order, without having all of them in memory."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import sqlalchemy as sa

from server.batches.contents import COUNT, PATTERNS, add_up, as_keys
from server.models import Batch
from server.tallies import Tally

WINDOW = 1 << 18
"""Bytes of each content that are in memory."""

_CONTENT, _ID = Batch.__table__.c.content, Batch.__table__.c.id
_PART = sa.select(sa.func.substr(_CONTENT, sa.bindparam("start"), sa.bindparam("size"))).where(
    sa.bindparam("batch") == _ID
)


class Stored(NamedTuple):
    """A batch as it is stored: its number, and how many bytes its content has."""

    id: int
    size: int


def windows(connection: sa.Connection, batch: Stored, length: int) -> Iterator[Tally]:
    """A batch's tally in its order, part by part; `length` is that of each report string."""

    def read(start: int, size: int) -> bytes:
        return bytes(connection.scalars(_PART, {"batch": batch.id, "start": start + 1, "size": size}).one())

    counted = read(0, 1)[0] == PATTERNS
    rows = (batch.size - 1) // (length + COUNT.itemsize if counted else length)
    step = max(WINDOW // length, 1)
    for start in range(0, rows, step):
        number = min(step, rows - start)
        tally = Tally.of(read(1 + start * length, number * length), length)
        if counted:
            counts = read(1 + rows * length + start * COUNT.itemsize, number * COUNT.itemsize)
            tally = Tally(tally.patterns, np.frombuffer(counts, dtype=COUNT).astype(np.int64))
        yield tally


def in_order(runs: Sequence[Iterator[Tally]]) -> Iterator[Tally]:
    """Several tallies as one, in the order of the patterns, part by part.

    Parameters
    ----------
    runs : sequence of iterators
        Each of them the parts of one tally in order.
    """
    left = [(run, part) for run in runs if (part := next(run, None)) is not None]
    while left:
        # All that is not greater than the end of every part: nothing that is still to come is smaller.
        bound = min(as_keys(part.patterns[-1:])[0] for _run, part in left)
        taken, rest = [], []
        for run, part in left:
            place = int(np.searchsorted(as_keys(part.patterns), bound, side="right"))
            if place:
                taken.append(Tally(part.patterns[:place], part.counts[:place]))
            after: Tally | None = Tally(part.patterns[place:], part.counts[place:])
            if place == len(part.counts):
                after = next(run, None)
            if after is not None:
                rest.append((run, after))
        left = rest
        yield add_up(taken)
