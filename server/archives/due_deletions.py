"""What of closed surveys is due to be deleted because time has passed goes: rows, then counts, then the rest.

The one job of the server does it, and whoever opens the database to serve it or for a command, before anything is
answered: so it is with a backup that was restored. A survey whose closing time went by while no server ran is closed
first. From the first transaction on nothing of a part is shown to anybody (`Survey.deleted`); then its rows go in
pieces, between which others have their turn; the last transaction finds none left and writes into the log that it was
deleted. So a part that the log says nothing of is one that somebody began, and whoever comes next goes on with it.
Tidying then leaves nothing of it in files.
"""

from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.collect import acceptance
from server.collect.tidying import Patience, leave_turn
from server.collect.untidied_surveys import mark_untidied
from server.people import change_log
from server.people.change_log import Action
from server.reports.admission import ADMITTING
from server.store import own_tables
from server.store.engines import open_session
from server.store.models import (
    AcceptedCode,
    AuditEntry,
    ColleagueInvitation,
    Draft,
    InvitationBatch,
    KeptReply,
    State,
    Survey,
    TicketKey,
    Untidied,
    Webhook,
)
from server.study import surveys
from server.study.retention import PART_NAMES, Deleted, retention_of

_OWN = {
    Deleted.ROWS: (own_tables.RESPONSES, own_tables.WITHDRAWALS),
    Deleted.COUNTS: (own_tables.REMOVALS, own_tables.BATCHES, own_tables.CELLS, own_tables.COUNTERS),
    Deleted.REST: (own_tables.INVITATIONS, own_tables.PURCHASES, own_tables.TICKETS),
}
"""Tables of the survey's own, what refers to others first."""
_SHARED = (InvitationBatch, TicketKey, AcceptedCode, Webhook, ColleagueInvitation, KeptReply)
PIECE = 2_000
"""Rows at most that are deleted in one transaction."""
PIECE_BYTES = 1 << 20
"""The same of what is counted, unless a single row has more: up to 4 MB."""
_SAID = {
    Deleted.ROWS: Action.ROWS_DELETED,
    Deleted.COUNTS: Action.COUNTS_DELETED,
    Deleted.REST: Action.REST_DELETED,
}


def are_due(session: Session, now: datetime) -> bool:
    """Whether something of a survey is to be deleted."""
    return any(True for _ in _find_due(session, now))


def delete_due(engine: sa.Engine, now: datetime, patience: Patience) -> None:
    """Delete what is due, in transactions of its own; tidying is due then.

    Raises
    ------
    UnfinishedError
        If somebody wants it to stop, as `Patience.go_on`: what is left is still due.
    """
    with open_session(engine, writes=False) as session:
        numbers = [survey.id for survey in _find_due(session, now)]
    for number in numbers:
        while (part := _begin_part(engine, number, now)) is not None:
            while not _finish_part(engine, number, part):
                for kind in _OWN[part]:
                    _delete_rows(engine, kind, number, patience)


def list_unfinished(session: Session) -> set[int]:
    """Surveys of which a part is being deleted: some of its rows may still be there."""
    return set(session.scalars(sa.select(Survey.id).where(_UNFINISHED)))


def list_deleted(session: Session, survey: Survey) -> list[tuple[str, date, int]]:
    """What the server has deleted of a survey: its name, on which day (UTC), and for how many days it is kept."""
    logged = sa.select(AuditEntry.action, AuditEntry.at).where(AuditEntry.survey_id == survey.id)
    moments = {action: at for action, at in session.execute(logged.order_by(AuditEntry.id))}
    planned = zip(_SAID.values(), PART_NAMES, retention_of(survey).days, strict=False)
    return [(name, moments[action].date(), days) for action, name, days in planned if action in moments]


_UNFINISHED = (
    sa.select(sa.func.count())
    .where(AuditEntry.survey_id == Survey.id, AuditEntry.action.in_(_SAID.values()))
    .scalar_subquery()
    < Survey.deleted
)
"""A part of a survey was begun, and the log does not say yet that it is gone."""


