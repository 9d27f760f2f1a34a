"""The end of a survey: everything is shown, but for what would stand alone.

What waits becomes the last batch of its cell, and what was taken back since the one before leaves with it. That is as
many new responses as the minimum, or all that the cell has, unless some of those that waited were taken back, too.
Then whoever had looked before would see a few alone: what waits goes on waiting for good, and where something has to
leave batches, others wait with it (`hiding`). So do fewer than the minimum that came from paper beside others from
browsers by the same link, or the other way round: who keyed in the ones could tell the others by a subtraction. They
stay stored, and releases that hide who took part count them.

Fewer than the minimum by a link of which nothing was shown are told with others only, in the sums around them. Where
everything else in such a sum stayed as it was, who looked before would see them alone: so as soon as one cell shows
nothing new, either these wait for good as well, or that cell hides some, whichever takes fewer responses away.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Any

import sqlalchemy as sa

from server.collect.batches.counting import count_stored, set_stored
from server.collect.batches.encoding import encode_strings
from server.collect.batches.hiding import choose_hidden, draw_hidden
from server.collect.batches.merging import row_of
from server.collect.batches.removing import Removed, cut, forget_weeks, take_out, take_out_removals
from server.collect.batches.weeks import name_week
from server.store.models import SurveyVersion
from server.store.own_tables import (
    batches_of,
    cells_of,
    purchases_of,
    removals_of,
    tickets_of,
    withdrawals_of,
)


def seal_all(connection: sa.Connection, survey_id: int, day: date, minimum: int) -> None:
    """Show the responses to a survey; those that waited count from `day` on, a batch for each cell.

    It costs as much as there are cells with fewer than twice the minimum each, and as what was taken back is looked
    for, however many responses there are: tidying brings the batches into one order afterwards (`ordering`). The caller
    has seen to it that no response is on its way in: on PostgreSQL by holding the survey's row.
    """
    # Which of several writers counted how many is of no use any more, nor which were taken back, nor which
    # tickets were bought and spent.
    number = count_stored(connection, survey_id)
    for table in (withdrawals_of(survey_id), purchases_of(survey_id), tickets_of(survey_id)):
        connection.execute(sa.delete(table))
    set_stored(connection, survey_id, number)
    found = _read_cells(connection, survey_id)
    few, hidden = _hide_few(connection, survey_id, found, minimum)
    # Written together at the end: others wait, and there may be thousands of strata.
    sealed: list[dict[str, Any]] = []
    left: list[dict[str, Any]] = []
    for cell in found:
        length, leaving = len(cell.reports), bool(cell.leaving)
        removed = Removed(Counter[date](), name_week(day))
        if leaving:
            removed = take_out_removals(connection, survey_id, cell.id, length, removed.week)
        if cell.id in few:
            continue
        if not cell.held or cell.waiting_n >= minimum:
            waiting: list[bytes] = []
            if cell.waiting_n:
                # What is new makes up for what left: no day's number falls, where enough is new.
                days = removed.days if cell.waiting_n >= cell.leaving else Counter[date]()
                days = days + Counter({day: cell.waiting_n - days.total()})
                strings = encode_strings(cut(cell.waiting, length))
                sealed.append(row_of(cell.id, cell.waiting_n, days, strings, length, week=removed.week))
        elif leaving or cell.id in hidden:
            numbers = choose_hidden(connection, survey_id, cell.id, minimum) if leaving else hidden[cell.id]
            drawn = draw_hidden(connection, survey_id, numbers, length)
            take_out(connection, survey_id, cell.id, Counter(drawn), length)
            # Of one week by itself, less than the minimum might be gone.
            forget_weeks(connection, survey_id, cell.id)
            waiting = sorted([*cut(cell.waiting, length), *drawn])
        else:
            continue
        left.append({"cell": cell.id, "waiting_n": len(waiting), "waiting": b"".join(waiting)})
    if sealed:
        connection.execute(sa.insert(batches_of(survey_id)), sealed)
    if left:
        cells = cells_of(survey_id)
        values = {name: sa.bindparam(name, type_=cells.c[name].type) for name in ("waiting_n", "waiting")}
        connection.execute(sa.update(cells).where(cells.c.id == sa.bindparam("cell")).values(values), left)


def _read_cells(connection: sa.Connection, survey_id: int) -> Sequence[Any]:
    """The cells that anything was sent to.

    Of each what waits, the form of its strings (`reports`), how many are `leaving` its batches, whether any was
    `sealed`, and whether what waits is `held` where it is fewer than the minimum.
    """
    cells, batches, removals = cells_of(survey_id), batches_of(survey_id), removals_of(survey_id)
    sealed = sa.exists().where(batches.c.cell_id == cells.c.id)
    # Of an other way of collecting, by the same link and to the same version.
    others = cells.alias("others")
    same_link = others.c.stratum_id.is_not_distinct_from(cells.c.stratum_id)
    stored = sa.or_(others.c.waiting_n > 0, sa.exists().where(batches.c.cell_id == others.c.id))
    beside = sa.exists().where(
        others.c.version_id == cells.c.version_id, same_link, others.c.mode != cells.c.mode, stored
    )
    query = (
        sa.select(
            cells.c.id,
            cells.c.waiting_n,
            cells.c.waiting,
            SurveyVersion.reports,
            sa.func.coalesce(removals.c.n, 0).label("leaving"),
            sealed.label("sealed"),
            sa.or_(sealed, beside).label("held"),
        )
        .join(SurveyVersion, SurveyVersion.id == cells.c.version_id)
        .outerjoin(removals, removals.c.cell_id == cells.c.id)
        .where(sa.or_(cells.c.waiting_n > 0, removals.c.n > 0, sealed))
        .order_by(cells.c.id)
    )
    return connection.execute(query).all()


def _hide_few(
    connection: sa.Connection, survey_id: int, cells: Sequence[Any], minimum: int
) -> tuple[Collection[int], Mapping[int, Mapping[int, int]]]:
    """What has to be hidden where some are too few to be told alone, and nothing is new elsewhere.

    Either the cells whose few responses wait for good, or those that hide some of what was shown, with
    `choose_hidden` of each.
    """
    few = {cell.id: cell.waiting_n for cell in cells if not cell.held and 0 < cell.waiting_n < minimum}
    still = [cell.id for cell in cells if cell.sealed and cell.waiting_n < minimum and not cell.leaving]
    if not few or not still:
        return (), {}
    hidden = {cell: choose_hidden(connection, survey_id, cell, minimum) for cell in still}
    if sum(few.values()) <= sum(sum(numbers.values()) for numbers in hidden.values()):
        return few, {}
    return (), hidden
