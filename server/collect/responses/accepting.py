"""From well-formed responses to validated, stored rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from server.collect import batches, response_codes
from server.collect.batches import CellKey, Group
from server.collect.responses.open_links import Links, ResponseLink, check, check_standing, count_room, find
from server.collect.submissions import Submission, parse_submission
from server.inputs import N_, InputError, refuse
from server.store.models import SurveyVersion
from server.store.own_tables import group_by_survey, responses_of
from server.store.prepared import Prepared, give_several, is_one_of, pick_piece, prepare_several
from server.store.revisions import raise_revisions
from server.study.surveys import Standing

ID_LENGTH = 16
"""Bytes of a response's id."""

_Content = tuple[bytes, str, int | None]
_Key = tuple[int, bytes]
"""The survey's id and the response's: ids are unique within a survey."""


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
    # What has a cap takes one group of responses after the other.
    batches.lock_counters(
        connection, {link.survey.id for link in found.values() if link.survey.cap is not None}
    )
    at_home = [(found[arrival.slug].survey.id, arrival) for arrival in arrivals if arrival.slug in found]
    known = _known(connection, [(survey, arrival.submission.id) for survey, arrival in at_home])
    codes = response_codes.look_up(
        connection, [(survey, each.submission.invitation) for survey, each in at_home]
    )
    left: dict[int, int | None] = {}
    outcomes: list[Acceptance | InputError] = []
    taken: dict[_Key, tuple[int, Arrival]] = {}
    for place, arrival in enumerate(arrivals):
        submission = arrival.submission
        try:
            link = find(found, arrival.slug)
            if _is_known(known, link, submission):
                outcomes.append(Acceptance.KNOWN)
                continue
            check(link, submission, now)
            code = codes.get((link.survey.id, submission.invitation))
            response_codes.check(code, submission.invitation, link.invited, link.stratum_id)
            _take_room(connection, left, link.survey)
        except InputError as error:
            outcomes.append(error)
            continue
        outcomes.append(Acceptance.STORED)
        # The next of this group meets what this one leaves.
        known[link.survey.id, submission.id] = _content(link, submission)
        if code is not None:
            codes[link.survey.id, submission.invitation] = replace(code, spent=True)
        taken[link.survey.id, submission.id] = place, arrival
    stored = _insert(connection, found, taken, now)
    for key in taken.keys() - stored:
        # On PostgreSQL another transaction has committed the same id since it was looked for.
        place, arrival = taken.pop(key)
        try:
            _is_known(_known(connection, [key]), found[arrival.slug], arrival.submission)
            outcomes[place] = Acceptance.KNOWN
        except InputError as error:
            outcomes[place] = error
    used = [(survey, arrival.submission.invitation) for (survey, _id), (_place, arrival) in taken.items()]
    response_codes.spend(connection, [(survey, code) for survey, code in used if code is not None])
    _count(connection, found, [arrival for _place, arrival in taken.values()], now)
    filled = {survey for survey, _id in taken if left[survey] == 0}
    if filled:  # from now on their links show another page
        raise_revisions(connection, filled)
    return outcomes


@lru_cache(maxsize=1024)
def _prepare_statements(survey_id: int, dialect: str) -> Prepared:
    rows = responses_of(survey_id).c
    stored = sa.select(rows.id, rows.reports, SurveyVersion.sha256, rows.stratum_id).join(
        SurveyVersion, rows.version_id == SurveyVersion.id
    )
    return prepare_several(dialect, stored.where(is_one_of(dialect, rows.id, "ids", ID_LENGTH)), "ids")


def _known(connection: sa.Connection, keys: Sequence[_Key]) -> dict[_Key, _Content]:
    """What is stored under these ids."""
    found = {}
    dialect = connection.dialect.name
    for survey, ids in group_by_survey(keys):
        values = {"ids": give_several(dialect, ids)}
        for response_id, reports, sha256, stratum in _prepare_statements(survey, dialect).fetch(
            connection, values
        ):
            found[survey, bytes(response_id)] = bytes(reports), sha256, stratum
    return found


def _content(link: ResponseLink, submission: Submission) -> _Content:
    return submission.reports, submission.version, link.stratum_id


def _is_known(known: Mapping[_Key, _Content], link: ResponseLink, submission: Submission) -> bool:
    """Whether this very response is stored already; an error if its id is, with other content."""
    content = known.get((link.survey.id, submission.id))
    if content is not None and content != _content(link, submission):
        raise refuse(409, "id", N_("must be new; another response has it"))
    return content is not None