def _find_due(session: Session, now: datetime) -> Iterator[Survey]:
    """Those with a part whose days are over, or that was begun.

    Few have any days: they are added here, not by the database.
    """
    limited = sa.or_(
        Survey.keep_rows.is_not(None), Survey.keep_counts.is_not(None), Survey.keep_rest.is_not(None)
    )
    over = sa.and_(Survey.state == State.OPEN, Survey.closes_at <= now)
    ended = sa.and_(sa.or_(Survey.state == State.CLOSED, over), Survey.arriving_until.is_(None), limited)
    query = sa.select(Survey, _UNFINISHED).where(ended, sa.or_(Survey.deleted < Deleted.REST, _UNFINISHED))
    for survey, unfinished in session.execute(query.order_by(Survey.id)):
        if unfinished or _is_due(survey, now):
            yield survey


def _is_due(survey: Survey, now: datetime) -> bool:
    """Whether the days of a part that nobody began are over: from closing, or from a closing time that went by."""
    closed_at = survey.closed_at or surveys.find_closing(survey.closes_at, now)
    return retention_of(survey).find_due(closed_at, now) > survey.deleted


def _lock(session: Session, number: int) -> tuple[Survey, bool] | None:
    """A survey that nobody else changes until the transaction ends, as it is now, and whether a part was begun."""
    locked = sa.select(Survey).where(Survey.id == number).with_for_update()
    survey = session.scalars(locked, execution_options={"populate_existing": True}).first()
    if survey is None:
        return None
    return survey, bool(session.scalar(sa.select(_UNFINISHED).where(Survey.id == number)))


def _begin_part(engine: sa.Engine, number: int, now: datetime) -> Deleted | None:
    """The part of a survey whose rows go next, of which nothing is shown from now on; None where none is due."""
    with open_session(engine, writes=True) as session, session.begin():
        found = _lock(session, number)
        if found is None:
            return None
        survey, unfinished = found
        if not unfinished:
            if not _is_due(survey, now):
                return None
            acceptance.close_survey(survey)
            survey.deleted += 1
            if survey.deleted == Deleted.REST:
                _delete_shared(session, survey)
        return Deleted(survey.deleted)


def _delete_shared(session: Session, survey: Survey) -> None:
    """What tables that all surveys share hold of one: little, whatever it was answered by."""
    for model in _SHARED:
        session.execute(sa.delete(model).where(model.survey_id == survey.id))
    session.execute(sa.delete(Draft).where(Draft.survey_id == survey.id, Draft.number != survey.draft_number))
    kept = AuditEntry.action.in_([*_SAID.values(), Action.RETENTION_SET, *ADMITTING])
    session.execute(sa.delete(AuditEntry).where(AuditEntry.survey_id == survey.id, ~kept))
    session.add(Untidied(since=surveys.now()))


def _delete_rows(engine: sa.Engine, kind: own_tables.TableKind, number: int, patience: Patience) -> None:
    """The rows of a table, in the order of their keys, which are random."""
    last: Any = None
    while True:
        patience.go_on()
        with leave_turn(), open_session(engine, writes=True) as session, session.begin():
            # Where the survey was deleted as a whole, its tables may be gone as well.
            last = _delete_piece(session, kind, number, last) if _lock(session, number) else None
        if last is None:
            return


def _delete_piece(session: Session, kind: own_tables.TableKind, number: int, last: Any) -> Any:
    """Delete some rows after this key, and return the last one's; None where there were none."""
    table = own_tables.table(kind, number)
    key = next(iter(table.c))
    size = sa.func.length(table.c[kind.large]) if kind.large else sa.literal(0)
    after = key > last if last is not None else sa.true()
    end, left = None, PIECE_BYTES
    for found, length in session.execute(sa.select(key, size).where(after).order_by(key).limit(PIECE)):
        if end is not None and length > left:
            break
        end, left = found, left - length
    if end is not None:
        session.execute(sa.delete(table).where(after, key <= end))
    return end


def _finish_part(engine: sa.Engine, number: int, part: Deleted) -> bool:
    """Say in the log that a part is gone, if it is; another process may have done so, or tidying brought rows back."""
    with open_session(engine, writes=True) as session, session.begin():
        found = _lock(session, number)
        if found is None or not found[1]:
            return True
        tables = [own_tables.table(kind, number) for kind in _OWN[part]]
        if any(session.scalar(sa.select(sa.exists().select_from(table))) for table in tables):
            return False
        change_log.record(session, None, _SAID[part], found[0])
        mark_untidied(session, number)
        return True
