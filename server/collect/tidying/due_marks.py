"""What is due: surveys that were closed or deleted, and those whose time is over."""

from dataclasses import dataclass
from datetime import date, datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.collect import acceptance
from server.store.engines import open_session
from server.store.models import State, Survey, Untidied
from server.study import surveys


@dataclass(frozen=True)
class Due:
    """What is to be tidied: a survey that is closed, one that is gone, or what all of them share.

    Attributes
    ----------
    survey_id : int or None
        None for what all surveys share.
    marks : frozenset of int
        That were set when it was begun. A mark that comes later means that it is due once more.
    kept : bool
        Whether the survey is still there.
    rewritten : bool
        Whether only the database's log is left to do.
    """

    survey_id: int | None
    marks: frozenset[int]
    kept: bool
    rewritten: bool = False


@dataclass(frozen=True)
class TidyState:
    """What a page says of a closed survey: since when it is due, or the day on which it was finished.

    Neither is known of a survey that is not closed. `rewritten` where only the database's log is left to do.
    """

    since: datetime | None
    rewritten: bool
    tidied_on: date | None


def list_due(session: Session) -> list[Due]:
    """Everything that is to be tidied, the oldest first."""
    found: dict[int | None, list[Untidied]] = {}
    for mark in session.scalars(sa.select(Untidied).order_by(Untidied.id)):
        found.setdefault(mark.survey_id, []).append(mark)
    there = set(session.scalars(sa.select(Survey.id)))
    return [
        Due(
            survey_id,
            frozenset(mark.id for mark in marks),
            survey_id in there,
            all(mark.rewritten for mark in marks),
        )
        for survey_id, marks in found.items()
    ]


def is_due(session: Session, now: datetime) -> bool:
    """Whether something is to be tidied, or the time of an open survey is over."""
    query = sa.select(sa.exists().where(Untidied.id.is_not(None)) | sa.exists().where(_over(now)))
    return bool(session.scalar(query))


def close_over(session: Session, now: datetime) -> None:
    """Close the surveys whose time is over; tidying is due once this is committed."""
    for survey in session.scalars(sa.select(Survey).where(_over(now)).order_by(Survey.id).with_for_update()):
        acceptance.close_survey(survey)


def state_of(session: Session, survey: Survey) -> TidyState:
    """How far a survey's tidying is."""
    marks = sa.select(Untidied).where(Untidied.survey_id == survey.id).order_by(Untidied.id)
    mark = session.scalars(marks).first()
    if mark is not None:
        return TidyState(mark.since, mark.rewritten, None)
    return TidyState(None, False, survey.tidied_on)


def list_untidied(session: Session) -> set[int]:
    """The ids of surveys, there or gone, that are still to be tidied."""
    return set(session.scalars(sa.select(Untidied.survey_id).where(Untidied.survey_id.is_not(None))))


def may_remain(session: Session) -> bool:
    """Whether the files may still hold something of a survey that was deleted."""
    gone = ~sa.exists().where(Survey.id == Untidied.survey_id)
    return bool(session.scalar(sa.select(sa.exists().where(Untidied.survey_id.is_not(None), gone))))


def is_unchanged(session: Session | sa.Connection, work: Due) -> bool:
    """Whether nothing was marked since the work began; keeps others from doing so until the transaction ends."""
    session.execute(sa.select(Survey.id).where(Survey.id == work.survey_id).with_for_update())
    marks = session.scalars(sa.select(Untidied.id).where(Untidied.survey_id == work.survey_id))
    return frozenset(marks) == work.marks


CHANGED = "codes were withdrawn, or what is counted was put right, meanwhile"
"""Why what was begun does not stand."""


def finish(engine: sa.Engine, work: Due) -> None:
    """Note that it is done."""
    with open_session(engine, writes=True) as session, session.begin():
        if work.kept:
            query = sa.update(Survey).where(Survey.id == work.survey_id)
            session.execute(query.values(tidied_on=surveys.today()))
        session.execute(sa.delete(Untidied).where(Untidied.id.in_(work.marks)))


def note_rewritten(engine: sa.Engine, work: Due) -> None:
    """Note that only the database's log is left to do."""
    _note(engine, work, rewritten=True)


def note_reason(engine: sa.Engine, work: Due, reason: str) -> None:
    """Note what was in the way."""
    _note(engine, work, reason=reason)


def _note(engine: sa.Engine, work: Due, **values: object) -> None:
    with open_session(engine, writes=True) as session, session.begin():
        session.execute(sa.update(Untidied).where(Untidied.id.in_(work.marks)).values(**values))


def _over(now: datetime) -> sa.ColumnElement[bool]:
    return sa.and_(Survey.state == State.OPEN, Survey.closes_at <= now)
