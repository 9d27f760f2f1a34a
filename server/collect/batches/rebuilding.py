"""The books of a survey made anew from its rows, where they differ."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from secrets import SystemRandom
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.collect.batches.cells import CellKey, cell_id
from server.collect.batches.counting import count_stored, set_stored
from server.collect.batches.merging import sum_days
from server.collect.batches.ordering import rows_of_pieces
from server.collect.batches.recounting import Recount, of_cell, recount, rows_in_order
from server.collect.batches.removing import subtract
from server.collect.batches.weeks import decode_days
from server.collect.tallies import Tally
from server.store.models import State, Survey
from server.store.own_tables import batches_of, cells_of, removals_of, responses_of
from server.study.smallest_group import least_kept

_RANDOM = SystemRandom()

_NewCell = tuple[int, Mapping[str, Any] | None, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class NewBooks:
    """The books of cells that differ, made anew, and what they were made from.

    Attributes
    ----------
    found : Recount
        What differed.
    before : tuple
        What the survey and these cells were like then (`_look_at`).
    cells : tuple
        Of each its number, its row, if any response is left, and the rows of its batches.
    """

    found: Recount
    before: tuple[Any, ...]
    cells: tuple[_NewCell, ...]


def rebuild(session: Session, survey: Survey, day: date) -> Recount:
    """Make what differs anew, so that the books agree with the rows; what differed before.

    The caller holds the survey's row, and marks a closed survey as untidied if something differed.
    """
    connection = session.connection()
    found = recount(connection, survey.id)
    _write(connection, survey, found, _count_cells(connection, survey, found, day))
    return found


def make_anew(connection: sa.Connection, survey: Survey, day: date) -> NewBooks:
    """New books of what differs, so that they agree with the rows; nothing is changed.

    Of an open survey, those that waited are shown from now on, and as many as the minimum wait
    instead that were shown: so whoever looks before and after sees no exchange of a few. Of a closed one, those
    that wait for good (`closing`) go on waiting. Those that are shown more than before count from `day` on. The
    caller sees one moment of the database.
    """
    found = recount(connection, survey.id)
    before = _look_at(connection, survey, [difference.key for difference in found.differences])
    return NewBooks(found, before, _count_cells(connection, survey, found, day))


def put_in_place(connection: sa.Connection, survey: Survey, new: NewBooks) -> bool:
    """Whether new books took the place of the old: not where these, or the survey, have changed meanwhile.

    The caller holds the survey's row, and marks a closed survey as untidied if something differed.
    """
    if _look_at(connection, survey, [each.key for each in new.found.differences]) != new.before:
        return False
    _write(connection, survey, new.found, new.cells)
    return True


def _write(connection: sa.Connection, survey: Survey, found: Recount, made: Sequence[_NewCell]) -> None:
    """Put new cells in the place of those that differ, and count as many as there are rows."""
    cells = cells_of(survey.id)
    for number, cell, rows in made:
        connection.execute(sa.delete(cells).where(cells.c.id == number))  # and its batches
        if cell is not None:
            connection.execute(sa.insert(cells).values(cell))
        for row in rows:
            connection.execute(sa.insert(batches_of(survey.id)), row)
    if found.rows != found.counted:
        # As many too few or too many as before; of other cells some may have come since.
        stored = count_stored(connection, survey.id)
        set_stored(connection, survey.id, stored + found.rows - found.counted)


def _look_at(connection: sa.Connection, survey: Survey, keys: Sequence[CellKey]) -> tuple[Any, ...]:
    """What changes as soon as a response to one of these cells comes or leaves, or a batch of it does."""
    cells, batches, removals = cells_of(survey.id).c, batches_of(survey.id).c, removals_of(survey.id).c
    looks: list[Any] = [survey.state, survey.minimum, survey.deleted]
    for number in map(cell_id, keys):
        held = sa.select(batches.id, batches.n, batches.days, sa.func.length(batches.content))
        queries = (
            sa.select(cells.waiting_n, cells.waiting).where(cells.id == number),
            sa.select(removals.n, removals.strings).where(removals.cell_id == number),
            held.where(batches.cell_id == number).order_by(batches.id),
        )
        looks.extend(connection.execute(query).all() for query in queries)
    return tuple(looks)


def _count_cells(
    connection: sa.Connection, survey: Survey, found: Recount, day: date
) -> tuple[_NewCell, ...]:
    """Each cell that differs, as its rows say."""
    lengths = {version.id: len(version.reports) for version in survey.versions}
    keys = [difference.key for difference in found.differences]
    return tuple(_count_anew(connection, survey, key, lengths[key.version_id], day) for key in keys)


def _count_anew(connection: sa.Connection, survey: Survey, key: CellKey, length: int, day: date) -> _NewCell:
    number, rows = cell_id(key), responses_of(survey.id)
    total = (
        connection.scalar(sa.select(sa.func.count()).select_from(rows).where(of_cell(survey.id, key))) or 0
    )
    if not total:
        return number, None, ()
    spared = _waiting(connection, survey.id, key, length)
    kept = least_kept(survey.minimum) if survey.state == State.OPEN else spared.total()
    if survey.state == State.OPEN and total < kept + survey.minimum:
        kept = total if kept else 0
    if survey.state == State.OPEN and total - spared.total() < kept:
        spared = Counter()
    days = _days(connection, survey.id, number, total - kept, day)
    parts = rows_in_order(connection, survey.id, key, length)
    if survey.state == State.OPEN:
        waiting: list[bytes] = []
        chosen = set(_RANDOM.sample(range(total - spared.total()), kept))
        parts = _without(parts, spared, chosen, waiting)
    else:
        waiting = list(spared.elements())
        parts = (rest for part in parts if (rest := subtract(part, spared)).n)
    made = tuple(rows_of_pieces(number, parts, days))
    waits = {"waiting_n": kept, "waiting": b"".join(sorted(waiting))}
    return number, {**key._asdict(), "id": number, **waits}, made


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
