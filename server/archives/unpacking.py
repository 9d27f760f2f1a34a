"""An archive -> a survey here: the same versions, responses and links, as far as these are free."""

import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import IO, Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server import batches, drafts, surveys
from server.archives.checking import Checked, check
from server.archives.contents import Document, Told, untold
from server.archives.ledgers import store_ledger
from server.archives.opening import Archive, open_archive
from server.archives.stated import leaves
from server.archives.trees import Part, grow
from server.batches import CellKey, Group
from server.models import (
    InvitationBatch,
    Researcher,
    State,
    Stratum,
    Survey,
    SurveyVersion,
)
from server.own_tables import invitations_of, responses_of

_COPIES = 0x6D6F6E01
"""Of PostgreSQL's advisory locks, that of imported invitations."""


@dataclass(frozen=True)
class Unpacked:
    """The survey that was made, and what could not be as it was.

    `new_links` had to be made because others have theirs here; `left_invitations` says that its
    invitations are known here already, from another copy, and were left there.
    """

    survey: Survey
    responses: int
    links: int
    new_links: int
    left_invitations: bool


def unpack(session: Session, owner: Researcher, file: IO[bytes], told: Told = untold) -> Unpacked:
    """Make a survey of an archive; all of it is checked before the database is asked for anything.

    An open survey comes paused: its respondents still have the other one.

    Raises
    ------
    InputError
        Naming the entry, the place in it, and what was refused.
    """
    with open_archive(file) as archive:
        checked = check(archive, told)
        return _store(session, owner, archive, checked, told)


def _store(session: Session, owner: Researcher, archive: Archive, checked: Checked, told: Told) -> Unpacked:
    manifest = checked.manifest
    asked = [manifest["slug"], *(stratum["slug"] for stratum in manifest["strata"])]
    slugs = _free_slugs(session, asked)
    survey = _survey(owner, manifest, slugs[0])
    surveys.enter(session, survey)
    drafts.begin_draft(session, survey, checked.draft)
    parts = zip(manifest["strata"], slugs[1:], strict=True)
    ids = grow(
        session,
        survey,
        [Part(tuple(stated["names"]), _whole(stated.get("population")), slug) for stated, slug in parts],
    )
    for version in checked.versions:
        stored = SurveyVersion(
            number=version.number,
            sha256=version.sha256,
            published=version.published,
            reports=version.reports,
            published_on=version.published_on,
        )
        survey.versions.append(stored)
    store_ledger(session, survey, checked.ledger, ids)
    session.flush()
    done, connection = checked.responses, session.connection()
    insert = sa.insert(responses_of(survey.id))
    for version, stored in zip(checked.versions, survey.versions, strict=True):
        for rows in checked.response_rows(archive, version):
            new = zip(rows.days, rows.strata, rows.reports, strict=True)
            values = [
                {
                    "id": secrets.token_bytes(16),
                    "version_id": stored.id,
                    "reports": reports,
                    "day": day,
                    "stratum_id": ids[stratum],
                }
                for day, stratum, reports in new
            ]
            # In the order of the keys, which lie so in the file.
            connection.execute(insert, sorted(values, key=_id))
            _count(connection, survey, values)
            told(done := done + len(values), 2 * checked.responses)
    if survey.state == State.CLOSED:
        batches.seal_all(connection, survey.id, surveys.today())
    # Those that lead somewhere: the survey's own, and those of strata without others below.
    working = {0, *leaves(manifest)}
    return Unpacked(
        survey=survey,
        responses=checked.responses,
        links=len(working),
        new_links=sum(asked[place] != slugs[place] for place in working),
        left_invitations=not _invitations(session, survey, archive, checked, ids),
    )


def _count(connection: sa.Connection, survey: Survey, rows: Sequence[Mapping[str, Any]]) -> None:
    """Enter stored rows into the books; of a closed survey nothing waits."""
    batches.count(connection, {survey.id: len(rows)})
    minimum = survey.minimum if survey.state == State.OPEN else 1
    groups: dict[CellKey, Group] = {}
    for row in rows:
        key = CellKey(row["version_id"], row["stratum_id"])
        group = groups.setdefault(key, Group(minimum, [], Counter()))
        group.reports.append(row["reports"])
        group.days[row["day"]] += 1
    batches.add(connection, groups)


def _id(row: Mapping[str, Any]) -> bytes:
    value: bytes = row["id"]
    return value


def _free_slugs(session: Session, asked: Sequence[str]) -> list[str]:
    """The same links where nobody here has them, else new ones."""
    taken: set[str] = set()
    for start in range(0, len(asked), 500):
        some = asked[start : start + 500]
        for column in (Survey.slug, Stratum.slug):
            taken |= set(session.scalars(sa.select(column).where(column.in_(some))))
    return [surveys.new_slug() if slug in taken else slug for slug in asked]


def _survey(owner: Researcher, manifest: Document, slug: str) -> Survey:
    return Survey(
        slug=slug,
        owner_id=owner.id,
        state=State(manifest["state"]),
        simulated="simulated" in manifest,
        created_on=date.fromisoformat(manifest["created_on"]),
        draft_number=1,
        paused="paused" in manifest or manifest["state"] == State.OPEN,
        by_invitation="by_invitation" in manifest,
        opens_at=_moment(manifest.get("opens_at")),
        closes_at=_moment(manifest.get("closes_at")),
        time_zone=manifest["time_zone"],
        cap=_whole(manifest.get("cap")),
        minimum=int(manifest["minimum"]),
    )


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)  # JSON's 1.0 is a whole number


def _invitations(
    session: Session,
    survey: Survey,
    archive: Archive,
    checked: Checked,
    ids: dict[int | None, int | None],
) -> bool:
    """Store the invitations; False, and none of them, if one is known here already."""
    try:
        with session.begin_nested():
            made, codes = [], invitations_of(survey.id)
            for stated in checked.manifest["batches"]:
                withdrawn = stated.get("withdrawn_on")
                batch = InvitationBatch(
                    survey_id=survey.id,
                    stratum_id=ids[stated.get("stratum")],
                    label=stated["label"],
                    issued_on=date.fromisoformat(stated["issued_on"]),
                    size=int(stated["size"]),
                    withdrawn_on=None if withdrawn is None else date.fromisoformat(withdrawn),
                )
                made.append(batch)
            session.add_all(made)
            session.flush()
            for rows in checked.invitation_rows(archive):
                values = [
                    {"code_hash": code, "batch_id": made[batch - 1].id, "spent": spent}
                    for code, batch, spent in rows
                ]
                session.execute(sa.insert(codes), values)
            if any(session.scalar(known) for known in _known_elsewhere(session, survey)):
                raise _KnownError
    except (sa.exc.IntegrityError, _KnownError):
        return False
    return True


class _KnownError(Exception):
    """One of the codes belongs to another survey."""


def _known_elsewhere(session: Session, survey: Survey) -> Iterator[sa.Select[bool]]:
    """Whether a code of a survey lets somebody into another one, for each that has any."""
    if session.get_bind().dialect.name == "postgresql":
        # Of two copies that come at the same moment, one sees the other.
        session.execute(sa.select(sa.func.pg_advisory_xact_lock(_COPIES)))
    codes = invitations_of(survey.id)
    others = sa.select(InvitationBatch.survey_id).distinct().where(InvitationBatch.survey_id != survey.id)
    for other in session.scalars(others).all():
        theirs = invitations_of(other)
        yield sa.select(sa.exists().select_from(codes.join(theirs, codes.c.code_hash == theirs.c.code_hash)))
