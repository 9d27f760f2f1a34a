"""Batches as tallies, one after the other, and how many responses they hold."""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.batches.cells import IS_SHOWN
from server.batches.contents import decode
from server.batches.merging import days_of
from server.models import Batch, Cell, Survey, SurveyVersion
from server.tallies import Tally

Key = tuple[int, int | None]
"""Who answered together: the version's id and the link's stratum, None for the survey's own link."""

_FETCHED = 4
"""Batches that are in memory at once."""

_PLACE = Cell.version_id, Cell.stratum_id


def shown(
    session: Session, survey: Survey, version: SurveyVersion | None = None
) -> Iterator[tuple[Key, Tally]]:
    """The batches of a survey, or of one version, those of a version and stratum one after the other."""
    lengths = {each.id: len(each.reports) for each in survey.versions}
    query = _of(sa.select(*_PLACE, Batch.content).join(Batch, IS_SHOWN), survey, version)
    # From PostgreSQL a few at a time.
    found = session.connection().execute(
        query.order_by(*_PLACE, Batch.id), execution_options={"yield_per": _FETCHED}
    )
    for version_id, stratum, content in found:
        yield (version_id, stratum), decode(content, lengths[version_id])


def waiting(session: Session, survey: Survey) -> Iterator[tuple[Key, Tally]]:
    """The responses to a survey that are in no batch yet; nobody is shown anything that depends on them."""
    lengths = {each.id: len(each.reports) for each in survey.versions}
    query = _of(sa.select(*_PLACE, Cell.waiting).where(Cell.waiting_n > 0), survey)
    for version_id, stratum, strings in session.connection().execute(query.order_by(*_PLACE)):
        yield (version_id, stratum), Tally.of(strings, lengths[version_id])


def shown_sizes(session: Session, survey: Survey) -> dict[Key, int]:
    """How many responses the batches of each version and stratum hold."""
    query = sa.select(*_PLACE, sa.func.sum(Batch.n)).join(Batch, IS_SHOWN)
    return _sums(session, _of(query, survey).group_by(*_PLACE))


def waiting_sizes(session: Session, survey: Survey) -> dict[Key, int]:
    """How many responses to each version and stratum are in no batch yet; nobody is shown anything of it."""
    query = sa.select(*_PLACE, sa.func.sum(Cell.waiting_n)).where(Cell.waiting_n > 0)
    return _sums(session, _of(query, survey).group_by(*_PLACE))


def shown_by_day(session: Session, survey: Survey) -> dict[Key, dict[date, int]]:
    """How many responses of each version and stratum are shown from which day (UTC) on."""
    query = sa.select(*_PLACE, Batch.days).join(Batch, IS_SHOWN)
    found: dict[Key, dict[date, int]] = {}
    for version_id, stratum, days in session.connection().execute(_of(query, survey)):
        total = found.setdefault((version_id, stratum), {})
        for day, number in days_of(days).items():
            total[day] = total.get(day, 0) + number
    return found


def _of(
    query: sa.Select[*tuple[Any, ...]], survey: Survey, version: SurveyVersion | None = None
) -> sa.Select[*tuple[Any, ...]]:
    ids: Sequence[int] = [each.id for each in survey.versions if version is None or each is version]
    return query.where(Cell.version_id.in_(ids))


def _sums(session: Session, query: sa.Executable) -> dict[Key, int]:
    return {(version, stratum): int(n) for version, stratum, n in session.connection().execute(query)}
