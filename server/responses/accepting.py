"""From well-formed responses to validated, stored rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from server import batches, invitations
from server.batches import CellKey, Group
from server.inputs import N_, InputError, Submission, parse_submission, refuse
from server.models import Response, SurveyVersion
from server.responses.doors import Door, check, check_standing, doors, find, room
from server.revisions import raise_revisions
from server.surveys import Standing

_TABLE = Response.metadata.tables[Response.__tablename__]
# Written once: building these takes longer than running them.
_STORED = (
    sa.select(
        Response.id, Response.reports, SurveyVersion.sha256, SurveyVersion.survey_id, Response.stratum_id
    )
    .join(SurveyVersion, Response.version_id == SurveyVersion.id)
    .where(Response.id.in_(sa.bindparam("ids", expanding=True)))
)
_INSERTS = {
    name: insert(_TABLE).on_conflict_do_nothing(index_elements=[_TABLE.c.id]).returning(_TABLE.c.id)
    for name, insert in (("sqlite", sqlite.insert), ("postgresql", postgresql.insert))
}

_Content = tuple[bytes, str, int, int | None]


class Acceptance(Enum):
    """What became of an accepted response."""

    STORED = 201
    KNOWN = 200


@dataclass(frozen=True)
class Arrival:
    """A well-formed response, and the link that it came by."""

    slug: str
    submission: Submission


def accept(connection: sa.Connection, slug: str, body: bytes, now: datetime) -> Acceptance:
    """Validate and store one response.

    Parameters
    ----------
    connection : Connection
        In a transaction that may write; the caller commits, and acknowledges only then.
    slug : str
        The link: the survey's own, or that of a stratum without parts.
    body : bytes
        The request's body.
    now : datetime
        The moment, in UTC and without a zone. Nothing finer than its day is stored.

    Raises
    ------
    InputError
        With the HTTP status, the field and the message. Nothing was stored, and the
        transaction can go on.
    """
    (outcome,) = accept_all(connection, [Arrival(slug, parse_submission(body))], now)
    if isinstance(outcome, InputError):
        raise outcome
    return outcome


def accept_all(
    connection: sa.Connection, arrivals: Sequence[Arrival], now: datetime
) -> list[Acceptance | InputError]:
    """Validate and store responses; what becomes of each. A refused one leaves the others alone.

    On PostgreSQL surveys, invitations and cells stay locked until the transaction ends: a caller that
    takes several groups in one transaction may stand in the way of another that does.
    """
    found = doors(connection, {arrival.slug for arrival in arrivals})
    # What has a cap takes one group of responses after the other.
    batches.hold(connection, {door.survey.id for door in found.values() if door.survey.cap is not None})
    known = _known(connection, [arrival.submission.id for arrival in arrivals])
    codes = invitations.look_up(connection, [arrival.submission.invitation for arrival in arrivals])
    left: dict[int, int | None] = {}
    outcomes: list[Acceptance | InputError] = []
    taken: dict[bytes, tuple[int, Arrival]] = {}
    for place, arrival in enumerate(arrivals):
        submission = arrival.submission
        try:
            door = find(found, arrival.slug)
            if _is_known(known, door, submission):
                outcomes.append(Acceptance.KNOWN)
                continue
            check(door, submission, now)
            invitations.check(codes, submission.invitation, door.survey, door.stratum_id)
            _take_room(connection, left, door.survey)
        except InputError as error:
            outcomes.append(error)
            continue
        outcomes.append(Acceptance.STORED)
        # The next of this group meets what this one leaves.
        known[submission.id] = _content(door, submission)
        if submission.invitation is not None:
            codes[submission.invitation] = replace(codes[submission.invitation], spent=True)
        taken[submission.id] = place, arrival
    stored = _insert(connection, found, taken, now)
    for response_id in taken.keys() - stored:
        # On PostgreSQL another transaction has committed the same id since it was looked for.
        place, arrival = taken.pop(response_id)
        try:
            _is_known(_known(connection, [response_id]), found[arrival.slug], arrival.submission)
            outcomes[place] = Acceptance.KNOWN
        except InputError as error:
            outcomes[place] = error
    used = [arrival.submission.invitation for _place, arrival in taken.values()]
    invitations.spend(connection, [code for code in used if code is not None])
    _count(connection, found, [arrival for _place, arrival in taken.values()], now)
    grown = {found[arrival.slug].survey.id for _place, arrival in taken.values()}
    filled = {survey_id for survey_id in grown if left[survey_id] == 0}
    if filled:  # from now on their links show another page
        raise_revisions(connection, filled)
    return outcomes


def _known(connection: sa.Connection, ids: Sequence[bytes]) -> dict[bytes, _Content]:
    """What is stored under these ids."""
    rows = connection.execute(_STORED, {"ids": ids})
    return {bytes(row[0]): (bytes(row[1]), row[2], row[3], row[4]) for row in rows}


def _content(door: Door, submission: Submission) -> _Content:
    return submission.reports, submission.version, door.survey.id, door.stratum_id


def _is_known(known: Mapping[bytes, _Content], door: Door, submission: Submission) -> bool:
    """Whether this very response is stored already; an error if its id is, with other content."""
    content = known.get(submission.id)
    if content is not None and content != _content(door, submission):
        raise refuse(409, "id", N_("must be new; another response has it"))
    return content is not None


def _take_room(connection: sa.Connection, left: dict[int, int | None], survey: sa.Row[Any]) -> None:
    """Count one more response of the group; an error if the survey has no room for it."""
    if survey.id not in left:
        left[survey.id] = room(connection, survey)
    number = left[survey.id]
    if number == 0:
        check_standing(Standing.FULL)
    elif number is not None:
        left[survey.id] = number - 1


def _insert(
    connection: sa.Connection,
    found: Mapping[str, Door],
    taken: Mapping[bytes, tuple[int, Arrival]],
    now: datetime,
) -> set[bytes]:
    """Write rows in the order of their ids; the ids of those that were written."""
    rows = [
        {
            "id": response_id,
            "version_id": found[arrival.slug].version.id,
            "reports": arrival.submission.reports,
            "day": now.date(),
            "stratum_id": found[arrival.slug].stratum_id,
        }
        for response_id, (_place, arrival) in sorted(taken.items())
    ]
    if not rows:
        return set()
    return {bytes(written) for written in connection.scalars(_INSERTS[connection.dialect.name], rows)}


def _count(
    connection: sa.Connection, found: Mapping[str, Door], stored: Sequence[Arrival], now: datetime
) -> None:
    """Enter what was stored into the books."""
    reports: dict[str, list[bytes]] = {}
    for arrival in stored:
        reports.setdefault(arrival.slug, []).append(arrival.submission.reports)
    if not reports:
        return
    numbers: dict[int, int] = {}
    groups: dict[CellKey, Group] = {}
    for slug, strings in reports.items():
        survey = found[slug].survey
        numbers[survey.id] = numbers.get(survey.id, 0) + len(strings)
        key = CellKey(found[slug].version.id, found[slug].stratum_id)
        groups[key] = Group(survey.minimum, strings, {now.date(): len(strings)})
    batches.count(connection, numbers)
    batches.add(connection, groups)
