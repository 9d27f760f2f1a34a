"""From a draft to published versions, and to the end. Functions take a Session and never commit."""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.inputs import N_, refuse, shorten_value
from server.privacy.designs import round_up
from server.store.models import Researcher, State, Stratum, Survey, SurveyVersion, Untidied
from server.store.own_table_making import create_tables
from server.study.definitions import Definition, Question, same_wording, version_of
from server.study.definitions.published_reader import parse_published
from server.study.drafts import begin_draft, draft
from server.study.editing import find_brackets
from server.study.schedule import format_schedule, schedule_of
from server.study.smallest_group import DEFAULT_MINIMUM
from server.study.surveys.standings import Standing, find_standing, now, today
from server.study.surveys.survey_links import new_slug
from server.study.ticket_keys import drop_links, make_completion_key, make_keys


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
        minimum=DEFAULT_MINIMUM,
    )
    enter_survey(session, survey)
    begin_draft(session, survey, definition.as_json() if isinstance(definition, Definition) else definition)
    return survey


def enter_survey(session: Session, survey: Survey) -> None:
    """Give a new survey its row, and the tables of its own."""
    if session.get_bind().dialect.name == "sqlite":
        # Left to itself, SQLite would give the number of a deleted one again, whose tables are still to be dropped.
        highest = [
            session.scalar(sa.select(sa.func.max(column))) for column in (Survey.id, Untidied.survey_id)
        ]
        survey.id = max(number or 0 for number in highest) + 1
    session.add(survey)
    session.flush()
    create_tables(session.connection(), survey.id)


def publish(
    session: Session, survey: Survey, looked_at: str | None = None, *, keep_brackets: bool = False
) -> SurveyVersion:
    """Freeze the draft as the next version and open the survey.

    Publishing an unchanged draft again gives the version that it already is. `looked_at` is
    the SHA-256 of the draft that the researcher saw and means, `keep_brackets` that text in
    square brackets, which templates leave to be filled in, is meant to be read so.

    Raises
    ------
    InputError
        If the survey is closed, its closing time has come, the draft is unfinished or another one
        than `looked_at`, text in brackets is left and not meant, or a question that was published
        before would lose privacy: people who see it again were promised at least as much. If a
        stratum has fewer people than the survey's minimum.
    """
    moment = now()
    if find_standing(survey, moment) in (Standing.CLOSED, Standing.OVER):
        raise refuse(409, "state", N_("must not be closed; a closed survey is not published again"))
    if survey.closes_at is not None and survey.closes_at <= moment:
        # It would be closed for good before anybody could answer.
        closing = format_schedule(schedule_of(survey))["closes_at"]
        raise refuse(409, "closes_at", N_("must be later than now; it is %(value)s"), value=closing)
    definition = draft(survey)
    if looked_at is not None and looked_at != version_of(definition.to_canonical()):
        raise refuse(409, "draft", N_("was changed in another window or by somebody else meanwhile"))
    brackets = find_brackets(definition.as_json())
    if brackets and not keep_brackets:
        raise refuse(
            409,
            "brackets",
            N_("must be replaced, or confirmed to stay; it is %(value)s"),
            value=shorten_value(", ".join(text for _, text in brackets)),
        )
    for version in survey.versions:
        _refuse_weaker(definition, version)
    _refuse_small_strata(session, survey)
    keys = make_keys(session, survey)
    named = replace(definition, ticket_keys=keys, completion_key=make_completion_key(session, survey))
    published = named.to_canonical()
    earlier = replace(named, ticket_keys=drop_links(keys)).to_canonical() if keys else published
    current = survey.current
    if current is None or current.published not in (published, earlier):
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


def is_published(survey: Survey, definition: Definition | None) -> bool:
    """Whether the newest version is this very draft; None is one that is unfinished."""
    if survey.current is None or definition is None:
        return False
    current = definition_of(survey.current)
    named = replace(definition, ticket_keys=current.ticket_keys, completion_key=current.completion_key)
    return named.to_canonical() == survey.current.published


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
        value=shorten_value(number),
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


def _refuse_small_strata(session: Session, survey: Survey) -> None:
    """Whoever has a link that only a few people have could be told by it."""
    query = sa.select(Stratum.name, Stratum.population).where(
        Stratum.survey_id == survey.id, Stratum.population < survey.minimum
    )
    found = session.execute(query.order_by(Stratum.population, Stratum.id)).first()
    if found is not None:
        template = N_(
            "must each have at least as many people as the smallest group shown, %(limit)s; “%(stratum)s” has "
            "%(value)s. Take it together with another one"
        )
        raise refuse(
            409, "strata", template, limit=survey.minimum, stratum=found.name, value=found.population
        )


def _identities(question: Question) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("name", question.name), ("text", same_wording(question.text))
