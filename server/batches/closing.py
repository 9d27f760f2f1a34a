"""The end of a survey: everything is shown, and what a cell holds lies in one order, which says nothing of before."""

from collections.abc import Iterator
from datetime import date
from typing import Any

import sqlalchemy as sa

from server.batches.contents import add_up, encode
from server.batches.merging import PIECE, days_of, row_of, sum_days
from server.batches.sorting import WINDOW, Stored, in_order, windows
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
        sa.select(_CELLS.c.id, _CELLS.c.waiting_n, _CELLS.c.waiting, SurveyVersion.reports)
        .join(SurveyVersion, SurveyVersion.id == _CELLS.c.version_id)
        .where(SurveyVersion.survey_id == survey_id)
        .order_by(_CELLS.c.id)
    )
    for cell in connection.execute(query).all():
        _seal(connection, cell, day)


def _seal(connection: sa.Connection, cell: sa.Row[Any], day: date) -> None:
    length = len(cell.reports)
    query = sa.select(
        _BATCHES.c.id, _BATCHES.c.n, _BATCHES.c.days, sa.func.length(_BATCHES.c.content).label("size")
    ).where(_BATCHES.c.cell_id == cell.id)
    found = connection.execute(query).all()
    if not cell.waiting_n and len(found) == 1:
        return
    days = sum_days([days_of(batch.days) for batch in found])
    runs = [windows(connection, Stored(batch.id, batch.size), length) for batch in found]
    if cell.waiting_n:
        days[day] = days.get(day, 0) + cell.waiting_n
        runs.append(iter([Tally.of(cell.waiting, length)]))
    for piece in _pieces(in_order(runs), length):
        connection.execute(_INSERT, row_of(cell.id, piece.n, days, encode(piece)))
        days = {}  # all of them stand beside the first piece
    connection.execute(_REMOVE, {"ids": [batch.id for batch in found]})
    connection.execute(_EMPTY, {"cell": cell.id})


def _pieces(parts: Iterator[Tally], length: int) -> Iterator[Tally]:
    """The same in parts whose contents are as long as one batch may be."""
    together: list[Tally] = []
    size = 0
    for part in parts:
        together.append(part)
        size += len(part.counts) * length
        if size >= PIECE - WINDOW:
            yield add_up(together)
            together, size = [], 0
    if together:
        yield add_up(together)
