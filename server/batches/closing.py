"""The end of a survey: everything is shown, and what a cell holds lies in one order, which says nothing of before."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

import sqlalchemy as sa

from server.batches.contents import add_up, encode
from server.batches.merging import PIECE, days_of, row_of, sum_days
from server.batches.sorting import WINDOW, in_order, runs_of
from server.models import Batch, Cell, SurveyVersion
from server.tallies import Tally

_CELLS = Cell.metadata.tables[Cell.__tablename__]
_BATCHES = Batch.metadata.tables[Batch.__tablename__]
_INSERT = sa.insert(_BATCHES)
_REMOVE = sa.delete(_BATCHES).where(_BATCHES.c.id.in_(sa.bindparam("ids", expanding=True)))
_EMPTY = sa.update(_CELLS).where(_CELLS.c.id == sa.bindparam("cell")).values(waiting_n=0, waiting=b"")


def seal_all(connection: sa.Connection, survey_id: int, day: date) -> None:
    """Show all responses to a survey; those that waited count from `day` on.

    The caller has seen to it that no response is on its way in: on PostgreSQL by holding the survey's row.
    """
    query = (
        sa.select(_CELLS.c.id, _CELLS.c.waiting_n, SurveyVersion.reports)
        .join(SurveyVersion, SurveyVersion.id == _CELLS.c.version_id)
        .where(SurveyVersion.survey_id == survey_id)
        .order_by(_CELLS.c.id)
    )
    for cell in connection.execute(query).all():
        _seal(connection, cell, day)


def write_pieces(
    connection: sa.Connection, cell: int, parts: Iterator[Tally], days: Mapping[date, int]
) -> None:
    """Write a tally of any size, whose parts come in order, as batches of a cell."""
    for piece in _pieces(parts):
        connection.execute(_INSERT, row_of(cell, piece.n, days, encode(piece), piece.patterns.shape[1]))
        days = {}  # all of them stand beside the first piece


def _seal(connection: sa.Connection, cell: sa.Row[Any], day: date) -> None:
    query = sa.select(_BATCHES.c.id, _BATCHES.c.days).where(_BATCHES.c.cell_id == cell.id)
    found = connection.execute(query).all()
    if not cell.waiting_n and len(found) == 1:
        return
    days = sum_days([*(days_of(batch.days) for batch in found), {day: cell.waiting_n}])
    write_pieces(connection, cell.id, in_order(runs_of(connection, cell.id, len(cell.reports))), days)
    connection.execute(_REMOVE, {"ids": [batch.id for batch in found]})
    connection.execute(_EMPTY, {"cell": cell.id})


def _pieces(parts: Iterator[Tally]) -> Iterator[Tally]:
    """The same in parts whose contents are as long as one batch may be."""
    together: list[Tally] = []
    size = 0
    for part in parts:
        together.append(part)
        size += part.patterns.size
        if size >= PIECE - WINDOW:
            yield add_up(together)
            together, size = [], 0
    if together:
        yield add_up(together)
