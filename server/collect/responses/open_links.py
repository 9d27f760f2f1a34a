"""What stands behind a link: a survey as it is now, its current version and the link's stratum."""

from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from operator import lt
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.collect import batches
from server.collect.submissions import Submission
from server.config import ProofOfWork
from server.inputs import N_, refuse
from server.people import survey_access
from server.store.models import ClosedLink, Stratum, Survey, SurveyVersion, TicketKey
from server.store.revisions import lock_surveys, read_revisions
from server.study import strata, surveys
from server.study.surveys import Shut, Standing

T = TypeVar("T")

KEPT = 1_000
"""Most links that are remembered; the one that was asked for least recently goes first."""

_PART = sa.orm.aliased(Stratum)
# Written once: building these takes longer than running them.
_LINKED = (
    sa.select(Survey.link, Survey.id, sa.cast(sa.null(), sa.Integer), sa.literal(0))
    .where(Survey.link.in_(sa.bindparam("slugs", expanding=True)))
    .union_all(
        sa.select(Stratum.slug, Stratum.survey_id, Stratum.id, sa.literal(0)).where(
            Stratum.slug.in_(sa.bindparam("slugs", expanding=True))
        ),
        sa.select(ClosedLink.slug, ClosedLink.survey_id, ClosedLink.stratum_id, sa.literal(1)).where(
            ClosedLink.slug.in_(sa.bindparam("slugs", expanding=True))
        ),
    )
)
_SURVEYS = sa.select(*Survey.__table__.c).where(
    Survey.id.in_(sa.bindparam("ids", expanding=True)), survey_access.HAS_ARRIVED
)
_VERSIONS = (
    sa.select(SurveyVersion.survey_id, SurveyVersion.id, SurveyVersion.sha256, SurveyVersion.reports)
    .where(SurveyVersion.survey_id.in_(sa.bindparam("ids", expanding=True)))
    .order_by(SurveyVersion.number)
)
_LEAVES = sa.select(Stratum.id).where(
    Stratum.id.in_(sa.bindparam("ids", expanding=True)), ~sa.exists().where(_PART.parent_id == Stratum.id)
)
_CLOSED = (410, "survey", N_("takes no responses any more; it is closed"))
_REFUSALS: Mapping[Standing | Shut, tuple[int, str, str]] = {
    Standing.CLOSED: _CLOSED,
    Standing.OVER: _CLOSED,
    Standing.FULL: (410, "survey", N_("takes no responses any more; it has as many as it may have")),
    Standing.PAUSED: (423, "survey", N_("takes no responses for the moment; it is paused")),
    Standing.EARLY: (423, "survey", N_("takes no responses yet; it is not open yet")),
    Shut.DIVIDED: (410, "link", N_("takes no responses any more; each part of the group has its own")),
    Shut.REPLACED: (
        410,
        "replaced_link",
        N_("takes no responses any more; it was replaced when invitations were switched on"),
    ),
}


@dataclass(frozen=True)
class ResponseLink:
    """What a link leads to: a survey as it is now, its current version, and the link's stratum.

    `shut` where there are other links in its place: it takes nothing new then.
    `invited` where it asks for a code; one with a `ticket_key`, a modulus, takes a ticket instead, which a code buys.
    `works` where whoever has neither has to have worked.
    """

    survey: sa.Row[Any]
    version: sa.Row[int, int, str, bytes]
    stratum_id: int | None
    shut: Shut | None
    invited: bool
    works: bool
    ticket_key: bytes | None = None


class Links:
    """Finds what stands behind links, and remembers it as long as the survey's revision stays the same.

    A transaction that makes or changes surveys has to use one that no other transaction uses. One that only
    reads may not lock anything: it uses one that `locks` nothing, and has to see one moment (`db.snapshot`).
    """

    def __init__(self, proof_of_work: ProofOfWork = ProofOfWork.OFF, *, locks: bool = True) -> None:
        self._proof_of_work = proof_of_work
        self._locks = locks
        self._known: OrderedDict[str, tuple[int, ResponseLink]] = OrderedDict()

    def look_up(self, connection: sa.Connection, slugs: Collection[str]) -> dict[str, ResponseLink]:
        """What links lead to; those that lead nowhere are left out. On PostgreSQL, locks the surveys."""
        known = {slug: self._known[slug] for slug in slugs if slug in self._known}
        ids = {link.survey.id for _revision, link in known.values()}
        revisions = self._lock(connection, ids)
        found = {
            slug: link
            for slug, (revision, link) in known.items()
            if revisions.get(link.survey.id) == revision
        }
        missing = set(slugs) - found.keys()
        if missing:
            read = self._read(connection, missing)
            # Read only now that they are locked.
            revisions = read_revisions(connection, [link.survey.id for link in read.values()])
            for slug, link in read.items():
                self._known[slug] = revisions[link.survey.id], link
            found |= read
        for slug in found:
            self._known.move_to_end(slug)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        return found

    def _lock(self, connection: sa.Connection, ids: Collection[int]) -> dict[int, int]:
        """On PostgreSQL, lock surveys, in the order of their ids; the revisions of those that exist."""
        return lock_surveys(connection, ids) if self._locks else read_revisions(connection, ids)

    def _read(self, connection: sa.Connection, slugs: Collection[str]) -> dict[str, ResponseLink]:
        # Others no link can have, and a database takes the very question for an error.
        asked = [slug for slug in slugs if slug.isascii() and "\x00" not in slug]
        links = connection.execute(_LINKED, {"slugs": asked}).all()
        ids = list({survey_id for _slug, survey_id, _stratum, _closed in links})
        self._lock(connection, ids)
        found = {survey.id: survey for survey in connection.execute(_SURVEYS, {"ids": ids})}
        versions = {version.survey_id: version for version in connection.execute(_VERSIONS, {"ids": ids})}
        parts = [stratum for _slug, _survey, stratum, _closed in links if stratum]
        leaves: set[int | None] = {None}
        if parts:
            leaves.update(connection.scalars(_LEAVES, {"ids": parts}))
        stated = strata.find_stated(connection, parts) | {None: None}
        invited = {
            slug: strata.asks_for_code(bool(found[survey_id].by_invitation), stated[stratum])
            for slug, survey_id, stratum, _closed in links
            if survey_id in found
        }
        keys = _read_keys(connection, [survey.id for survey in found.values() if survey.tickets])
        return {
            slug: ResponseLink(
                found[survey_id],
                versions[survey_id],
                stratum,
                _shut(stratum not in leaves, bool(closed)),
                invited[slug],
                self._proof_of_work.is_asked(bool(found[survey_id].works)),
                keys.get((survey_id, stratum)) if invited[slug] else None,
            )
            for slug, survey_id, stratum, closed in links
            if survey_id in found and survey_id in versions
        }


