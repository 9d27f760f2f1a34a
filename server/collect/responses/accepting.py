"""From well-formed responses to validated, stored rows."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import NamedTuple

import sqlalchemy as sa

from server.collect import batches, response_codes, tickets
from server.collect.proofs_of_work import check_work
from server.collect.response_codes import Code
from server.collect.responses.open_links import (
    Links,
    ResponseLink,
    check_content,
    check_room,
    check_standing,
    find,
    find_link_standing,
    find_room,
)
from server.collect.responses.storing import StoredKey, find_stored, store
from server.collect.submissions import Submission, parse_submission
from server.collect.tickets import SpentKey
from server.inputs import InputError
from server.store.revisions import raise_revisions


class Acceptance(Enum):
    """What became of an accepted response."""

    STORED = 201
    KNOWN = 200


class Arrival(NamedTuple):
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
    (outcome,) = accept_all(connection, [Arrival(slug, parse_submission(body))], now, Links())
    if isinstance(outcome, InputError):
        raise outcome
    return outcome


def accept_all(
    connection: sa.Connection, arrivals: Sequence[Arrival], now: datetime, links: Links
) -> list[Acceptance | InputError]:
    """Validate and store responses; what becomes of each. A refused one leaves the others alone.

    On PostgreSQL surveys, invitations and cells stay locked until the transaction ends: a caller that
    takes several groups in one transaction may stand in the way of another that does.
    """
    found = links.look_up(connection, {arrival.slug for arrival in arrivals})
    doors = {slug: _LinkRules(link, now) for slug, link in found.items()}
    at_home = [(doors[arrival.slug].survey_id, arrival) for arrival in arrivals if arrival.slug in doors]
    # What has a cap takes one group of responses after the other.
    capped = {link.survey.id: link.survey for link in found.values() if link.survey.cap is not None}
    rooms = {
        survey_id: find_room(survey, batches.lock_accepted(connection, survey_id))
        for survey_id, survey in sorted(capped.items())
    }
    codes = response_codes.claim(
        connection, [(survey, each.submission.invitation) for survey, each in at_home]
    )
    spent = tickets.find_spent(
        connection, [tickets.key_of(survey, each.submission.ticket) for survey, each in at_home]
    )
    group = _Arrivals(arrivals, doors, codes, spent, rooms, now)
    # Storing says which of them were there already. Unless somebody is refused, it makes no difference to anybody what
    # else was: as a rule nobody has to look for that.
    verdict = group.judge(set())
    if len(verdict.taken) < len(arrivals):
        verdict = group.judge(
            find_stored(connection, [(survey, each.submission.id) for survey, each in at_home])
        )
    outcomes, taken = verdict.outcomes, verdict.taken
    rows = [(key, found[arrivals[place].slug], arrivals[place].submission) for key, place in taken.items()]
    stored = store(connection, rows, now)
    if codes:
        used = {(key[0], submission.invitation) for key, _link, submission in rows if key in stored}
        response_codes.give_back_unused(connection, codes, used)
    for key in taken.keys() - stored:
        outcomes[taken.pop(key)] = Acceptance.KNOWN
    filled = {survey for survey, _id in taken if verdict.left.get(survey) == 0}
    if filled:  # from now on their links show another page
        raise_revisions(connection, filled)
    return outcomes


class _LinkRules:
    """What of a link every response that comes by it is held against."""

    def __init__(self, link: ResponseLink, now: datetime) -> None:
        self.link = link
        self.survey_id: int = link.survey.id
        self.stratum_id = link.stratum_id
        self.standing = find_link_standing(link, now)


class _Verdict(NamedTuple):
    """What becomes of a group: of each its outcome, the places of those to be stored, and the room that is left."""

    outcomes: list[Acceptance | InputError]
    taken: dict[StoredKey, int]
    left: dict[int, int]


@dataclass(frozen=True)
class _Arrivals:
    """Responses that are stored together, and what is known of their links, codes and surveys."""

    all: Sequence[Arrival]
    links: Mapping[str, _LinkRules]
    codes: Mapping[tuple[int, str | None], Code]
    spent: Collection[SpentKey]
    rooms: Mapping[int, int]
    now: datetime

    def judge(self, stored: Collection[StoredKey]) -> _Verdict:
        """What becomes of each, where these are stored already, or were taken back.

        Another one with the id of such a one is answered as that would be: whoever has found a receipt could else try
        out what was sent with it.
        """
        known, used, spent, left = (
            set(stored),
            set[tuple[int, str | None]](),
            set(self.spent),
            dict(self.rooms),
        )
        outcomes: list[Acceptance | InputError] = []
        taken: dict[StoredKey, int] = {}
        for place, (slug, submission) in enumerate(self.all):
            try:
                door = find(self.links, slug)
                key = door.survey_id, submission.id
                if key in known:
                    outcomes.append(Acceptance.KNOWN)
                    continue
                check_standing(door.standing)
                # Before the code: whoever brings one that is none learns that no other helps.
                check_room(left.get(door.survey_id))
                check_content(door.link, submission)
                # Without a good code or ticket nothing is stored where they are asked for, nor elsewhere with one.
                brings_any = submission.invitation is not None or submission.ticket is not None
                if door.link.works and not brings_any:
                    check_work(submission.work, slug, submission.id, self.now)
                code = ticket = None
                if brings_any or door.link.invited:  # as a rule nothing is asked for, and nothing comes
                    sent = door.survey_id, submission.invitation
                    code = self.codes.get(sent)
                    if code is not None and sent in used:
                        code = Code(code.stratum_id, spent=True)
                    key_of_link = door.link.ticket_key
                    takes_code = door.link.invited and key_of_link is None
                    response_codes.check(code, submission.invitation, takes_code, door.stratum_id)
                    if submission.ticket is not None or key_of_link is not None:
                        tickets.check(submission.ticket, key_of_link)
                        ticket = tickets.key_of(door.survey_id, submission.ticket)
                        tickets.check_new(ticket, spent)
                if door.survey_id in left:
                    left[door.survey_id] -= 1
            except InputError as error:
                outcomes.append(error)
                continue
            outcomes.append(Acceptance.STORED)
            # The next of this group meets what this one leaves.
            known.add(key)
            if code is not None:
                used.add(sent)
            if ticket is not None:
                spent.add(ticket)
            taken[key] = place
        return _Verdict(outcomes, taken, left)
