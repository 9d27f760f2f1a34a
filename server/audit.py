"""The log of changes: who did what, and when. Functions take a Session and never commit.

It holds what researchers do. Nothing that a respondent does is ever written here: a time next to
a response would tell who sent it.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.inputs import N_
from server.models import AuditEntry, Researcher, Survey

SITTING = timedelta(minutes=15)
"""Changes of a draft by one researcher that follow within this time are one entry."""


class Action(StrEnum):
    """What can be done. The value is stored; `SENTENCES` says it."""

    SURVEY_CREATED = "survey created"
    DRAFT_CHANGED = "draft changed"
    PUBLISHED = "published"
    CLOSED = "closed"


SENTENCES = {
    Action.SURVEY_CREATED: N_("created the survey"),
    Action.DRAFT_CHANGED: N_("changed the draft"),
    Action.PUBLISHED: N_("published version %(version)s"),
    Action.CLOSED: N_("closed the survey"),
}
"""Each action as a sentence about who did it, to be translated; `details` fill its places."""


def record(
    session: Session, researcher: Researcher | None, action: Action, survey: Survey | None, **details: object
) -> None:
    """Write an entry; `researcher` is None on the command line. Details are texts and numbers."""
    who = None if researcher is None else researcher.id
    now = datetime.now(UTC).replace(tzinfo=None)
    if action == Action.DRAFT_CHANGED and survey is not None:
        last = session.scalars(
            sa.select(AuditEntry)
            .where(AuditEntry.survey_id == survey.id)
            .order_by(AuditEntry.id.desc())
            .limit(1)
        ).first()
        if (
            last is not None
            and last.action == action
            and last.researcher_id == who
            and now - last.at < SITTING
        ):
            last.at = now
            return
    session.add(
        AuditEntry(
            at=now,
            researcher_id=who,
            survey_id=None if survey is None else survey.id,
            action=str(action),
            details=json.dumps(details, ensure_ascii=False),
        )
    )


def entries(session: Session, survey: Survey | None, limit: int = 500) -> Sequence[AuditEntry]:
    """What was changed in a survey (None: in accounts and installation), newest first."""
    which = AuditEntry.survey_id.is_(None) if survey is None else AuditEntry.survey_id == survey.id
    return session.scalars(
        sa.select(AuditEntry).where(which).order_by(AuditEntry.id.desc()).limit(limit)
    ).all()


def details_of(entry: AuditEntry) -> dict[str, Any]:
    """The values that fill the places of its action's sentence."""
    values: dict[str, Any] = json.loads(entry.details)
    return values
