"""Queries and writes on surveys. Functions take a Session and never commit."""

import json
import math
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, object_session

from server.definitions import Definition, Question, version_of
from server.drafts import begin_draft
from server.drafts import draft as draft
from server.drafts import draft_document as draft_document
from server.drafts import redo as redo
from server.drafts import save_draft as save_draft
from server.drafts import undo as undo
from server.inputs import N_, parse_published, refuse, shown
from server.models import Member, Researcher, Role, State, Stratum, Survey, SurveyVersion, Untidied
from server.privacy.designs import round_up

# No vowels and no look-alikes: a slug can be read out and spells nothing.
_SLUG_ALPHABET = "23456789bcdfghjkmnpqrstvwxz"
_SLUG_LENGTH = 12

_NEEDED = {
    Role.EDITOR: N_("can be changed by its owner and its editors only"),
    Role.OWNER: N_("allows this to its owner only"),
}


class Standing(StrEnum):
    """Whether a survey takes responses at a moment, and if not, why."""

    DRAFT = "draft"
    EARLY = "early"
    OPEN = "open"
    PAUSED = "paused"
    FULL = "full"
    OVER = "over"
    CLOSED = "closed"


def new_slug() -> str:
    """A link that cannot be guessed (57 random bits)."""
    return "".join(secrets.choice(_SLUG_ALPHABET) for _ in range(_SLUG_LENGTH))


def is_slug(text: str) -> bool:
    """Whether this could be the end of a link."""
    return len(text) == _SLUG_LENGTH and set(text) <= set(_SLUG_ALPHABET)


def today() -> date:
    """The day, in UTC: the finest time that is ever stored with a response."""
    return datetime.now(UTC).date()


def now() -> datetime:
    """The moment, in UTC and without saying so: as the database holds opening and closing times."""
    return datetime.now(UTC).replace(tzinfo=None)


def create(
    session: Session,
    owner: Researcher,
    definition: Definition | Mapping[str, Any],
    *,
    simulated: bool = False,
) -> Survey:
    """A new draft; a document may still be unfinished."""
    survey = Survey(
        slug=new_slug(),
        owner_id=owner.id,
        state=State.DRAFT,
        simulated=simulated,
        created_on=today(),
        draft_number=1,
    )
    session.add(survey)
    session.flush()
    begin_draft(session, survey, definition.as_json() if isinstance(definition, Definition) else definition)
    return survey


def shared_with(session: Session, researcher: Researcher) -> Sequence[tuple[Survey, Role]]:
    """The surveys in which a researcher has a role, newest first."""
    query = (
        sa.select(Survey, Member.role)
        .outerjoin(Member, (Member.survey_id == Survey.id) & (Member.researcher_id == researcher.id))
        .where((Survey.owner_id == researcher.id) | Member.role.is_not(None))
        .order_by(Survey.id.desc())
    )
    return [
        (survey, Role.OWNER if survey.owner_id == researcher.id else Role(role))
        for survey, role in session.execute(query)
    ]


def role_in(session: Session, survey: Survey, researcher: Researcher) -> Role | None:
    """A researcher's role in a survey; None for a stranger."""
    if survey.owner_id == researcher.id:
        return Role.OWNER
    member = session.get(Member, (survey.id, researcher.id))
    return None if member is None else Role(member.role)


def find(session: Session, slug: str) -> Survey | None:
    """The survey behind a link."""
    if not slug.isascii() or "\x00" in slug:  # a database takes the very question for an error
        return None
    return session.scalars(sa.select(Survey).where(Survey.slug == slug)).first()


def find_link(session: Session, slug: str) -> tuple[Survey, Stratum | None] | None:
    """The survey behind a link, and the stratum that the link carries; a stratum with parts has no link."""
    survey = find(session, slug)
    if survey is not None:
        return survey, None
    if not slug.isascii() or "\x00" in slug:
        return None
    part = sa.orm.aliased(Stratum)
    query = (
        sa.select(Survey, Stratum)
        .join(Stratum, Stratum.survey_id == Survey.id)
        .where(Stratum.slug == slug, ~sa.exists().where(part.parent_id == Stratum.id))
    )
    row = session.execute(query).first()
    return None if row is None else (row[0], row[1])


def standing(survey: Survey | sa.Row[Any], moment: datetime) -> Standing:
    """Whether a survey takes responses at a moment; `responses.standing` knows its cap too."""
    if survey.state != State.OPEN:
        return Standing(survey.state)
    if survey.closes_at is not None and survey.closes_at <= moment:
        return Standing.OVER
    if survey.paused:
        return Standing.PAUSED
    if survey.opens_at is not None and survey.opens_at > moment:
        return Standing.EARLY
    return Standing.OPEN


