"""Who was let in: by the link alone, or by invitation, while each version was the newest."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.people.change_log import Action, details_of
from server.store.models import AuditEntry, Survey
from server.study import strata
from server.study.strata.tree import SEPARATOR

LINK, INVITATION = "link", "invitation"
"""Everybody who has the link; or one response for each code."""

_SURVEY: Mapping[str, bool] = {Action.BY_INVITATION: True, Action.BY_LINK: False}
_STRATUM: Mapping[str, bool | None] = {
    Action.STRATUM_BY_INVITATION: True,
    Action.STRATUM_BY_LINK: False,
    Action.STRATUM_AS_ABOVE: None,
}
"""What a survey or a stratum says after each."""


ADMITTING = (*_SURVEY, *_STRATUM, Action.PUBLISHED, Action.SURVEY_IMPORTED)
"""Entries of the log that tell who was let in: what is released is read with them."""


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
    """Of each published version, the newest first: from the settings as they are, and the log of what switched them."""
    leaves = strata.list_leaves(strata.tree(session, survey))
    links: dict[int | None, str] = {None: "", **{node.stratum.id: node.path for node in leaves}}
    invited = strata.invited_links(session, survey)
    now = {path: link in invited for link, path in links.items()}
    newest = len(survey.versions)
    entries, imported = _log(session, survey)
    past = _Past(now, survey.by_invitation, entries)
    always = {path: {_way(state)} for path, state in now.items()}
    if not imported and not past.switched:
        return _group_links(dict.fromkeys(range(1, newest + 1), always), newest, known=True)
    if not imported and past.agrees and past.ways.keys() == set(range(1, newest + 1)):
        return _group_links(past.ways, newest, known=True)
    # Strata may have been renamed, or the log does not reach back: what is sure is how it is now.
    return _group_links({newest: always}, newest, known=False)


def _log(session: Session, survey: Survey) -> tuple[Sequence[AuditEntry], bool]:
    """What was published and switched here, in order, and whether the survey came from elsewhere."""
    entries = session.scalars(
        sa.select(AuditEntry)
        .where(AuditEntry.survey_id == survey.id, AuditEntry.action.in_(ADMITTING))
        .order_by(AuditEntry.id)
    ).all()
    return entries, any(entry.action == Action.SURVEY_IMPORTED for entry in entries)


class _Past:
    """What every link asked for while each version was the newest, as the log tells it.

    `agrees` says whether it ends as things are. `ways` are by version and path.
    """

    def __init__(self, now: Mapping[str, bool], invited: bool, entries: Sequence[AuditEntry]) -> None:
        self.switched = False
        self.ways: dict[int, dict[str, set[str]]] = {}
        self._paths = tuple(now)
        self._said: dict[str, bool | None] = {}
        first = next((_SURVEY[entry.action] for entry in entries if entry.action in _SURVEY), None)
        self._whole = invited if first is None else not first
        version = 0
        for entry in entries:
            if entry.action == Action.PUBLISHED:
                version = int(details_of(entry)["version"])
            elif entry.action in _SURVEY:
                self._whole, self.switched = _SURVEY[entry.action], True
            elif entry.action in _STRATUM:
                self._said[details_of(entry)["stratum"]] = _STRATUM[entry.action]
                self.switched = True
            if version:
                ways = self.ways.setdefault(version, {path: set() for path in now})
                for path in now:
                    ways[path].add(_way(self._is_invited(path)))
        self.agrees = all(self._is_invited(path) == state for path, state in now.items())

    def _is_invited(self, path: str) -> bool:
        names = path.split(SEPARATOR)
        around = (SEPARATOR.join(names[:length]) for length in range(len(names), 0, -1))
        return next((said for each in around if (said := self._said.get(each)) is not None), self._whole)


def _group_links(
    ways: Mapping[int, Mapping[str, set[str]]], newest: int, *, known: bool
) -> tuple[Admission, ...]:
    """One for each version and way, with the links that it is about; every link where it is the same for all."""
    found = []
    for version in range(newest, 0, -1):
        alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for path, own in ways.get(version, {"": set()}).items():
            alike[tuple(sorted(own))].append(path)
        found += [
            Admission(version, tuple(paths) if len(alike) > 1 else None, own, known)
            for own, paths in alike.items()
        ]
    return tuple(found)


def _way(invited: bool) -> str:
    return INVITATION if invited else LINK
