"""The books of a survey put right where they differ from its rows: in pieces, while responses come.

Whoever stores a response, or takes one back, changes rows and books alike, and so not by how much they differ. What one
look finds (`recounting`) can be put right later, piece by piece, whatever has come meanwhile; nobody waits for more
than a piece.

Of an open survey, what is missing is added as responses that come are, and what is too much leaves as responses that
were taken back do (`adding`, `removing`): whoever looks before and after sees no exchange of a few. Where there is much
of it, batches lose as many as the minimum at once, or more. What is added counts from that day on.
"""

import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.collect.batches.adding import Group, add
from server.collect.batches.cells import CellKey, cell_id
from server.collect.batches.counting import count_stored, set_stored
from server.collect.batches.encoding import decode, encode
from server.collect.batches.merging import PIECE, row_of
from server.collect.batches.recounting import Recount, recount
from server.collect.batches.removing import cut, remove, rewrite, subtract
from server.collect.batches.weeks import decode_days
from server.collect.tallies import Tally
from server.collect.untidied_surveys import mark_untidied
from server.store.engines import TakingTurns
from server.store.models import State, Survey
from server.store.own_tables import batches_of, cells_of, removals_of
from server.store.revisions import raise_revisions, read_revisions
from server.study.smallest_group import least_kept

_ADDED = 10_000
"""Most responses that are added at once to those that wait."""
_SURPLUS = 100_000
"""Most responses that are looked for in batches at once."""


class ChangedError(Exception):
    """Somebody else has mended the books meanwhile, or changed the survey: what was found may hold no more."""


def mend(reading: Session, writing: Session, survey_id: int, day: date) -> Recount:
    """Put the books of a survey right, and commit piece by piece; what differed before.

    Parameters
    ----------
    reading : Session
        Sees one moment of the database.
    writing : Session
        Another one, without a transaction so far.
    day : date
        From which on what was missing counts.

    Raises
    ------
    ChangedError
        What was put right until then stays so; the caller begins anew with what is there now.
    """
    connection = reading.connection()
    lengths = {version.id: len(version.reports) for version in reading.get_one(Survey, survey_id).versions}
    pieces = _Pieces(writing, survey_id, read_revisions(connection, [survey_id]), day)
    result = recount(connection, survey_id, report_part=pieces.take)
    pieces.end_cell()
    for difference in result.differences:
        key = difference.key
        _mend_numbers(connection, pieces, survey_id, key, lengths[key.version_id])
    if result.rows != result.counted:
        with pieces.holding() as (held, _survey):
            set_stored(held, survey_id, count_stored(held, survey_id) + result.rows - result.counted)
    return result


