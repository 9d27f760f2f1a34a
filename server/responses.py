"""Accept a response; tally what was accepted.

`accept` is the only way in: from bytes to one validated, stored row, without a web
framework and without a commit, so that a caller may put many in one transaction.
"""

from collections.abc import Iterator, Mapping
from datetime import date
from enum import Enum

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from server.inputs import N_, Submission, parse_submission, refuse
from server.models import Response, State, Survey, SurveyVersion

_TABLE = Response.metadata.tables[Response.__tablename__]
# Written once: building these takes longer than running them.
_CURRENT = (
    sa.select(SurveyVersion.id, SurveyVersion.sha256, SurveyVersion.reports, Survey.state)
    .join(Survey, SurveyVersion.survey_id == Survey.id)
    .where(Survey.slug == sa.bindparam("slug"))
    .order_by(SurveyVersion.number.desc())
    .limit(1)
    # On PostgreSQL, closing waits for responses on their way in: nothing arrives after it.
    .with_for_update(read=True, of=Survey)
)
_STORED = (
    sa.select(Response.reports, SurveyVersion.sha256, Survey.slug)
    .join(SurveyVersion, Response.version_id == SurveyVersion.id)
    .join(Survey, SurveyVersion.survey_id == Survey.id)
    .where(Response.id == sa.bindparam("id"))
)
_INSERTS = {
    name: insert(_TABLE)
    .values({c: sa.bindparam(c) for c in ("id", "version_id", "reports", "day")})
    .on_conflict_do_nothing(index_elements=[_TABLE.c.id])
    .returning(_TABLE.c.id)
    for name, insert in (("sqlite", sqlite.insert), ("postgresql", postgresql.insert))
}

Tally = Mapping[bytes, int]
"""Distinct report strings and how often each occurs."""


class Acceptance(Enum):
    """What became of an accepted response."""

    STORED = 201
    KNOWN = 200


def accept(connection: sa.Connection, slug: str, body: bytes, day: date) -> Acceptance:
    """Validate and store one response.

    Parameters
    ----------
    connection : Connection
        In a transaction that may write; the caller commits, and acknowledges only then.
        PostgreSQL ends one of two transactions that take the same ids in opposite orders
        (a deadlock): who puts many responses in one sorts them by id first.
    slug : str
        The survey's link.
    body : bytes
        The request's body.
    day : date
        The day to store; nothing finer is kept.

    Raises
    ------
    InputError
        With the HTTP status, the field and the message. Nothing was stored, and the
        transaction can go on.
    """
    submission = parse_submission(body)
    version = _version(connection, slug)
    known = _known(connection, slug, submission)
    if known is not None:
        return known
    if version.state != State.OPEN:
        raise refuse(410, "survey", N_("takes no responses any more; it is closed"))
    if submission.version != version.sha256:
        raise refuse(
            409,
            "version",
            N_("must be the survey's current one, %(limit)s; it is %(value)s. Load the page again"),
            limit=version.sha256,
            value=submission.version,
        )
    _check_reports(submission.reports, version.reports)
    row = {"id": submission.id, "version_id": version.id, "reports": submission.reports, "day": day}
    inserted = connection.execute(_INSERTS[connection.dialect.name], row)
    if inserted.first() is not None:
        return Acceptance.STORED
    # On PostgreSQL the same id may have been committed since it was looked for.
    known = _known(connection, slug, submission)
    assert known is not None
    return known


def tally(session: Session, version: SurveyVersion) -> dict[bytes, int]:
    """Count the distinct report strings of a version."""
    query = (
        sa.select(Response.reports, sa.func.count())
        .where(Response.version_id == version.id)
        .group_by(Response.reports)
        .order_by(Response.reports)
    )
    return {reports: count for reports, count in session.execute(query)}


def counts(patterns: Tally, byte: int, reports: int) -> NDArray[np.int64]:
    """How often each report occurs at one byte of the report strings, shape (reports,)."""
    totals = np.zeros(reports, dtype=np.int64)
    for pattern, count in patterns.items():
        totals[pattern[byte]] += count
    return totals


def expanded(patterns: Tally) -> Iterator[bytes]:
    """The report strings one by one, sorted: an order that says nothing about who came first."""
    for pattern in sorted(patterns):
        for _ in range(patterns[pattern]):
            yield pattern


def _version(connection: sa.Connection, slug: str) -> sa.Row[int, str, bytes, str]:
    """The current version of the survey behind a link, with the survey's state."""
    if not slug.isascii() or "\x00" in slug:  # a database takes the very question for an error
        raise refuse(404, "survey", N_("is not known; check the link"))
    row = connection.execute(_CURRENT, {"slug": slug}).first()
    if row is None:
        raise refuse(404, "survey", N_("is not known; check the link"))
    return row


def _known(connection: sa.Connection, slug: str, submission: Submission) -> Acceptance | None:
    """Whether this very response is stored already; an error if its id is, with other content."""
    row = connection.execute(_STORED, {"id": submission.id}).first()
    if row is None:
        return None
    if tuple(row) != (submission.reports, submission.version, slug):
        raise refuse(409, "id", N_("must be new; another response has it"))
    return Acceptance.KNOWN


def _check_reports(reports: bytes, possible: bytes) -> None:
    """Hold the reports against the version: their number, and the range of each."""
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
