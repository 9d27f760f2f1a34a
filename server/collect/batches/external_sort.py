"""Tallies of any size in one order, without having all of them in memory."""

from collections.abc import Container, Iterator, Sequence

import numpy as np
import sqlalchemy as sa

from server.collect.batches.encoding import COUNT, PATTERNS, add_up, as_keys
from server.collect.tallies import Tally
from server.store.own_tables import batches_of

WINDOW = 1 << 18
"""Bytes of each content that are in memory."""


def runs_of(
    connection: sa.Connection, survey_id: int, cell: int, length: int, chosen: Container[int] | None = None
) -> list[Iterator[Tally]]:
    """The tally of each batch of a cell, part by part.

    Parameters
    ----------
    length : int
        Of the cell's report strings, in bytes.
    chosen : container of int, optional
        The numbers of batches; all of them unless given.
    """
    batches = batches_of(survey_id).c
    query = sa.select(batches.id, sa.func.length(batches.content)).where(batches.cell_id == cell)
    stored = connection.execute(query.order_by(batches.id)).all()
    return [
        _windows(connection, survey_id, batch, size, length)
        for batch, size in stored
        if chosen is None or batch in chosen
    ]


def _windows(
    connection: sa.Connection, survey_id: int, batch: int, size: int, length: int
) -> Iterator[Tally]:
    table = batches_of(survey_id).c
    part = sa.func.substr(table.content, sa.bindparam("start"), sa.bindparam("number"))
    query = sa.select(part).where(table.id == batch)

    def read(start: int, number: int) -> bytes:
        return bytes(connection.scalars(query, {"start": start + 1, "number": number}).one())

    counted = read(0, 1)[0] == PATTERNS
    rows = (size - 1) // (length + COUNT.itemsize if counted else length)
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
        ends = [as_keys(part.patterns[-1:])[0] for _run, part in left]
        bound = min(ends)
        taken, rest = [], []
        for (run, part), end in zip(left, ends, strict=True):
            # A part that ends there is taken whole: something is, even if what is stored is not in order.
            place = len(part.counts)
            if end != bound:
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
