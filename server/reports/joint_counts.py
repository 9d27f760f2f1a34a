"""How often reports of several questions arrived together."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from server.collect.tallies import count_cells
from server.collect.waves import Byte, Wave
from server.privacy.designs import Design

JointCounts = Mapping[tuple[int, ...], tuple[NDArray[np.int64], tuple[Design, ...]]]
"""By the number of a column of each question, the table of counts of their reports, and their designs."""


def count_together(
    wave: Wave, questions: Sequence[Sequence[Byte]], wanted: Sequence[tuple[int, ...]]
) -> JointCounts:
    """How often reports of columns arrived together, for some choices of a column of each question of a version."""
    columns = [[question[k] for question, k in zip(questions, chosen, strict=True)] for chosen in wanted]
    tables = [np.zeros([column.counts.shape[1] for column in group], dtype=np.int64) for group in columns]
    for block in wave.blocks():
        for table, group in zip(tables, columns, strict=True):
            cells = np.zeros(len(block.tally.counts), dtype=np.int64)
            for column in group:
                cells = cells * column.counts.shape[1] + column.codes(block.tally)
            table += count_cells(cells, block.tally.counts, table.size).reshape(table.shape)
    return {
        chosen: (table, tuple(column.design for column in group))
        for chosen, table, group in zip(wanted, tables, columns, strict=True)
    }


def join_parts(
    counted: Iterable[JointCounts], chosen: tuple[int, ...]
) -> tuple[list[NDArray[np.int64]], list[tuple[Design, ...]]]:
    """Of some columns the tables of counts and the designs of versions, those under the same designs together."""
    parts: dict[tuple[bytes, ...], tuple[NDArray[np.int64], tuple[Design, ...]]] = {}
    for tables in counted:
        table, designs = tables[chosen]
        key = tuple(design.weights.tobytes() for design in designs)
        parts[key] = (table + parts[key][0] if key in parts else table), designs
    found, used = zip(*parts.values(), strict=True)
    return list(found), list(used)