class _Pieces:
    """What differs in one cell after the other, until it is as much as is put right at once."""

    def __init__(self, session: Session, survey_id: int, revisions: dict[int, int], day: date) -> None:
        self._session, self._survey_id, self._day = session, survey_id, day
        self._turns = TakingTurns(session)
        self._revisions = revisions
        self._key: CellKey | None = None
        self._missing: list[Tally] = []
        self._surplus: Counter[bytes] = Counter()

    def take(self, key: CellKey, part: Tally) -> None:
        """Report strings of a cell, and how many more of each the rows have than the books."""
        if key != self._key:
            self.end_cell()
            self._key = key
        more = part.counts > 0
        if more.any():
            self._missing.append(Tally(part.patterns[more], part.counts[more]))
        if sum(tally.patterns.size for tally in self._missing) >= PIECE // 4:
            self._add_missing(key)
        for pattern, count in zip(part.patterns[~more], part.counts[~more].tolist(), strict=True):
            self._surplus[pattern.tobytes()] = -count
            if len(self._surplus) >= _SURPLUS:
                self._take_out_surplus(key)

    def end_cell(self) -> None:
        """Put right what is left of a cell."""
        if self._key is not None:
            self._add_missing(self._key)
            self._take_out_surplus(self._key)

    @contextmanager
    def holding(self) -> Iterator[tuple[sa.Connection, Survey]]:
        """The survey, while nobody else changes it or sends anything; what is done is committed."""
        session = self._session
        survey = session.get(Survey, self._survey_id, with_for_update=True, populate_existing=True)
        # Whoever mends the books raises it, as do all who change the survey.
        if survey is None or read_revisions(session.connection(), [self._survey_id]) != self._revisions:
            raise ChangedError
        yield session.connection(), survey
        if survey.state == State.CLOSED:
            mark_untidied(session, self._survey_id)
            session.flush()
        raise_revisions(session.connection(), [self._survey_id])
        self._revisions = read_revisions(session.connection(), [self._survey_id])
        self._turns.after_a_part()
        self._turns.give_way()

    def _add_missing(self, key: CellKey) -> None:
        missing, self._missing = self._missing, []
        while missing:
            with self.holding() as (connection, survey):
                left = self._add_some(connection, survey, key, Tally.join_all(missing))
            missing = [left] if left.n else []

    def _add_some(self, connection: sa.Connection, survey: Survey, key: CellKey, missing: Tally) -> Tally:
        """Add some of what is missing; the rest."""
        missing = _cancel_removals(connection, survey.id, key, missing)
        if not missing.n:
            return missing
        minimum = _minimum(survey)
        if missing.n >= minimum and _keeps_enough(connection, survey, key):
            row = row_of(
                cell_id(key),
                missing.n,
                {self._day: missing.n},
                encode(missing),
                missing.patterns.shape[1],
                merged=True,
            )
            connection.execute(sa.insert(batches_of(survey.id)), row)
            return Tally(missing.patterns[:0], missing.counts[:0])
        ends = np.cumsum(missing.counts)
        places = np.searchsorted(ends, np.arange(min(missing.n, _ADDED)), side="right")
        strings = [missing.patterns[place].tobytes() for place in places]
        add(connection, survey.id, {key: Group(minimum, strings, {self._day: len(strings)}, dated=False)})
        counts = missing.counts - np.bincount(places, minlength=len(missing.counts))
        return Tally(missing.patterns[counts > 0], counts[counts > 0])

    def _take_out_surplus(self, key: CellKey) -> None:
        surplus, self._surplus = self._surplus, Counter()
        if not surplus:
            return
        with self.holding() as (connection, survey):
            batches = batches_of(survey.id).c
            numbers: list[int] = []
            if surplus.total() >= _minimum(survey):
                own = sa.select(batches.id).where(batches.cell_id == cell_id(key)).order_by(batches.id)
                numbers = list(connection.scalars(own))
        for number in numbers:
            if not surplus.total():
                return
            surplus = self._take_out_of_batch(key, number, surplus)
        if rest := list(surplus.elements()):
            with self.holding() as (connection, survey):
                noted = remove(connection, survey.id, key, rest)
                _drop_if_empty(connection, survey.id, key)
                if noted and survey.state != State.OPEN:  # no batch will be sealed that they could leave with
                    raise ChangedError

    def _take_out_of_batch(self, key: CellKey, number: int, surplus: Counter[bytes]) -> Counter[bytes]:
        """Take what is too much out of a batch, where that is as many as the minimum or more; what is left of it."""
        left = Counter(surplus)
        with self.holding() as (connection, survey):
            batch = _lock_batch(connection, survey.id, number)
            if batch is None:
                return surplus
            before = decode(batch.content, len(next(iter(surplus))))
            after = subtract(before, left)
            if before.n - after.n < _minimum(survey):
                return surplus
            days = _fit(decode_days(batch.days), after.n, self._day)
            rewrite(connection, survey.id, batch, after, days)
            _drop_if_empty(connection, survey.id, key)
        return left

    def mend_number(self, number: int, length: int) -> None:
        """Let a batch tell as many as it holds."""
        with self.holding() as (connection, survey):
            batch = _lock_batch(connection, survey.id, number)
            if batch is not None:
                tally = decode(batch.content, length)
                days = _fit(decode_days(batch.days), tally.n, self._day)
                rewrite(connection, survey.id, batch, tally, days)


