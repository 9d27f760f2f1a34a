"""The end of a survey: everything is shown."""

from datetime import date

import sqlalchemy as sa

from server.batches.contents import encode_strings
from server.batches.merging import row_of
from server.models import Batch, Cell, SurveyVersion

_CELLS = Cell.metadata.tables[Cell.__tablename__]
_BATCHES = Batch.metadata.tables[Batch.__tablename__]
_EMPTY = sa.update(_CELLS).where(_CELLS.c.id == sa.bindparam("cell")).values(waiting_n=0, waiting=b"")


def seal_all(connection: sa.Connection, survey_id: int, day: date) -> None:
    """Show all responses to a survey; those that waited count from `day` on, a batch for each cell.

    It costs as much as there are cells with fewer than twice the minimum each, however many responses there
    are: the batches are brought into one order afterwards (`ordering`). The caller has seen to it that no
    response is on its way in: on PostgreSQL by holding the survey's row.
    """
    query = (
        sa.select(_CELLS.c.id, _CELLS.c.waiting_n, _CELLS.c.waiting, _CELLS.c.series, SurveyVersion.reports)
        .join(SurveyVersion, SurveyVersion.id == _CELLS.c.version_id)
        .where(SurveyVersion.survey_id == survey_id, _CELLS.c.waiting_n > 0)
        .order_by(_CELLS.c.id)
    )
    waiting = connection.execute(query).all()
    if not waiting:
        return
    rows = []
    for cell in waiting:
        length = len(cell.reports)
        strings = [cell.waiting[start : start + length] for start in range(0, len(cell.waiting), length)]
        row = row_of(cell.id, cell.waiting_n, {day: cell.waiting_n}, encode_strings(strings), length)
        rows.append({**row, "series": cell.series})
    connection.execute(sa.insert(_BATCHES), rows)
    connection.execute(_EMPTY, [{"cell": cell.id} for cell in waiting])
