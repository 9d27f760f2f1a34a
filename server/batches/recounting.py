"""The books held against the stored rows."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa

from server.batches.cells import CellKey, cell_id
from server.batches.contents import add_up
from server.batches.counting import stored
from server.batches.sorting import in_order, runs_of
from server.models import Batch, Cell, SurveyVersion
from server.own_tables import responses_of
from server.tallies import Tally

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


def recount(connection: sa.Connection, survey_id: int) -> Recount:
    """Hold the books of a survey against its rows. The caller sees one moment of the database."""
    query = sa.select(SurveyVersion.id, SurveyVersion.reports).where(SurveyVersion.survey_id == survey_id)
    lengths = {version: len(reports) for version, reports in connection.execute(query)}
    in_books = sa.select(Cell.version_id, Cell.stratum_id).where(Cell.version_id.in_(lengths))
    stored_rows = responses_of(survey_id).c
    in_rows = sa.select(stored_rows.version_id, stored_rows.stratum_id).distinct()
    keys = [CellKey(*row) for row in connection.execute(in_books.union(in_rows))]
    rows = 0
    found = []
    for key in sorted(keys, key=cell_id):
        missing = surplus = total = 0
        for part, number in _held_against(connection, survey_id, key, lengths[key.version_id]):
            missing += int(part.counts[part.counts > 0].sum())
            surplus -= int(part.counts[part.counts < 0].sum())
            total += number
        said = _said(connection, cell_id(key)) - (total - missing + surplus)
        difference = Difference(key, missing + max(-said, 0), surplus + max(said, 0))
        if difference.missing or difference.surplus:
            found.append(difference)
        rows += total
    return Recount(tuple(found), rows, stored(connection, [survey_id])[survey_id])


def rows_in_order(connection: sa.Connection, survey_id: int, key: CellKey, length: int) -> Iterator[Tally]:
    """The stored rows of a cell as a tally in order, part by part."""
    rows = responses_of(survey_id).c
    query = (
        sa.select(rows.reports, sa.func.count())
        .where(of_cell(survey_id, key))
        .group_by(rows.reports)
        .order_by(rows.reports)
    )
    for part in connection.execute(query, execution_options={"yield_per": _ROWS}).partitions():
        strings = b"".join(reports for reports, _number in part)
        yield Tally(
            Tally.of(strings, length).patterns,
            np.array([number for _reports, number in part], dtype=np.int64),
        )


def of_cell(survey_id: int, key: CellKey) -> sa.ColumnElement[bool]:
    """The condition on a survey's rows to be those of a cell."""
    rows = responses_of(survey_id).c
    here = rows.stratum_id.is_(None) if key.stratum_id is None else rows.stratum_id == key.stratum_id
    return sa.and_(rows.version_id == key.version_id, here)


def _said(connection: sa.Connection, cell: int) -> int:
    """How many responses a cell has by the numbers that stand beside the strings."""
    batches = sa.select(sa.func.coalesce(sa.func.sum(Batch.n), 0)).where(Batch.cell_id == cell)
    waiting = connection.scalar(sa.select(Cell.waiting_n).where(Cell.id == cell)) or 0
    return int(connection.scalar(batches) or 0) + waiting


def _held_against(
    connection: sa.Connection, survey_id: int, key: CellKey, length: int
) -> Iterator[tuple[Tally, int]]:
    """Report strings with how many more of each the rows have than the books, and the number of rows, by parts."""
    counted = 0

    def counting() -> Iterator[Tally]:
        nonlocal counted
        for part in rows_in_order(connection, survey_id, key, length):
            counted += part.n
            yield part

    runs = [counting(), *(_negative(run) for run in runs_of(connection, cell_id(key), length))]
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
