"""Days and moments, and whether a survey takes responses at one."""

from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from server.store.models import State, Survey


class Standing(StrEnum):
    """Whether a survey takes responses at a moment, and if not, why."""

    DRAFT = "draft"
    EARLY = "early"
    OPEN = "open"
    PAUSED = "paused"
    FULL = "full"
    OVER = "over"
    CLOSED = "closed"


def today() -> date:
    """The day, in UTC: the finest time that is ever stored with a response."""
    return datetime.now(UTC).date()


def now() -> datetime:
    """The moment, in UTC and without saying so: as the database holds opening and closing times."""
    return datetime.now(UTC).replace(tzinfo=None)


def find_closing(closes_at: datetime | None, moment: datetime) -> datetime:
    """When a survey that is open was closed, if a moment finds it closed: earlier where its closing time went by."""
    return moment if closes_at is None else min(moment, closes_at)


def find_standing(survey: Survey | sa.Row[Any], moment: datetime) -> Standing:
    """Whether a survey takes responses at a moment; `responses.standing` knows its cap too."""
    if survey.state != State.OPEN:
        return Standing(survey.state)
    if survey.closes_at is not None and survey.closes_at <= moment:
        return Standing.OVER
    if survey.paused:
        return Standing.PAUSED
    if survey.opens_at is not None and survey.opens_at > moment:
        return Standing.EARLY
    return Standing.OPEN
