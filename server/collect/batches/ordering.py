"""What a closed survey's batches hold, in one order, which tells of those that were sealed together the week alone.

Tidying writes it into new tables, which take the place of the old ones when they are whole: whoever looks
sees the same sums all the while.
"""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

import sqlalchemy as sa

from server.collect.batches.encoding import COUNT, add_up, encode
from server.collect.batches.external_sort import in_order, runs_of
from server.collect.batches.merging import PIECE, row_of, sum_days
from server.collect.batches.weeks import decode_days, read_week
from server.collect.tallies import Tally
from server.store.models import SurveyVersion
from server.store.own_tables import batches_of, cells_of


def order_batches(reading: sa.Connection, survey_id: int) -> Iterator[dict[str, Any]]:
    """The rows of a closed survey's batches as they stay: of each cell and week one, or several where it is large.

    They depend on what they hold alone, their numbers too.

    Parameters
    ----------
    reading : Connection
        Sees one moment, after the survey was closed.
    """
    cells, batches = cells_of(survey_id).c, batches_of(survey_id).c
    query = (
        sa.select(cells.id, SurveyVersion.reports)
        .join(SurveyVersion, SurveyVersion.id == cells.version_id)
        .order_by(cells.id)
    )
    days_in = sa.select(batches.id, batches.days).where(batches.cell_id == sa.bindparam("cell"))
    number = 0
    for cell, reports in reading.execute(query).all():
        weeks: dict[str | None, dict[int, str]] = {}
        for batch, text in reading.execute(days_in, {"cell": cell}):
            weeks.setdefault(read_week(text), {})[batch] = text
        for week, own in sorted(weeks.items(), key=lambda pair: pair[0] or ""):
            days = sum_days([decode_days(text) for text in own.values()])
            parts = in_order(runs_of(reading, survey_id, cell, len(reports), own))
            for row in rows_of_pieces(cell, parts, days, week):
                number += 1
                yield {**row, "id": number}


def rows_of_pieces(
    cell: int, parts: Iterator[Tally], days: Mapping[date, int], week: str | None = None
) -> Iterator[dict[str, Any]]:
    """A tally of any size, whose parts come in order, as rows of batches of a cell."""
    for piece in _pieces(parts):
        yield row_of(cell, piece.n, days, encode(piece), piece.patterns.shape[1], merged=True, week=week)
        days = {}  # all of them stand beside the first piece


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
