"""A survey as a source of releases."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from server import collected, strata, surveys
from server.inputs import N_, Problem, refuse
from server.models import Survey, SurveyVersion
from server.releases.budgets import budget_of
from server.releases.kinds import Shuffling, shuffling_of
from server.releases.shapes import Asked, Coins, Crowd, Leaf, Rows, Shape, Source, Variable
from server.strata import Node
from server.tallies import Tally
from server.waves import Asked as AskedInWave
from server.waves import Wave, by_option, same_question


def survey_shape(session: Session, survey: Survey) -> Shape:
    """What releases may ask of a survey. No response is looked at, but for their number where that is public.

    Raises
    ------
    InputError
        409 if the survey was never published, or has no budget.
    """
    return _shape(session, survey, _leaves(strata.tree(session, survey)))


def shuffling_price(session: Session, survey: Survey) -> Shuffling | Problem:
    """What it costs to publish all tallies exactly as they arrived, or why that cannot be done.

    Raises
    ------
    InputError
        As `survey_shape`.
    """
    return shuffling_of(survey_shape(session, survey))


def survey_source(session: Session, survey: Survey) -> Source:
    """A survey's shape, and its responses.

    Raises
    ------
    InputError
        As `survey_shape`.
    """
    leaves = _leaves(strata.tree(session, survey))
    shape = _shape(session, survey, leaves)
    keys: list[int | None] = [None, *(key for leaf in leaves for key in leaf.keys)]
    # The survey's own link, then each stratum in the leaf that it counts in.
    places = np.array([0, *(place for place, leaf in enumerate(leaves) for _ in leaf.keys)])
    waves = _waves(survey, keys, collected.stored_tallies(session, survey))
    if shape.respondents is not None:
        # Of these very responses; there may be more by now than when they were first counted.
        shape = replace(shape, respondents=sum(int(wave.counts.sum()) for wave in waves))
    split = {variable.name: variable.split for variable in shape.variables}
    return Source(shape, tuple(_rows(wave, places, split) for wave in waves))


def _shape(session: Session, survey: Survey, leaves: tuple[Leaf, ...]) -> Shape:
    budget = budget_of(session, survey)
    if survey.current is None:
        raise refuse(409, "survey", N_("must be published first; a draft has no results"))
    if budget is None:
        raise refuse(409, "budget", N_("must be set first"))
    respondents, crowd = None, None
    if budget.neighbours == "bounded":
        sizes = _sizes(session, survey)
        respondents = sum(sizes.values())
        if respondents:
            losses = [surveys.definition_of(each).epsilon for each in survey.versions if each.id in sizes]
            crowd = Crowd(min(sizes.values()), max(losses))
    waves = _waves(survey, [None], {})
    names = dict.fromkeys(question.name for wave in waves for question in wave.definition.questions)
    return Shape(
        neighbours=budget.neighbours,
        versions=tuple(wave.number for wave in waves),
        variables=tuple(_variable(name, waves) for name in names),
        leaves=leaves,
        sampled=True,
        respondents=respondents,
        crowd=crowd,
    )


def _sizes(session: Session, survey: Survey) -> dict[int, int]:
    """How many responded to each version, by its id; those to which nobody did are left out."""
    found: dict[int, int] = {}
    for (version, _stratum), n in collected.stored_sizes(session, survey).items():
        found[version] = found.get(version, 0) + n
    return found


def _waves(
    survey: Survey, keys: Sequence[int | None], tallies: Mapping[tuple[int, int | None], Tally]
) -> list[Wave]:
    versions: list[SurveyVersion] = list(reversed(survey.versions))
    return [Wave.of(version, keys, tallies) for version in versions]


def _leaves(nodes: Sequence[Node]) -> tuple[Leaf, ...]:
    return (Leaf((), ()), *(Leaf(node.names, (node.stratum.id,)) for node in strata.leaves(nodes)))


def _variable(name: str, waves: Sequence[Wave]) -> Variable:
    """A question as the newest version that has its name asks it."""
    since = next(place for place, wave in enumerate(waves) if name in wave.asked)
    asked = same_question(name, waves[since:])
    question, split = asked[0].question, by_option(asked)
    line = question.encoding == "line"
    values: tuple[float, ...] | None = None
    if question.ends is not None:
        count = len(question.answers) - question.prefer_not_to_say
        values = tuple(np.linspace(*question.ends, count).tolist())
    return Variable(
        name=name,
        identity=waves[since].identities[name],
        answers=question.answers[2:] if line else question.answers,
        boxes=question.encoding == "boxes",
        split=split,
        first=2 if line else 0,
        values=values,
        steps=None,
        asked=tuple(_asked(one, split) for one in asked),
    )


def _asked(one: AskedInWave, split: bool) -> Asked:
    designs = [byte.design for byte in one.bytes(split)]
    return Asked(one.wave.number, tuple(Coins(len(design.weights), design) for design in designs))


def _rows(wave: Wave, places: NDArray[np.int64], split: Mapping[str, bool]) -> Rows:
    def codes(name: str) -> list[NDArray[np.integer]]:
        return [byte.codes() for byte in wave.asked[name].bytes(split[name])]

    return Rows(wave.number, places[wave.places], wave.counts, codes)