def find_for(session: Session, researcher: Researcher, slug: str, needed: Role) -> tuple[Survey, Role]:
    """A survey for what a role allows, and the researcher's role in it; others' do not exist for them.

    Raises
    ------
    InputError
        404 if there is no such survey or the researcher has no role in it, 403 if the role does not suffice.
    """
    survey = find(session, slug)
    role = None if survey is None else role_in(session, survey, researcher)
    if survey is None or role is None:
        raise refuse(404, "survey", N_("is not known; check the link"))
    if not role.allows(needed):
        raise refuse(403, "survey", _NEEDED[needed])
    return survey, role


def publish(session: Session, survey: Survey, looked_at: str | None = None) -> SurveyVersion:
    """Freeze the draft as the next version and open the survey.

    Publishing an unchanged draft again gives the version that it already is. `looked_at` is
    the SHA-256 of the draft that the researcher saw and means.

    Raises
    ------
    InputError
        If the survey is closed, the draft unfinished or another one than `looked_at`, or a
        question that was published before would lose privacy: people who see it again were
        promised at least as much.
    """
    # The button pressed twice: the second waits here, and finds the version that the first made.
    session.flush()  # refreshing forgets what was not written yet
    session.refresh(survey, with_for_update=True)
    if survey.state == State.CLOSED:
        raise refuse(409, "state", N_("must not be closed; a closed survey is not published again"))
    definition = draft(survey)
    published = definition.published()
    if looked_at is not None and looked_at != version_of(published):
        raise refuse(409, "draft", N_("was changed in another window or by somebody else meanwhile"))
    for version in survey.versions:
        _refuse_weaker(definition, version)
    current = survey.current
    if current is None or current.published != published:
        sha256 = version_of(published)
        if any(version.sha256 == sha256 for version in survey.versions):
            raise refuse(409, "questions", N_("must not go back to an earlier version; change something"))
        current = SurveyVersion(
            number=len(survey.versions) + 1,
            sha256=sha256,
            published=published,
            reports=bytes(design.weights.shape[1] for design in definition.designs),
            published_on=today(),
        )
        survey.versions.append(current)
    survey.state = State.OPEN
    session.flush()
    return current


def close(survey: Survey) -> None:
    """Stop taking responses for good; `tidying.tidy` is due once this is committed.

    Raises
    ------
    InputError
        If the survey was never published.
    """
    if survey.state == State.DRAFT:
        raise refuse(409, "state", N_("must be open; a draft takes no responses yet"))
    survey.state = State.CLOSED
    session = object_session(survey)
    assert session is not None
    session.add(Untidied())


def published_version(survey: Survey, number: int | str | None) -> SurveyVersion:
    """A published version by its number; the newest without one.

    Raises
    ------
    InputError
        If the survey was never published, or never had that version.
    """
    if survey.current is None:
        raise refuse(409, "survey", N_("must be published first; a draft has no results"))
    if number is None:
        return survey.current
    for version in survey.versions:
        if str(version.number) == str(number):
            return version
    raise refuse(
        404,
        "version",
        N_("must be from %(low)s to %(high)s; it is %(value)s"),
        low=1,
        high=survey.current.number,
        value=shown(number),
    )


def definition_of(version: SurveyVersion) -> Definition:
    """The definition that a published version froze, with the very designs that it wrote out."""
    return _frozen(version.published)


@lru_cache(maxsize=64)
def _frozen(published: bytes) -> Definition:
    # A published version never changes, and the results of a running survey are looked at often.
    return parse_published(json.loads(published))


def _refuse_weaker(definition: Definition, version: SurveyVersion) -> None:
    # Known again by its name or by its wording: a new name does not make the same question another one.
    promised: dict[tuple[str, str], float] = {}
    for question in definition_of(version).questions:
        for known in _identities(question):
            promised[known] = min(round_up(question.epsilon), promised.get(known, math.inf))
    for index, entry in enumerate(definition.entries):
        if not isinstance(entry, Question):
            continue
        limit = min((promised[known] for known in _identities(entry) if known in promised), default=math.inf)
        if round_up(entry.epsilon) > limit:
            raise refuse(
                409,
                f"questions[{index}].design",
                N_(
                    "must give at least the privacy published before: epsilon at most %(limit)s; it is %(value)s"
                ),
                limit=limit,
                value=round_up(entry.epsilon),
            )


def _identities(question: Question) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("name", question.name), ("text", " ".join(question.text.split()).casefold())