def _take_room(connection: sa.Connection, left: dict[int, int | None], survey: sa.Row[Any]) -> None:
    """Count one more response of the group; an error if the survey has no room for it."""
    if survey.id not in left:
        left[survey.id] = count_room(connection, survey)
    number = left[survey.id]
    if number == 0:
        check_standing(Standing.FULL)
    elif number is not None:
        left[survey.id] = number - 1


def _insert(
    connection: sa.Connection,
    found: Mapping[str, ResponseLink],
    taken: Mapping[_Key, tuple[int, Arrival]],
    now: datetime,
) -> set[_Key]:
    """Write rows in the order of their ids, survey by survey; the keys of those that were written."""
    written: set[_Key] = set()
    arrived = [(survey, (response_id, arrival)) for (survey, response_id), (_place, arrival) in taken.items()]
    for survey, together in group_by_survey(sorted(arrived, key=lambda pair: pair[1][0])):
        version = found[together[0][1].slug].version.id  # a survey takes responses to one version at a time
        ids = [response_id for response_id, _arrival in together]
        reports = [arrival.submission.reports for _id, arrival in together]
        strata = [found[arrival.slug].stratum_id for _id, arrival in together]
        if connection.dialect.name == "sqlite":  # where nobody else has written since they were looked for
            rows = [
                {
                    "id": row[0],
                    "version_id": version,
                    "reports": row[1],
                    "day": now.date(),
                    "stratum_id": row[2],
                }
                for row in zip(ids, reports, strata, strict=True)
            ]
            _inserting(survey).run_each(connection, rows)
            written.update((survey, response_id) for response_id in ids)
            continue
        values = {
            "ids": b"".join(ids),
            "version": version,
            "reports": b"".join(reports),
            "length": len(reports[0]),
            "day": now.date(),
            "strata": f"{{{','.join('NULL' if stratum is None else str(stratum) for stratum in strata)}}}",
        }
        written.update(
            (survey, bytes(row.id)) for row in _inserting_at_once(survey).fetch(connection, values)
        )
    return written


@lru_cache(maxsize=1024)
def _inserting(survey_id: int) -> Prepared:
    return Prepared(sa.insert(responses_of(survey_id)))


@lru_cache(maxsize=1024)
def _inserting_at_once(survey_id: int) -> Prepared:
    # In one statement: the rows of several would say by its number in which order they were written.
    rows = responses_of(survey_id)
    strata = sa.cast(sa.bindparam("strata", type_=sa.Text), postgresql.ARRAY(sa.Integer))
    given = sa.func.unnest(strata).table_valued("stratum_id", with_ordinality="number", name="given")
    given = given.render_derived()
    place = given.c.number - 1
    values = sa.select(
        pick_piece("ids", ID_LENGTH, place),
        sa.bindparam("version", type_=sa.Integer),
        pick_piece("reports", sa.bindparam("length", type_=sa.Integer), place),
        sa.bindparam("day", type_=sa.Date),
        given.c.stratum_id,
    )
    columns = [rows.c.id, rows.c.version_id, rows.c.reports, rows.c.day, rows.c.stratum_id]
    statement = postgresql.insert(rows).from_select(columns, values)
    return Prepared(statement.on_conflict_do_nothing(index_elements=[rows.c.id]).returning(rows.c.id))


def _count(
    connection: sa.Connection, found: Mapping[str, ResponseLink], stored: Sequence[Arrival], now: datetime
) -> None:
    """Enter what was stored into the books."""
    reports: dict[str, list[bytes]] = {}
    for arrival in stored:
        reports.setdefault(arrival.slug, []).append(arrival.submission.reports)
    if not reports:
        return
    numbers: dict[int, int] = {}
    groups: dict[int, dict[CellKey, Group]] = {}
    for slug, strings in reports.items():
        survey = found[slug].survey
        numbers[survey.id] = numbers.get(survey.id, 0) + len(strings)
        key = CellKey(found[slug].version.id, found[slug].stratum_id)
        groups.setdefault(survey.id, {})[key] = Group(survey.minimum, strings, {now.date(): len(strings)})
    batches.count(connection, numbers)
    for survey_id in sorted(groups):
        batches.add(connection, survey_id, groups[survey_id])
