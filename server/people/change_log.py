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
from server.store.models import AuditEntry, Researcher, Survey

SITTING = timedelta(minutes=15)
"""Changes of a draft by one researcher that follow within this time are one entry."""


class Action(StrEnum):
    """What can be done. The value is stored; `SENTENCES` says it."""

    SURVEY_CREATED = "survey created"
    DRAFT_CHANGED = "draft changed"
    STUDY_CHANGED = "study sheet changed"
    PUBLISHED = "published"
    CLOSED = "closed"
    SURVEY_COPIED = "survey copied"
    SURVEY_IMPORTED = "survey imported"
    EXPORTED = "exported"
    RIGHT_GIVEN = "right given"
    ARCHIVED = "archived"
    TAKEN_OUT = "taken out of the archive"
    DELETED = "survey deleted"
    RETENTION_SET = "retention set"
    ROWS_DELETED = "rows deleted"
    COUNTS_DELETED = "counts deleted"
    REST_DELETED = "rest deleted"
    STRATA_ADDED = "strata added"
    STRATA_CHANGED = "strata changed"
    POPULATION_CHANGED = "population changed"
    STRATUM_MOVED = "stratum moved"
    STRATUM_REMOVED = "stratum removed"
    OPENING_SET = "opening set"
    OPENING_REMOVED = "opening removed"
    CLOSING_SET = "closing set"
    CLOSING_REMOVED = "closing removed"
    ZONE_SET = "time zone set"
    CAP_SET = "cap set"
    CAP_REMOVED = "cap removed"
    MINIMUM_SET = "minimum set"
    BY_INVITATION = "by invitation"
    BY_LINK = "by link"
    OFFLINE_ALLOWED = "offline allowed"
    OFFLINE_FORBIDDEN = "offline forbidden"
    NOTES_LEFT_OUT = "notes left out"
    NOTES_KEPT = "notes kept"
    WORK_ASKED = "work asked for"
    WORK_NOT_ASKED = "work not asked for"
    TICKETS_ON = "tickets on"
    TICKETS_OFF = "tickets off"
    COMPLETIONS_ON = "completion codes on"
    COMPLETIONS_OFF = "completion codes off"
    COMPLETIONS_CHECKED = "completion codes checked"
    TABLET_ALLOWED = "tablet allowed"
    TABLET_FORBIDDEN = "tablet forbidden"
    STRATUM_BY_INVITATION = "stratum by invitation"
    STRATUM_BY_LINK = "stratum by link"
    STRATUM_AS_ABOVE = "stratum as above"
    LINKS_REPLACED = "links replaced"
    INVITATIONS_ISSUED = "invitations issued"
    INVITATIONS_WITHDRAWN = "invitations withdrawn"
    SHEETS_KEYED = "sheets keyed in"
    PAUSED = "paused"
    RESUMED = "resumed"
    BUDGET_SET = "budget set"
    RELEASED = "released"
    DECLARED = "declared as spent"
    SEARCH_OPENED = "search opened"
    SEARCH_ASKED = "search asked"
    REPORT_LINKED = "public report linked"
    REPORT_UNLINKED = "public report unlinked"
    MEMBER_INVITED = "member invited"
    MEMBER_JOINED = "member joined"
    ROLE_CHANGED = "role changed"
    MEMBER_REMOVED = "member removed"
    HANDED_OVER = "handed over"
    INVITATION_WITHDRAWN = "invitation withdrawn"
    COLLEAGUE_INVITED = "colleague invited"
    COLLEAGUE_JOINED = "colleague joined"
    COLLEAGUE_ADDED = "colleague added"
    COLLEAGUE_DISABLED = "colleague disabled"
    COLLEAGUE_ENABLED = "colleague enabled"
    ADMINISTRATOR_MADE = "administrator made"
    ADMINISTRATOR_UNMADE = "administrator unmade"
    LINK_GIVEN = "sign-in link given"
    LINK_USED = "sign-in link used"
    CODES_RESET = "codes reset"
    ACCOUNT_CHANGED = "account changed"
    PASSWORD_CHOSEN = "password chosen"  # noqa: S105 - names what was done
    CODES_ON = "codes turned on"
    CODES_OFF = "codes turned off"
    RECOVERY_RENEWED = "recovery codes renewed"
    RECOVERY_USED = "recovery code used"
    SIGN_IN_ENDED = "sign-in ended"
    OTHERS_ENDED = "other sign-ins ended"
    TOKEN_MADE = "token made"  # noqa: S105 - names what was done
    TOKEN_REVOKED = "token revoked"  # noqa: S105
    WEBHOOK_MADE = "webhook made"
    WEBHOOK_TRIED = "webhook tried"
    WEBHOOK_REVOKED = "webhook revoked"


