"""The end of a survey: everything is shown."""

from datetime import date

import sqlalchemy as sa

from server.collect.batches.counting import count_stored, set_stored
from server.collect.batches.encoding import encode_strings
from server.collect.batches.merging import row_of
from server.store.models import SurveyVersion
from server.store.own_tables import batches_of, cells_of


def seal_all(connection: sa.Connection, survey_id: int, day: date) -> None:
    """Show all responses to a survey; those that waited count from `day` on, a batch for each cell.

    It costs as much as there are cells with fewer than twice the minimum each, however many responses there
    are: tidying brings the batches into one order afterwards (`ordering`). The caller has seen to it that no
    response is on its way in: on PostgreSQL by holding the survey's row.
    """
    # Which of several writers counted how many is of no use any more.
    set_stored(connection, survey_id, count_stored(connection, survey_id))
    cells = cells_of(survey_id)
    query = (
        sa.select(cells.c.id, cells.c.waiting_n, cells.c.waiting, SurveyVersion.reports)
        .join(SurveyVersion, SurveyVersion.id == cells.c.version_id)
        .where(cells.c.waiting_n > 0)
        .order_by(cells.c.id)
    )
    waiting = connection.execute(query).all()
    if not waiting:
        return
    rows = []
    for cell in waiting:
        length = len(cell.reports)
        strings = [cell.waiting[start : start + length] for start in range(0, len(cell.waiting), length)]
        rows.append(row_of(cell.id, cell.waiting_n, {day: cell.waiting_n}, encode_strings(strings), length))
    connection.execute(sa.insert(batches_of(survey_id)), rows)
    connection.execute(sa.update(cells).where(cells.c.waiting_n > 0).values(waiting_n=0, waiting=b""))
