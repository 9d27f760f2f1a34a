"""Who was let in: by the link alone, or by invitation, while each version was the newest."""

from collections import defaultdict
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.audit import Action, details_of
from server.models import AuditEntry, Survey

LINK, INVITATION = "link", "invitation"
"""Everybody who has the link; or one response for each code."""


@dataclass(frozen=True)
class Admission:
    """How people were let in to a version.

    Attributes
    ----------
    version : int
    strata : tuple of str or None
        The paths of the strata whose links it is about, "" for the survey's own; None: every link of the survey.
    ways : tuple of str
        `INVITATION`, `LINK`, or both where the setting was switched meanwhile; none where nothing is known.
    known : bool
        False where the survey came from elsewhere, or its log does not reach back: then it may have been
        otherwise before.
    """

    version: int
    strata: tuple[str, ...] | None
    ways: tuple[str, ...]
    known: bool


def admissions(session: Session, survey: Survey) -> tuple[Admission, ...]:
    """Of each published version, the newest first: from the setting as it is, and the log of what switched it."""
    newest = len(survey.versions)
    invited, version, imported = survey.by_invitation, newest, False
    ways: dict[int, set[str]] = defaultdict(set, {newest: {_way(invited)}})
    known: set[int] = set()
    switches = {Action.BY_INVITATION: False, Action.BY_LINK: True}
    entries = session.scalars(
        sa.select(AuditEntry)
        .where(
            AuditEntry.survey_id == survey.id,
            AuditEntry.action.in_([*switches, Action.PUBLISHED, Action.SURVEY_IMPORTED]),
        )
        .order_by(AuditEntry.id.desc())
    ).all()
    for entry in entries:
        action = Action(entry.action)
        if action == Action.SURVEY_IMPORTED:
            imported = True
            break
        if action == Action.PUBLISHED:
            known.add(version)
            version = int(details_of(entry)["version"]) - 1
        else:
            invited = switches[action]
        if version:
            ways[version].add(_way(invited))
    numbers = range(newest, 0, -1)
    if not imported and not any(entry.action in switches for entry in entries):  # it was always as it is
        return tuple(Admission(number, None, (_way(invited),), known=True) for number in numbers)
    return tuple(Admission(number, None, tuple(sorted(ways[number])), number in known) for number in numbers)


def _way(invited: bool) -> str:
    return INVITATION if invited else LINK