BY_SERVER = frozenset({Action.ROWS_DELETED, Action.COUNTS_DELETED, Action.REST_DELETED})
"""What nobody does: the server, as a survey's settings say."""
SENTENCES = {
    Action.SURVEY_CREATED: N_("created the survey"),
    Action.DRAFT_CHANGED: N_("changed the draft"),
    Action.STUDY_CHANGED: N_("changed the study sheet: %(fields)s"),
    Action.PUBLISHED: N_("published version %(version)s"),
    Action.CLOSED: N_("closed the survey"),
    Action.SURVEY_COPIED: N_("made the survey as a copy of another one"),
    Action.SURVEY_IMPORTED: N_("imported the survey from another Moneda"),
    Action.EXPORTED: N_("exported everything"),
    Action.RIGHT_GIVEN: N_(
        "gave a right to release with an export: %(kind)s, ε = %(epsilon)s, server %(server)s"
    ),
    Action.ARCHIVED: N_("put the survey into the archive"),
    Action.TAKEN_OUT: N_("took the survey out of the archive"),
    Action.DELETED: N_("deleted the survey %(slug)s for good"),
    Action.RETENTION_SET: N_(
        "set after how many days from closing the server deletes: rows %(rows)s, counts %(counts)s, "
        "everything but releases %(rest)s"
    ),
    Action.ROWS_DELETED: N_("deleted each response as a row of its own, as its days were over"),
    Action.COUNTS_DELETED: N_("deleted the counts of responses, as their days were over"),
    Action.REST_DELETED: N_(
        "deleted everything but releases and what it takes to read them, as its days were over; of this log that is "
        "who was let in, and what was deleted"
    ),
    Action.STRATA_ADDED: N_("added strata: %(count)s"),
    Action.STRATA_CHANGED: N_("changed names or populations of strata: %(count)s"),
    Action.POPULATION_CHANGED: N_("changed the population of %(stratum)s from %(old)s to %(new)s"),
    Action.STRATUM_MOVED: N_("moved the stratum %(stratum)s"),
    Action.STRATUM_REMOVED: N_("deleted the stratum %(stratum)s and those below it"),
    Action.OPENING_SET: N_("set the opening time: %(time)s UTC"),
    Action.OPENING_REMOVED: N_("removed the opening time"),
    Action.CLOSING_SET: N_("set the closing time: %(time)s UTC"),
    Action.CLOSING_REMOVED: N_("removed the closing time"),
    Action.ZONE_SET: N_("set the time zone: %(zone)s"),
    Action.CAP_SET: N_("set the number of responses after which it is full: %(number)s"),
    Action.CAP_REMOVED: N_("let any number of responses in"),
    Action.MINIMUM_SET: N_("set the smallest group shown: %(number)s"),
    Action.BY_INVITATION: N_("let people in by invitation only"),
    Action.BY_LINK: N_("let everybody in who has the link"),
    Action.OFFLINE_ALLOWED: N_("let the survey be answered without a network"),
    Action.OFFLINE_FORBIDDEN: N_("let the survey be answered with a network only"),
    Action.NOTES_LEFT_OUT: N_("let devices keep no note that the survey was answered"),
    Action.NOTES_KEPT: N_("let devices keep a note that the survey was answered"),
    Action.WORK_ASKED: N_("had devices work against robots before an open link takes their response"),
    Action.WORK_NOT_ASKED: N_("let open links take responses without work against robots"),
    Action.TICKETS_ON: N_("let codes buy tickets, and tickets let responses in"),
    Action.TICKETS_OFF: N_("let codes let responses in by themselves"),
    Action.COMPLETIONS_ON: N_("gave everybody who finishes a code of their own"),
    Action.COMPLETIONS_OFF: N_("gave nobody who finishes a code of their own any more"),
    Action.COMPLETIONS_CHECKED: N_("checked completion codes: %(count)s were good"),
    Action.TABLET_ALLOWED: N_("let many people answer on one tablet"),
    Action.TABLET_FORBIDDEN: N_("let nobody hand one tablet round any more"),
    Action.STRATUM_BY_INVITATION: N_("let people into %(stratum)s by invitation only"),
    Action.STRATUM_BY_LINK: N_("let everybody into %(stratum)s who has its link"),
    Action.STRATUM_AS_ABOVE: N_("let people into %(stratum)s as into the part around it, or the survey"),
    Action.LINKS_REPLACED: N_("closed the links there were, and made new ones: %(count)s"),
    Action.INVITATIONS_ISSUED: N_("issued codes for invitations: %(count)s (%(label)s)"),
    Action.INVITATIONS_WITHDRAWN: N_("withdrew the codes that were not used: %(label)s"),
    Action.SHEETS_KEYED: N_("keyed in sheets of paper of version %(version)s"),
    Action.PAUSED: N_("paused the survey"),
    Action.RESUMED: N_("resumed the survey"),
    Action.BUDGET_SET: N_("set the budget for releases: ε = %(epsilon)s, δ = %(delta)s"),
    Action.RELEASED: N_("made release %(number)s, which spent ε = %(epsilon)s"),
    Action.DECLARED: N_("declared ε = %(epsilon)s as spent elsewhere"),
    Action.SEARCH_OPENED: N_("opened search %(number)s, which spent ε = %(epsilon)s"),
    Action.SEARCH_ASKED: N_("asked search %(number)s about %(question)s"),
    Action.REPORT_LINKED: N_("made a link to the public report"),
    Action.REPORT_UNLINKED: N_("revoked the link to the public report"),
    Action.MEMBER_INVITED: N_("invited %(name)s as %(role)s"),
    Action.MEMBER_JOINED: N_("accepted the invitation as %(role)s"),
    Action.ROLE_CHANGED: N_("changed the role of %(name)s to %(role)s"),
    Action.MEMBER_REMOVED: N_("removed %(name)s from the survey"),
    Action.HANDED_OVER: N_("handed the survey over to %(name)s"),
    Action.INVITATION_WITHDRAWN: N_("withdrew the invitation for %(name)s"),
    Action.COLLEAGUE_INVITED: N_("invited %(name)s"),
    Action.COLLEAGUE_JOINED: N_("made an account, invited by %(name)s"),
    Action.COLLEAGUE_ADDED: N_("added %(name)s"),
    Action.COLLEAGUE_DISABLED: N_("shut %(name)s out"),
    Action.COLLEAGUE_ENABLED: N_("let %(name)s in again"),
    Action.ADMINISTRATOR_MADE: N_("made %(name)s an administrator"),
    Action.ADMINISTRATOR_UNMADE: N_("made %(name)s an administrator no more"),
    Action.LINK_GIVEN: N_("made a sign-in link for %(name)s"),
    Action.LINK_USED: N_("signed in with a one-time link"),
    Action.CODES_RESET: N_("turned the codes of %(name)s off"),
    Action.ACCOUNT_CHANGED: N_("changed their account: %(name)s, signs in as %(login)s"),
    Action.PASSWORD_CHOSEN: N_("chose a new password"),
    Action.CODES_ON: N_("turned codes from an app on"),
    Action.CODES_OFF: N_("turned codes from an app off"),
    Action.RECOVERY_RENEWED: N_("made new recovery codes"),
    Action.RECOVERY_USED: N_("signed in with a recovery code"),
    Action.SIGN_IN_ENDED: N_("ended a sign-in of theirs"),
    Action.OTHERS_ENDED: N_("ended all their other sign-ins"),
    Action.TOKEN_MADE: N_("made a token for the program %(name)s"),
    Action.TOKEN_REVOKED: N_("revoked the token of the program %(name)s"),
    Action.WEBHOOK_MADE: N_("set up a webhook to %(host)s"),
    Action.WEBHOOK_TRIED: N_("had a trial sent to the webhook to %(host)s"),
    Action.WEBHOOK_REVOKED: N_("revoked the webhook to %(host)s"),
}
"""Each action as a sentence about who did it, to be translated; `details` fill its places."""


def record(
    session: Session, researcher: Researcher | None, action: Action, survey: Survey | None, **details: object
) -> None:
    """Write an entry; `researcher` is None on the command line, and in `BY_SERVER`. Details are texts and numbers."""
    who = None if researcher is None else researcher.id
    now = datetime.now(UTC).replace(tzinfo=None)
    written = json.dumps(details, ensure_ascii=False)
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
            and last.details == written
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
            details=written,
        )
    )


def list_entries(
    session: Session, survey: Survey | None, limit: int = 500, before: int | None = None
) -> Sequence[AuditEntry]:
    """What was changed in a survey (None: in accounts and installation), newest first; `before` an entry."""
    which = AuditEntry.survey_id.is_(None) if survey is None else AuditEntry.survey_id == survey.id
    query = sa.select(AuditEntry).where(which).order_by(AuditEntry.id.desc()).limit(limit)
    if before is not None:
        query = query.where(AuditEntry.id < before)
    return session.scalars(query).all()


def details_of(entry: AuditEntry) -> dict[str, Any]:
    """The values that fill the places of its action's sentence."""
    values: dict[str, Any] = json.loads(entry.details)
    return values