def _minimum(survey: Survey) -> int:
    return survey.minimum if survey.state == State.OPEN else 1


def _keeps_enough(connection: sa.Connection, survey: Survey, key: CellKey) -> bool:
    """Whether others of a cell wait while some are shown, and none is to leave."""
    cells, removals = cells_of(survey.id).c, removals_of(survey.id).c
    waiting = connection.scalar(sa.select(cells.waiting_n).where(cells.id == cell_id(key)))
    leaving = connection.scalar(sa.select(removals.n).where(removals.cell_id == cell_id(key)))
    return waiting is not None and waiting >= least_kept(_minimum(survey)) and not leaving


def _cancel_removals(connection: sa.Connection, survey_id: int, key: CellKey, missing: Tally) -> Tally:
    """What is missing, but for what is so as it was to leave: that stays, as no batch may hold it."""
    removals = removals_of(survey_id)
    own = removals.c.cell_id == cell_id(key)
    strings = connection.scalar(sa.select(removals.c.strings).where(own))
    if not strings:
        return missing
    left = Counter(cut(strings, missing.patterns.shape[1]))
    rest = subtract(missing, left)
    connection.execute(sa.delete(removals).where(own))
    if left.total():
        row = {"cell_id": cell_id(key), "n": left.total(), "strings": b"".join(sorted(left.elements()))}
        connection.execute(sa.insert(removals).values(row))
    return rest


def _lock_batch(connection: sa.Connection, survey_id: int, number: int) -> sa.Row[Any] | None:
    """A batch; None if it was merged into another one meanwhile."""
    batches = batches_of(survey_id)
    query = sa.select(batches).where(batches.c.id == number).with_for_update()
    return connection.execute(query).one_or_none()


def _fit(days: dict[date, int], number: int, day: date) -> dict[date, int]:
    """From which days on so many are shown: from those before as far as they go, and from this one."""
    more = number - sum(days.values())
    if more > 0:
        days[day] = days.get(day, 0) + more
    elif more < 0:
        # By numbers, not one by one: there may be millions.
        generator = np.random.default_rng(secrets.randbits(128))
        fewer = generator.multivariate_hypergeometric(list(days.values()), -more, method="marginals")
        days = {other: held - int(less) for (other, held), less in zip(days.items(), fewer, strict=True)}
    return days


def _drop_if_empty(connection: sa.Connection, survey_id: int, key: CellKey) -> None:
    """Let nothing be left of a cell that has no responses."""
    cells, batches, removals = cells_of(survey_id), batches_of(survey_id).c, removals_of(survey_id).c
    number = cell_id(key)
    left = sa.exists().where(batches.cell_id == number) | sa.exists().where(removals.cell_id == number)
    connection.execute(sa.delete(cells).where(cells.c.id == number, cells.c.waiting_n == 0, ~left))


def _mend_numbers(reading: sa.Connection, pieces: _Pieces, survey_id: int, key: CellKey, length: int) -> None:
    """Let the numbers that stand beside a cell's strings be those of these strings."""
    cells, batches, removals = cells_of(survey_id), batches_of(survey_id).c, removals_of(survey_id)
    found = sa.select(batches.n, batches.content).where(batches.id == sa.bindparam("number"))
    own = sa.select(batches.id).where(batches.cell_id == cell_id(key))
    for number in reading.scalars(own).all():
        n, content = reading.execute(found, {"number": number}).one()
        if decode(content, length).n != n:
            pieces.mend_number(number, length)
    for table, n, strings, of_cell in (
        (cells, cells.c.waiting_n, cells.c.waiting, cells.c.id),
        (removals, removals.c.n, removals.c.strings, removals.c.cell_id),
    ):
        right = sa.func.length(strings) / length
        wrong = of_cell == cell_id(key), n != right
        if reading.scalar(sa.select(sa.exists().where(*wrong))):
            with pieces.holding() as (connection, _survey):
                connection.execute(sa.update(table).where(*wrong).values({n.name: right}))
                _drop_if_empty(connection, survey_id, key)