def _read_keys(connection: sa.Connection, survey_ids: Collection[int]) -> dict[tuple[int, int | None], bytes]:
    """The moduli of surveys with tickets, by the survey and its link."""
    if not survey_ids:
        return {}
    query = sa.select(TicketKey.survey_id, TicketKey.stratum_id, TicketKey.modulus)
    rows = connection.execute(query.where(TicketKey.survey_id.in_(survey_ids), ~TicketKey.completes))
    return {(survey, stratum): bytes(modulus) for survey, stratum, modulus in rows}


def _shut(divided: bool, closed: bool) -> Shut | None:
    return Shut.REPLACED if closed else Shut.DIVIDED if divided else None


def find(known: Mapping[str, T], slug: str) -> T:
    """What is known of the link with this slug.

    Raises
    ------
    InputError
        If there is none.
    """
    if slug not in known:
        raise refuse(404, "survey", N_("is not known; check the link"))
    return known[slug]


def find_link_standing(link: ResponseLink, now: datetime) -> Standing | Shut:
    """Whether a link takes responses now, and if not, why; a cap that is reached is not looked for."""
    return reason_of(surveys.find_standing(link.survey, now), link.shut)


def check_content(link: ResponseLink, submission: Submission) -> None:
    """Hold a response against the survey's current version.

    Raises
    ------
    InputError
        If it is not taken.
    """
    if submission.version != link.version.sha256:
        raise refuse(
            409,
            "version",
            N_("must be the survey’s current one, %(limit)s; it is %(value)s. Load the page again"),
            limit=link.version.sha256,
            value=submission.version,
        )
    _check_reports(submission.reports, link.version.reports)


def reason_of(standing: Standing, shut: Shut | None) -> Standing | Shut:
    """What is said of a link: that it is shut, unless its survey is over for everybody; a pause will end."""
    return shut if shut is not None and standing not in (Standing.CLOSED, Standing.OVER) else standing


def check_standing(reason: Standing | Shut) -> None:
    """Refuse where a survey, or a link of it, takes no responses.

    Raises
    ------
    InputError
        In the words of each reason.
    """
    if reason in _REFUSALS:
        status, field, message = _REFUSALS[reason]
        raise refuse(status, field, message)


def find_standing(session: Session, survey: Survey, now: datetime) -> Standing:
    """Whether a published survey takes responses now, and if not, why; also whether it is full."""
    found = surveys.find_standing(survey, now)
    return Standing.FULL if found == Standing.OPEN and count_room(session, survey) == 0 else found


def check_room(room: int | None) -> None:
    """Refuse where a survey takes no more responses than it has; None stands for as many as come.

    Raises
    ------
    InputError
        If there is no room.
    """
    if room == 0:
        check_standing(Standing.FULL)


def count_room(session: Session | sa.Connection, survey: Survey | sa.Row[Any]) -> int | None:
    """How many more responses a survey takes; None without a cap."""
    return None if survey.cap is None else find_room(survey, batches.count_accepted(session, survey.id))


def find_room(survey: Survey | sa.Row[Any], accepted: int) -> int:
    """How many more responses a survey with a cap takes, where so many were accepted."""
    return max(int(survey.cap or 0) - accepted, 0)


def _check_reports(reports: bytes, possible: bytes) -> None:
    """Hold the reports against the version: their number, and the range of each."""
    if len(reports) == len(possible) and all(map(lt, reports, possible)):
        return
    if len(reports) != len(possible):
        raise refuse(
            422,
            "reports",
            N_("must have %(limit)d entries, one for each question; it has %(length)d"),
            limit=len(possible),
            length=len(reports),
        )
    for index, (report, number) in enumerate(zip(reports, possible, strict=True)):
        if report >= number:
            raise refuse(
                422,
                f"reports[{index}]",
                N_("must be a whole number from 0 to %(limit)d; it is %(value)d"),
                limit=number - 1,
                value=report,
            )
