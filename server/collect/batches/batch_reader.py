"""Batches as tallies, one after the other, and how many responses they hold."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.collect.batches.cells import with_batches
from server.collect.batches.encoding import decode
from server.collect.batches.removing import cut
from server.collect.batches.weeks import decode_days, read_week
from server.collect.tallies import Tally
from server.store.models import Mode, Survey, SurveyVersion
from server.store.own_tables import batches_of, cells_of, removals_of

Key = tuple[int, int | None]
"""Who answered together: the version's id and the link's stratum, None for the survey's own link."""

_FETCHED = 4
"""Batches that are in memory at once."""
_TOGETHER = 100
"""Surveys that are asked of at once: SQLite takes no more than 500."""


def read_sealed(
    session: Session, survey: Survey, version: SurveyVersion | None = None, mode: Mode | None = None
) -> Iterator[tuple[Key, Tally]]:
    """The batches of a survey, of one version, or one mode, those of a version and stratum one after the other."""
    for key, _week, tally in read_sealed_weeks(session, survey, version, mode):
        yield key, tally


def read_sealed_weeks(
    session: Session, survey: Survey, version: SurveyVersion | None = None, mode: Mode | None = None
) -> Iterator[tuple[Key, str | None, Tally]]:
    """The same, each with the week that it has, if it has one (`weeks`)."""
    lengths = {each.id: len(each.reports) for each in survey.versions}
    cells, batches = cells_of(survey.id).c, batches_of(survey.id).c
    query = (
        sa.select(cells.version_id, cells.stratum_id, batches.days, batches.content)
        .select_from(with_batches(survey.id))
        .order_by(cells.version_id, cells.stratum_id, batches.id)
    )
    if version is not None:
        query = query.where(cells.version_id == version.id)
    if mode is not None:
        query = query.where(cells.mode == mode)
    # From PostgreSQL a few at a time.
    found = session.connection().execute(query, execution_options={"yield_per": _FETCHED})
    try:
        for version_id, stratum, days, content in found:
            yield (version_id, stratum), read_week(days), decode(content, lengths[version_id])
    except ValueError:
        found.close()  # else it stays open while somebody holds the error, and with it this frame
        raise


def read_waiting(session: Session, survey: Survey) -> Iterator[tuple[Key, Tally]]:
    """The responses to a survey that are in no batch yet; nobody is shown anything that depends on them."""
    lengths = {each.id: len(each.reports) for each in survey.versions}
    cells = cells_of(survey.id).c
    query = (
        sa.select(cells.version_id, cells.stratum_id, cells.waiting)
        .where(cells.waiting_n > 0)
        .order_by(cells.version_id, cells.stratum_id)
    )
    for version_id, stratum, strings in session.connection().execute(query):
        yield (version_id, stratum), Tally.of(strings, lengths[version_id])


def read_removals(session: Session, survey: Survey) -> dict[Key, Counter[bytes]]:
    """The report strings of responses that were taken back and are in batches still, by version and stratum."""
    lengths = {each.id: len(each.reports) for each in survey.versions}
    cells, removals = cells_of(survey.id).c, removals_of(survey.id).c
    query = sa.select(cells.version_id, cells.stratum_id, removals.strings).join_from(
        cells_of(survey.id), removals_of(survey.id), removals.cell_id == cells.id
    )
    found: dict[Key, Counter[bytes]] = {}
    for version_id, stratum, strings in session.connection().execute(query):
        found.setdefault((version_id, stratum), Counter()).update(cut(strings, lengths[version_id]))
    return found


def count_sealed(session: Session, survey: Survey) -> dict[Key, int]:
    """How many responses the batches of each version and stratum hold."""
    cells = cells_of(survey.id).c
    place = cells.version_id, cells.stratum_id
    query = sa.select(*place, sa.func.sum(batches_of(survey.id).c.n)).select_from(with_batches(survey.id))
    return _sums(session, query.group_by(*place))


def count_sealed_by_day(session: Session, survey: Survey) -> dict[Key, dict[date, int]]:
    """How many responses of each version and stratum are shown from which day (UTC) on."""
    found: dict[Key, dict[date, int]] = {}
    for (key, _mode), days in count_sealed_by_day_of(session, [survey])[survey.id].items():
        total = found.setdefault(key, {})
        for day, number in days.items():
            total[day] = total.get(day, 0) + number
    return found


def count_sealed_by_day_of(
    session: Session, surveys: Sequence[Survey]
) -> dict[int, dict[tuple[Key, Mode], dict[date, int]]]:
    """The same of several surveys, by their ids, and apart by how responses were collected.

    One question to the database for every hundred surveys.
    """
    ids = [survey.id for survey in surveys]
    found: dict[int, dict[tuple[Key, Mode], dict[date, int]]] = {survey_id: {} for survey_id in ids}
    for first in range(0, len(ids), _TOGETHER):
        query = sa.union_all(*map(_select_days, ids[first : first + _TOGETHER]))
        for survey_id, version_id, stratum, mode, days in session.connection().execute(query):
            total = found[survey_id].setdefault(((version_id, stratum), Mode(mode)), {})
            for day, number in decode_days(days).items():
                total[day] = total.get(day, 0) + number
    return found


def count_sealed_by_week(session: Session, survey: Survey) -> dict[Key, dict[str | None, int]]:
    """How many responses of each version and stratum are in batches of which week, or of none (`weeks`)."""
    cells, batches = cells_of(survey.id).c, batches_of(survey.id).c
    query = sa.select(cells.version_id, cells.stratum_id, batches.days, batches.n)
    found: dict[Key, dict[str | None, int]] = {}
    for version_id, stratum, days, n in session.connection().execute(
        query.select_from(with_batches(survey.id))
    ):
        total, week = found.setdefault((version_id, stratum), {}), read_week(days)
        total[week] = total.get(week, 0) + n
    return found


def count_ways(session: Session, survey: Survey) -> int:
    """In how many ways a survey's responses are collected: from browsers, and from paper once a batch was keyed in."""
    return len({Mode.BROWSER, *session.scalars(sa.select(cells_of(survey.id).c.mode).distinct())})


def count_sealed_by_mode(session: Session, survey: Survey) -> dict[tuple[Key, Mode], int]:
    """How many responses the batches of each version, stratum and way of collecting hold."""
    cells = cells_of(survey.id).c
    place = cells.version_id, cells.stratum_id, cells.mode
    query = sa.select(*place, sa.func.sum(batches_of(survey.id).c.n)).select_from(with_batches(survey.id))
    found = session.connection().execute(query.group_by(*place))
    return {((version, stratum), Mode(mode)): int(n) for version, stratum, mode, n in found}


def _select_days(survey_id: int) -> sa.Select[Any]:
    """Of a survey, by its id, version, stratum and way of collecting."""
    cells, batches = cells_of(survey_id).c, batches_of(survey_id).c
    number: sa.ColumnElement[int] = sa.literal_column(str(int(survey_id)))
    chosen = sa.select(number, cells.version_id, cells.stratum_id, cells.mode, batches.days)
    return chosen.select_from(with_batches(survey_id))


def _sums(session: Session, query: sa.Executable) -> dict[Key, int]:
    return {(version, stratum): int(n) for version, stratum, n in session.connection().execute(query)}
