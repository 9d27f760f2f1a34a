"""How often reports of several questions arrived together, also apart by the strata that count by their populations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.collect.tallies import count_cells
from server.collect.waves import Byte, Wave
from server.privacy.designs import Design
from server.reports.population_weights import StratumCells, Weigh

JointCounts = Mapping[tuple[int, ...], tuple[NDArray[np.int64], tuple[Design, ...]]]
"""By the number of a column of each question, the table of counts of their reports, and their designs.

The first axis of a table are the cells of strata, and last the responses that are in none: of a survey without
weights these are all.
"""


def count_together(
    wave: Wave,
    questions: Sequence[Sequence[Byte]],
    places: Sequence[tuple[int, ...]],
    strata: StratumCells | None = None,
) -> JointCounts:
    """How often reports of columns arrived together, for some choices of a column of each question of a version."""
    columns = [[question[k] for question, k in zip(questions, chosen, strict=True)] for chosen in places]
    apart = 1 if strata is None else len(strata.shares) + 1
    tables = [
        np.zeros([apart, *(column.counts.shape[1] for column in group)], dtype=np.int64) for group in columns
    ]
    for block in wave.blocks():
        first = np.zeros(len(block.tally.counts), dtype=np.int64)
        if strata is not None:
            first = strata.cell_of[block.places]
        for table, group in zip(tables, columns, strict=True):
            cells = first
            for column in group:
                cells = cells * column.counts.shape[1] + column.codes(block.tally)
            table += count_cells(cells, block.tally.counts, table.size).reshape(table.shape)
    return {
        chosen: (table, tuple(column.design for column in group))
        for chosen, table, group in zip(places, tables, columns, strict=True)
    }


_MOST_WORK = 40_000
_COMPARED = 50
"""How many times as long two groups take as a table."""


def weigh_some(weigh: Weigh, waves: Sequence[Wave], tables: int, compared: int) -> StratumCells | None:
    """How strata count in so many tables and comparisons of two groups; None too where that would take many seconds."""
    strata = weigh(waves)
    if strata is None or len(strata.shares) * (tables + _COMPARED * compared) > _MOST_WORK:
        return None
    return strata


@dataclass(frozen=True, eq=False)
class JointParts:
    """Tables of counts with their designs, and what each counts; None where every response counts the same."""

    tables: list[NDArray[np.int64]]
    designs: list[tuple[Design, ...]]
    weights: list[float] | None


def join_parts(
    counted: Iterable[JointCounts], chosen: tuple[int, ...], strata: StratumCells | None = None
) -> JointParts:
    """Of some columns the tables of versions, those under the same designs together; with strata, those of each cell.

    Designs share what a cell counts by its responses under them.
    """
    parts: dict[tuple[bytes, ...], tuple[NDArray[np.int64], tuple[Design, ...]]] = {}
    for tables in counted:
        table, designs = tables[chosen]
        key = tuple(design.weights.tobytes() for design in designs)
        parts[key] = (table + parts[key][0] if key in parts else table), designs
    if strata is None:
        found, used = zip(*((table.sum(axis=0), own) for table, own in parts.values()), strict=True)
        return JointParts(list(found), list(used), None)
    # What is in no cell is last, and counts nothing.
    sizes = np.array([table[:-1].reshape(len(table) - 1, -1).sum(axis=1) for table, _ in parts.values()])
    shares = strata.shares * sizes / sizes.sum(axis=0)
    every = [(table, own) for tables, own in parts.values() for table in tables[:-1]]
    return JointParts([table for table, _ in every], [own for _, own in every], shares.ravel().tolist())
