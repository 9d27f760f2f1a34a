"""What was collected: tallies of the stored responses, and how many arrived on each day."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.models import Response, Survey
from server.tallies import Tally

Key = tuple[int, int | None]
"""Who answered together: the version's id and the link's stratum, None for the survey's own link."""


def tallies(session: Session, survey: Survey) -> dict[Key, Tally]:
    """The responses to a survey by version and stratum, in one query; those without any are left out.

    The database hands over one long string for each: as rows, tens of thousands of report strings
    would take longer than all that is done with them, and so would finding out which are equal.
    """
    lengths = {version.id: len(version.reports) for version in survey.versions}
    if session.get_bind().dialect.name == "sqlite":
        joined = sa.func.group_concat(sa.func.hex(Response.reports), "")
    else:
        joined = sa.func.string_agg(Response.reports, sa.literal(b""))
    query = (
        sa.select(Response.version_id, Response.stratum_id, joined)
        .where(Response.version_id.in_(lengths))
        .group_by(Response.version_id, Response.stratum_id)
    )
    found = {}
    for version, stratum, strings in _rows(session, query):
        together = bytes.fromhex(strings) if isinstance(strings, str) else strings
        found[version, stratum] = Tally.of(together, lengths[version])
    return found


def by_day(session: Session, survey: Survey) -> Mapping[Key, Mapping[date, int]]:
    """How many responses arrived on each day (UTC), by version and stratum."""
    columns = Response.version_id, Response.stratum_id, Response.day
    query = (
        sa.select(*columns, sa.func.count())
        .where(Response.version_id.in_([version.id for version in survey.versions]))
        .group_by(*columns)
    )
    found: dict[Key, dict[date, int]] = {}
    for version, stratum, day, count in _rows(session, query):
        found.setdefault((version, stratum), {})[day] = count
    return found


def _rows(session: Session, query: sa.Executable) -> Sequence[sa.Row[*tuple[Any, ...]]]:
    """All at once, and without the mapper."""
    return session.connection().execute(query).all()
