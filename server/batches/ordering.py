"""What a closed survey's batches hold, in one order, which says nothing of which responses were sealed together.

A cell's batches are written anew as a series of their own, which is not shown before it is whole; then the
cell shows it, and the old ones go. So whoever looks sees the same sums all the while, and no transaction
does more than a few megabytes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import date
from typing import Any

import sqlalchemy as sa

from server.batches.cells import IS_SHOWN
from server.batches.contents import COUNT, add_up, encode
from server.batches.merging import PIECE, days_of, row_of, sum_days
from server.batches.sorting import in_order, runs_of
from server.models import Batch, Cell, Survey, SurveyVersion
from server.tallies import Tally

Turn = Callable[[], AbstractContextManager[sa.Connection]]
"""Begins a transaction that writes, and commits it at its end; others have their turn in between."""

_SMALL = PIECE >> 2
"""Bytes of contents that are brought into order, or removed, in one transaction."""
_TOGETHER = 200
"""Cells or batches that are, at most."""

_CELLS = Cell.metadata.tables[Cell.__tablename__]
_BATCHES = Batch.metadata.tables[Batch.__tablename__]
_SIZE = sa.func.length(_BATCHES.c.content)
_UNORDERED = (
    sa.select(Cell.id, Cell.series, SurveyVersion.reports, sa.func.sum(_SIZE).label("size"))
    .join(Batch, IS_SHOWN)
    .join(SurveyVersion, SurveyVersion.id == Cell.version_id)
    .where(SurveyVersion.survey_id == sa.bindparam("survey"), Cell.series == 0)
    .group_by(Cell.id, Cell.series, SurveyVersion.reports)
    .having(sa.func.count() > 1)
    .order_by(Cell.id)
)
_OTHERS = (
    sa.select(Batch.id, _SIZE.label("size"))
    .join(Cell, (Batch.cell_id == Cell.id) & (Batch.series != Cell.series))
    .join(SurveyVersion, SurveyVersion.id == Cell.version_id)
    .where(SurveyVersion.survey_id == sa.bindparam("survey"))
    .order_by(Batch.id)
    .limit(_TOGETHER)
)
_DAYS = sa.select(Batch.days).join(Cell, IS_SHOWN).where(Cell.id == sa.bindparam("cell"))
_SERIES = sa.select(_CELLS.c.series).where(_CELLS.c.id == sa.bindparam("cell"))
_SHOW = sa.update(_CELLS).where(_CELLS.c.id == sa.bindparam("cell")).values(series=sa.bindparam("number"))
_REMOVE = sa.delete(_BATCHES).where(_BATCHES.c.id.in_(sa.bindparam("ids", expanding=True)))


class ChangedError(RuntimeError):
    """The books were made anew meanwhile."""


def put_in_order(reading: sa.Connection, turn: Turn, survey_id: int) -> None:
    """Bring each cell of a closed survey into one order, unless it is.

    Parameters
    ----------
    reading : Connection
        Sees one moment, after the survey was closed.

    Raises
    ------
    ChangedError
        If the books were made anew meanwhile; what is finished stays so.
    """
    _remove_others(turn, survey_id)  # of an attempt that was not finished
    for group in _grouped(reading.execute(_UNORDERED, {"survey": survey_id}).all()):
        if group[0].size > _SMALL:
            _order_large(reading, turn, survey_id, group[0])
            continue
        with turn() as connection:
            for cell in group:
                _check(connection, survey_id, cell)
                for row in _rows_in_order(connection, cell):
                    connection.execute(sa.insert(_BATCHES), row)
                connection.execute(_SHOW, {"cell": cell.id, "number": cell.series + 1})
    _remove_others(turn, survey_id)


def rows_of_pieces(
    cell: int, series: int, parts: Iterator[Tally], days: Mapping[date, int]
) -> Iterator[dict[str, Any]]:
    """A tally of any size, whose parts come in order, as rows of batches of a cell."""
    for piece in _pieces(parts):
        yield {**row_of(cell, piece.n, days, encode(piece), piece.patterns.shape[1]), "series": series}
        days = {}  # all of them stand beside the first piece


def _order_large(reading: sa.Connection, turn: Turn, survey_id: int, cell: sa.Row[Any]) -> None:
    """The same for a cell that takes several transactions."""
    for row in _rows_in_order(reading, cell):
        with turn() as connection:
            _check(connection, survey_id, cell)
            connection.execute(sa.insert(_BATCHES), row)
    with turn() as connection:
        _check(connection, survey_id, cell)
        connection.execute(_SHOW, {"cell": cell.id, "number": cell.series + 1})


def _rows_in_order(connection: sa.Connection, cell: sa.Row[Any]) -> Iterator[dict[str, Any]]:
    days = sum_days([days_of(text) for text in connection.scalars(_DAYS, {"cell": cell.id})])
    parts = in_order(runs_of(connection, cell.id, len(cell.reports)))
    yield from rows_of_pieces(cell.id, cell.series + 1, parts, days)


def _check(connection: sa.Connection, survey_id: int, cell: sa.Row[Any]) -> None:
    """Refuse to go on where the cell was made anew; whoever does that holds the survey's row, as this does now."""
    connection.execute(sa.select(Survey.id).where(Survey.id == survey_id).with_for_update())
    if connection.scalar(_SERIES, {"cell": cell.id}) != cell.series:
        raise ChangedError


def _remove_others(turn: Turn, survey_id: int) -> None:
    """Remove the batches that are not shown."""
    while True:
        with turn() as connection:
            found = connection.execute(_OTHERS, {"survey": survey_id}).all()
            for some in list(_grouped(found))[:1]:
                connection.execute(_REMOVE, {"ids": [batch.id for batch in some]})
        if not found:
            return


def _grouped(found: Sequence[sa.Row[Any]]) -> Iterator[list[sa.Row[Any]]]:
    """Rows with a `size`, as many together as may be handled at once; one that is larger stands alone."""
    group: list[sa.Row[Any]] = []
    size = 0
    for each in found:
        if group and (size + each.size > _SMALL or len(group) == _TOGETHER):
            yield group
            group, size = [], 0
        group.append(each)
        size += each.size
    if group:
        yield group


def _pieces(parts: Iterator[Tally]) -> Iterator[Tally]:
    """The same in parts whose contents are as long as one batch may be."""
    together: list[Tally] = []
    size = 0
    for part in parts:
        together.append(part)
        size += part.patterns.size
        if size >= PIECE:
            whole = add_up(together)
            most = (PIECE - 1) // (whole.patterns.shape[1] + COUNT.itemsize)
            starts = range(0, len(whole.counts), most)
            *full, rest = (
                Tally(whole.patterns[at : at + most], whole.counts[at : at + most]) for at in starts
            )
            yield from full
            together, size = [rest], rest.patterns.size
    if together:
        yield add_up(together)
