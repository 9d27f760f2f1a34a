"""Queries and writes on surveys. Functions take a Session and never commit."""

import json
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.definitions import Definition, version_of
from server.inputs import N_, parse_definition, refuse, shown
from server.models import Researcher, State, Survey, SurveyVersion

# No vowels and no look-alikes: a slug can be read out and spells nothing.
_SLUG_ALPHABET = "23456789bcdfghjkmnpqrstvwxz"
_SLUG_LENGTH = 12


def today() -> date:
    """The day, in UTC: the finest time that is ever stored with a response."""
    return datetime.now(UTC).date()


def create(session: Session, owner: Researcher, definition: Definition, *, simulated: bool = False) -> Survey:
    """A new draft."""
    survey = Survey(
        slug="".join(secrets.choice(_SLUG_ALPHABET) for _ in range(_SLUG_LENGTH)),
        owner_id=owner.id,
        simulated=simulated,
        draft=_stored(definition),
        created_on=today(),
    )
    session.add(survey)
    session.flush()
    return survey


def owned(session: Session, owner: Researcher) -> Sequence[Survey]:
    """A researcher's surveys, newest first."""
    query = sa.select(Survey).where(Survey.owner_id == owner.id).order_by(Survey.id.desc())
    return session.scalars(query).all()


def find(session: Session, slug: str) -> Survey | None:
    """The survey behind a link."""
    if not slug.isascii() or "\x00" in slug:  # a database takes the very question for an error
        return None
    return session.scalars(sa.select(Survey).where(Survey.slug == slug)).first()


def find_own(session: Session, owner: Researcher, slug: str) -> Survey:
    """A researcher's own survey; others' do not exist for them.

    Raises
    ------
    InputError
        404 if there is no such survey or it belongs to somebody else.
    """
    survey = find(session, slug)
    if survey is None or survey.owner_id != owner.id:
        raise refuse(404, "survey", N_("is not known; check the link"))
    return survey


def draft(survey: Survey) -> Definition:
    """The definition as it stands now."""
    return parse_definition(json.loads(survey.draft))


def save_draft(survey: Survey, definition: Definition) -> None:
    """Replace the draft; published versions stay as they are."""
    survey.draft = _stored(definition)


def publish(session: Session, survey: Survey) -> SurveyVersion:
    """Freeze the draft as the next version and open the survey.

    Publishing an unchanged draft again gives the version that it already is.

    Raises
    ------
    InputError
        If the survey is closed, or a question that was published before would lose
        privacy: people who see it again were promised at least as much.
    """
    # The button pressed twice: the second waits here, and finds the version that the first made.
    session.flush()  # refreshing forgets what was not written yet
    session.refresh(survey, with_for_update=True)
    if survey.state == State.CLOSED:
        raise refuse(409, "state", N_("must not be closed; a closed survey is not published again"))
    definition = draft(survey)
    published = definition.published()
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
    """Stop taking responses.

    Raises
    ------
    InputError
        If the survey was never published.
    """
    if survey.state == State.DRAFT:
        raise refuse(409, "state", N_("must be open; a draft takes no responses yet"))
    survey.state = State.CLOSED


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
    """The definition that a published version froze."""
    document: dict[str, Any] = json.loads(version.published)
    del document["epsilon"]
    for question in document["questions"]:
        del question["designs"]
    return parse_definition(document)


def _stored(definition: Definition) -> bytes:
    return json.dumps(definition.as_json(), ensure_ascii=False).encode()


def _refuse_weaker(definition: Definition, version: SurveyVersion) -> None:
    # Known again by its name or by its wording: a new name does not make the same question another one.
    promised: dict[tuple[str, str], float] = {}
    for question in json.loads(version.published)["questions"]:
        epsilon = sum(design["epsilon"] for design in question["designs"])
        for known in _identities(question):
            promised[known] = min(epsilon, promised.get(known, epsilon))
    for index, question in enumerate(json.loads(definition.published())["questions"]):
        epsilon = sum(design["epsilon"] for design in question["designs"])
        limit = min(
            (promised[known] for known in _identities(question) if known in promised), default=epsilon
        )
        if epsilon > limit:
            raise refuse(
                409,
                f"questions[{index}].design",
                N_(
                    "must give at least the privacy published before: epsilon at most %(limit)s; it is %(value)s"
                ),
                limit=limit,
                value=epsilon,
            )


def _identities(question: Mapping[str, Any]) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("name", question["name"]), ("text", " ".join(question["text"].split()).casefold())
