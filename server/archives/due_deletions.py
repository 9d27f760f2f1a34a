"""What of closed surveys is due to be deleted because time has passed goes: rows, then counts, then the rest.

The one job of the server does it, and whoever opens the database to serve it or for a command, before anything is
answered: so it is with a backup that was restored. A part goes in the transaction that says so; tidying then leaves
nothing of it in files.
"""

from collections.abc import Iterator
from datetime import date, datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.collect.untidied import mark_untidied
from server.people import change_log
from server.people.change_log import Action
from server.reports.admission import ADMITTING
from server.store import own_tables
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
_SAID = {
    Deleted.ROWS: Action.ROWS_DELETED,
    Deleted.COUNTS: Action.COUNTS_DELETED,
    Deleted.REST: Action.REST_DELETED,
}


def are_due(session: Session, now: datetime) -> bool:
    """Whether something of a survey is to be deleted."""
    return any(True for _ in _find_due(session, now))


def delete_due(session: Session, now: datetime) -> None:
    """Delete what is due; tidying is due once this is committed."""
    for number in [survey.id for survey in _find_due(session, now)]:
        # Another process may have been here first: what is due is read again once nobody else changes it.
        locked = sa.select(Survey).where(Survey.id == number).with_for_update()
        survey = session.scalars(locked, execution_options={"populate_existing": True}).first()
        if survey is None:
            continue
        due = retention_of(survey).find_due(survey.closed_at, now)
        for part in Deleted:
            if survey.deleted < part <= due:
                _delete(session, survey, part)


def list_deleted(session: Session, survey: Survey) -> list[tuple[str, date, int]]:
    """What the server has deleted of a survey: its name, on which day (UTC), and for how many days it is kept."""
    logged = sa.select(AuditEntry.action, AuditEntry.at).where(AuditEntry.survey_id == survey.id)
    moments = {action: at for action, at in session.execute(logged.order_by(AuditEntry.id))}
    planned = zip(_SAID.values(), PART_NAMES, retention_of(survey).days, strict=False)
    return [(name, moments[action].date(), days) for action, name, days in planned if action in moments]


def _find_due(session: Session, now: datetime) -> Iterator[Survey]:
    """Those with a part whose days are over. Few have any: days are added here, not by the database."""
    limited = sa.or_(
        Survey.keep_rows.is_not(None), Survey.keep_counts.is_not(None), Survey.keep_rest.is_not(None)
    )
    query = sa.select(Survey).where(
        Survey.state == State.CLOSED, Survey.deleted < Deleted.REST, Survey.arriving_until.is_(None), limited
    )
    for survey in session.scalars(query.order_by(Survey.id)):
        if retention_of(survey).find_due(survey.closed_at, now) > survey.deleted:
            yield survey


def _delete(session: Session, survey: Survey, part: Deleted) -> None:
    for kind in _OWN[part]:
        session.execute(sa.delete(own_tables.table(kind, survey.id)))
    if part == Deleted.REST:
        for model in _SHARED:
            session.execute(sa.delete(model).where(model.survey_id == survey.id))
        session.execute(
            sa.delete(Draft).where(Draft.survey_id == survey.id, Draft.number != survey.draft_number)
        )
        kept = AuditEntry.action.in_([*_SAID.values(), Action.RETENTION_SET, *ADMITTING])
        session.execute(sa.delete(AuditEntry).where(AuditEntry.survey_id == survey.id, ~kept))
        session.add(Untidied(since=surveys.now()))  # of tables that all surveys share
    survey.deleted = part
    change_log.record(session, None, _SAID[part], survey)
    mark_untidied(session, survey.id)
    session.flush()
