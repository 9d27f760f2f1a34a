"""Revisions: a number for each survey that the database raises with every change of what its links show.

Triggers raise it, so that no code can forget to: on surveys, their versions and their strata. A cap that
fills is the one change that no such row tells of; `raise_revisions` stands for it.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from flask import request

from server.models import Revision, Survey

KEEPING = "moneda.keeping"
"""The name, in the environment of a request, under which `Keeping` comes along where an answer may be kept."""

# Written once: building these takes longer than running them.
_READ = sa.select(Revision.survey_id, Revision.number).where(
    Revision.survey_id.in_(sa.bindparam("ids", expanding=True))
)
_RAISE = (
    sa.update(Revision)
    .where(Revision.survey_id.in_(sa.bindparam("ids", expanding=True)))
    .values(number=Revision.number + 1)
)


@dataclass
class Keeping:
    """What a page says of itself to whoever may keep it: of which survey it is, and until when it holds at most."""

    survey_id: int | None = None
    until: datetime | None = None


def allow_keeping(survey: Survey, now: datetime) -> None:
    """Say that the answer to this request holds until the survey changes, or one of its times passes."""
    keeping = request.environ.get(KEEPING)
    if keeping is not None:
        times = [time for time in (survey.opens_at, survey.closes_at) if time is not None and time > now]
        keeping.survey_id, keeping.until = survey.id, min(times, default=None)


def read_revisions(connection: sa.Connection, survey_ids: Collection[int]) -> dict[int, int]:
    """The revisions of surveys; those that were deleted are left out."""
    rows = connection.execute(_READ, {"ids": list(survey_ids)})
    return {survey_id: number for survey_id, number in rows}


def raise_revisions(connection: sa.Connection, survey_ids: Collection[int]) -> None:
    """Note a change of what the links of surveys show."""
    connection.execute(_RAISE, {"ids": list(survey_ids)})
