"""The books of a survey made anew from its rows, where they differ."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from datetime import date
from secrets import SystemRandom

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.collect.batches.cells import CellKey, cell_id
from server.collect.batches.counting import set_stored
from server.collect.batches.merging import sum_days
from server.collect.batches.ordering import rows_of_pieces
from server.collect.batches.recounting import Recount, of_cell, recount, rows_in_order
from server.collect.batches.removing import subtract
from server.collect.batches.weeks import decode_days
from server.collect.tallies import Tally
from server.store.models import State, Survey
from server.store.own_tables import batches_of, cells_of, responses_of
from server.study.smallest_group import least_kept

_RANDOM = SystemRandom()


def rebuild(session: Session, survey: Survey, day: date) -> Recount:
    """Make what differs anew, so that the books agree with the rows; what differed before.

    Of an open survey, those that waited are shown from now on, and as many as the minimum wait
    instead that were shown: so whoever looks before and after sees no exchange of a few. Of a closed one, those
    that wait for good (`closing`) go on waiting. Those that are shown more than before count from `day` on. The
    caller holds the survey's row, and marks a closed survey as untidied if something differed.
    """
    connection = session.connection()
    found = recount(connection, survey.id)
    lengths = {version.id: len(version.reports) for version in survey.versions}
    for difference in found.differences:
        _rebuild(connection, survey, difference.key, lengths[difference.key.version_id], day)
    if found.rows != found.counted:
        set_stored(connection, survey.id, found.rows)
    return found


def _rebuild(connection: sa.Connection, survey: Survey, key: CellKey, length: int, day: date) -> None:
    number, rows = cell_id(key), responses_of(survey.id)
    total = (
        connection.scalar(sa.select(sa.func.count()).select_from(rows).where(of_cell(survey.id, key))) or 0
    )
    spared = _waiting(connection, survey.id, key, length)
    kept = least_kept(survey.minimum) if survey.state == State.OPEN else spared.total()
    if survey.state == State.OPEN and total < kept + survey.minimum:
        kept = total if kept else 0
    if survey.state == State.OPEN and total - spared.total() < kept:
        spared = Counter()
    days = _days(connection, survey.id, number, total - kept, day)
    cells = cells_of(survey.id)
    connection.execute(sa.delete(cells).where(cells.c.id == number))  # and its batches
    if not total:
        return
    empty = {"waiting_n": 0, "waiting": b""}
    connection.execute(sa.insert(cells).values({**key._asdict(), "id": number, **empty}))
    parts = rows_in_order(connection, survey.id, key, length)
    if survey.state == State.OPEN:
        waiting: list[bytes] = []
        chosen = set(_RANDOM.sample(range(total - spared.total()), kept))
        parts = _without(parts, spared, chosen, waiting)
    else:
        waiting = list(spared.elements())
        parts = (rest for part in parts if (rest := subtract(part, spared)).n)
    for row in rows_of_pieces(number, parts, days):
        connection.execute(sa.insert(batches_of(survey.id)), row)
    waits = {"waiting_n": kept, "waiting": b"".join(sorted(waiting))}
    connection.execute(sa.update(cells).where(cells.c.id == number).values(waits))


def _waiting(connection: sa.Connection, survey_id: int, key: CellKey, length: int) -> Counter[bytes]:
    """Those among the rows of a cell that waited."""
    cells = cells_of(survey_id).c
    waiting = connection.scalar(sa.select(cells.waiting).where(cells.id == cell_id(key))) or b""
    strings = Counter(waiting[start : start + length] for start in range(0, len(waiting), length))
    reports_of = responses_of(survey_id).c.reports
    query = (
        sa.select(reports_of, sa.func.count())
        .where(of_cell(survey_id, key), reports_of.in_(strings))
        .group_by(reports_of)
    )
    rows = {bytes(reports): number for reports, number in connection.execute(query)}
    return Counter({string: min(number, rows.get(string, 0)) for string, number in strings.items()})


def _without(
    parts: Iterator[Tally], spared: Mapping[bytes, int], chosen: Collection[int], taken: list[bytes]
) -> Iterator[Tally]:
    """Rows in order without those that are chosen, which go to `taken`: by their places among all not spared."""
    place = 0
    for part in parts:
        counts = part.counts.copy()
        for row, pattern in enumerate(part.patterns):
            string = pattern.tobytes()
            free = int(counts[row]) - spared.get(string, 0)
            out = sum(other in chosen for other in range(place, place + free))
            taken.extend([string] * out)
            counts[row] -= out
            place += free
        some = counts > 0
        if some.any():
            yield Tally(part.patterns[some], counts[some])


def _days(connection: sa.Connection, survey_id: int, cell: int, shown: int, day: date) -> dict[date, int]:
    """From which days on so many are shown: from those before as far as they go."""
    batches = batches_of(survey_id).c
    before = connection.scalars(sa.select(batches.days).where(batches.cell_id == cell))
    days = sum_days([decode_days(text) for text in before])
    more = shown - sum(days.values())
    if more > 0:
        days[day] = days.get(day, 0) + more
    elif more < 0:
        for other in _RANDOM.sample(list(days), -more, counts=list(days.values())):
            days[other] -= 1
    return days
