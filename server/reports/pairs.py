"""How often two questions were reported together."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from server.collect.tallies import count_cells
from server.collect.waves import Byte, Wave
from server.privacy.designs import Design

Pairs = Mapping[tuple[int, int], tuple[NDArray[np.int64], tuple[Design, Design]]]
"""By the numbers of two columns, the table of counts of their reports, and their designs."""


def count_pairs(
    wave: Wave, rows: Sequence[Byte], columns: Sequence[Byte], pairs: Sequence[tuple[int, int]]
) -> Pairs:
    """How often each pair of reports arrived, for pairs of a version's bytes, with their designs."""
    shapes = [(rows[row].counts.shape[1], columns[column].counts.shape[1]) for row, column in pairs]
    tables = [np.zeros(shape, dtype=np.int64) for shape in shapes]
    for block in wave.blocks():
        for table, (row, column) in zip(tables, pairs, strict=True):
            cells = rows[row].codes(block.tally).astype(np.int64) * table.shape[1]
            cells += columns[column].codes(block.tally)
            table += count_cells(cells, block.tally.counts, table.size).reshape(table.shape)
    return {
        (row, column): (table, (rows[row].design, columns[column].design))
        for table, (row, column) in zip(tables, pairs, strict=True)
    }
