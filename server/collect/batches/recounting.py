"""The books held against the stored rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any

import numpy as np
import sqlalchemy as sa

from server.collect.batches.cells import CellKey, cell_id
from server.collect.batches.counting import count_stored
from server.collect.batches.encoding import add_up
from server.collect.batches.external_sort import in_order, runs_of
from server.collect.tallies import Tally
from server.output.progress import ProgressReporter, report_no_progress
from server.store.models import SurveyVersion
from server.store.own_tables import batches_of, cells_of, removals_of, responses_of

_ROWS = 10_000
"""Distinct report strings that are in memory at once."""


@dataclass(frozen=True)
class Difference:
    """Responses of a cell that only the rows have, and such as only the books have."""

    key: CellKey
    missing: int
    surplus: int


@dataclass(frozen=True)
class Recount:
    """What a survey's rows say of its books: cells that differ, how many rows there are, how many are counted."""

    differences: tuple[Difference, ...]
    rows: int
    counted: int

    @property
    def agrees(self) -> bool:
        """Whether the books are right."""
        return not self.differences and self.rows == self.counted


def _report_no_part(_key: CellKey, _part: Tally) -> None:
    """For whoever only wants to know how many differ."""


def recount(
    connection: sa.Connection,
    survey_id: int,
    report_progress: ProgressReporter = report_no_progress,
    report_part: Callable[[CellKey, Tally], None] = _report_no_part,
) -> Recount:
    """Hold the books of a survey against its rows. The caller sees one moment of the database.

    `report_part` is told, cell by cell, report strings that differ, each once and in order, and how many more of each
    the rows have than the books.
    """
    stored = count_stored(connection, survey_id)
    query = sa.select(SurveyVersion.id, SurveyVersion.reports).where(SurveyVersion.survey_id == survey_id)
    lengths = {version: len(reports) for version, reports in connection.execute(query)}
    cells = cells_of(survey_id).c
    in_books = sa.select(cells.version_id, cells.stratum_id, cells.mode)
    stored_rows = responses_of(survey_id).c
    in_rows = sa.select(stored_rows.version_id, stored_rows.stratum_id, stored_rows.mode).distinct()
    keys = [CellKey(*row) for row in connection.execute(in_books.union(in_rows))]
    rows = 0
    found = []
    by_cell = groupby(_rows(connection, survey_id), key=lambda row: CellKey(*row[:3]))
    next_cell = next(by_cell, None)
    for key in sorted(keys, key=cell_id):
        own: Iterator[Any] = iter(())
        if next_cell is not None and next_cell[0] == key:
            own = next_cell[1]
        missing = surplus = total = 0
        for part, number in _held_against(connection, survey_id, own, key, lengths[key.version_id]):
            missing += int(part.counts[part.counts > 0].sum())
            surplus -= int(part.counts[part.counts < 0].sum())
            total += number
            differs = part.counts != 0
            if differs.any():
                report_part(key, Tally(part.patterns[differs], part.counts[differs]))
            report_progress(rows + total, stored)
        said = _read_number(connection, survey_id, cell_id(key)) - (total - missing + surplus)
        difference = Difference(key, missing + max(-said, 0), surplus + max(said, 0))
        if difference.missing or difference.surplus:
            found.append(difference)
        rows += total
        if next_cell is not None and next_cell[0] == key:
            next_cell = next(by_cell, None)
    return Recount(tuple(found), rows, stored)


def _rows(connection: sa.Connection, survey_id: int) -> Iterator[Any]:
    """The distinct rows of a survey with the number of each, in the order of cells and of what they report."""
    rows = responses_of(survey_id).c
    held = rows.version_id, rows.stratum_id, rows.mode, rows.reports
    query = sa.select(*held, sa.func.count()).group_by(*held)
    ordered = query.order_by(rows.version_id, rows.stratum_id.nulls_first(), rows.mode, rows.reports)
    yield from connection.execute(ordered, execution_options={"yield_per": _ROWS})


def _tallies(rows: Iterator[Any], length: int) -> Iterator[Tally]:
    while part := list(islice(rows, _ROWS)):
        patterns = Tally.of(b"".join(row.reports for row in part), length).patterns
        yield Tally(patterns, np.array([row[4] for row in part], dtype=np.int64))


def _read_number(connection: sa.Connection, survey_id: int, cell: int) -> int:
    """How many responses a cell has by the numbers that stand beside the strings."""
    cells, batches = cells_of(survey_id).c, batches_of(survey_id).c
    sealed = sa.select(sa.func.coalesce(sa.func.sum(batches.n), 0)).where(batches.cell_id == cell)
    waiting = connection.scalar(sa.select(cells.waiting_n).where(cells.id == cell)) or 0
    removals = removals_of(survey_id).c
    leaving = connection.scalar(sa.select(removals.n).where(removals.cell_id == cell)) or 0
    return int(connection.scalar(sealed) or 0) + waiting - leaving


def _held_against(
    connection: sa.Connection, survey_id: int, rows: Iterator[Any], key: CellKey, length: int
) -> Iterator[tuple[Tally, int]]:
    """Report strings with how many more of each the rows have than the books, and the number of rows, by parts."""
    counted = 0

    def counting() -> Iterator[Tally]:
        nonlocal counted
        for part in _tallies(rows, length):
            counted += part.n
            yield part

    cell, cells, removals = cell_id(key), cells_of(survey_id).c, removals_of(survey_id).c
    waiting = connection.scalar(sa.select(cells.waiting).where(cells.id == cell))
    leaving = connection.scalar(sa.select(removals.strings).where(removals.cell_id == cell))
    runs = [counting(), *(_negative(run) for run in runs_of(connection, survey_id, cell, length))]
    if waiting:
        runs.append(_negative(iter([Tally.of(waiting, length)])))
    if leaving:
        runs.append(iter([Tally.of(leaving, length)]))
    carried: list[Tally] = []
    for part in in_order(runs):
        whole = add_up([*carried, part])
        # The last string may go on in the next part.
        yield Tally(whole.patterns[:-1], whole.counts[:-1]), counted
        counted = 0
        carried = [Tally(whole.patterns[-1:], whole.counts[-1:])]
    for last in carried:
        yield last, counted


def _negative(run: Iterator[Tally]) -> Iterator[Tally]:
    for part in run:
        yield Tally(part.patterns, -part.counts)
