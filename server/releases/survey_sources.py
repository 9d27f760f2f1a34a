"""A survey as a source of releases."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from server.collect import response_counts
from server.collect.response_counts import Collected, Key
from server.collect.tallies import Tally
from server.collect.waves import Wave, WaveQuestion, by_option, same_question
from server.inputs import N_, Problem, refuse
from server.releases.budgets import budget_of
from server.releases.kinds import Shuffling, shuffling_of
from server.releases.survey_shapes import (
    Coins,
    CountedRows,
    Crowd,
    Leaf,
    Shape,
    Source,
    Variable,
    VariableVersion,
)
from server.releases.values import Budget
from server.store.models import Survey
from server.study import strata, surveys
from server.study.strata import Node


def survey_shape(session: Session, survey: Survey) -> Shape:
    """What releases may ask of a survey. No response is looked at, but for their number where that is public.

    Raises
    ------
    InputError
        409 if the survey was never published, or has no budget.
    """
    budget = _budget(session, survey)
    sizes = response_counts.count_reportable(session, survey) if budget.neighbours == "bounded" else {}
    return _shape(survey, budget, _leaves(strata.tree(session, survey)), sizes)


def shuffling_price(session: Session, survey: Survey) -> Shuffling | Problem:
    """What it costs to publish all tallies exactly as they arrived, or why that cannot be done.

    Raises
    ------
    InputError
        As `survey_shape`.
    """
    return shuffling_of(survey_shape(session, survey))


def survey_source(session: Session, survey: Survey) -> Source:
    """A survey's shape, and the responses that its releases count (`response_counts.read_for_release`).

    They are read from the session, which stays as it is.

    Raises
    ------
    InputError
        As `survey_shape`.
    """
    budget, leaves = _budget(session, survey), _leaves(strata.tree(session, survey))
    collected = response_counts.read_for_release(session, survey, budget.neighbours)
    shape = _shape(survey, budget, leaves, collected.sizes)
    keys: list[int | None] = [None, *(key for leaf in leaves for key in leaf.keys)]
    # The survey's own link, then each stratum in the leaf that it counts in.
    places = np.array([0, *(place for place, leaf in enumerate(leaves) for _ in leaf.keys)])
    split = {variable.name: variable.split for variable in shape.variables}
    return Source(shape, _Responses(_waves(survey, keys, collected), places, split))


def _budget(session: Session, survey: Survey) -> Budget:
    budget = budget_of(session, survey)
    if survey.current is None:
        raise refuse(409, "survey", N_("must be published first; a draft has no results"))
    if budget is None:
        raise refuse(409, "budget", N_("must be set first"))
    return budget


def _shape(survey: Survey, budget: Budget, leaves: tuple[Leaf, ...], counted: Mapping[Key, int]) -> Shape:
    """`counted`: the responses that a release counts, by version and stratum, where their number is public."""
    respondents, crowd = None, None
    if budget.neighbours == "bounded":
        sizes: dict[int, int] = {}
        for (version, _stratum), n in counted.items():
            sizes[version] = sizes.get(version, 0) + n
        respondents = sum(sizes.values())
        if respondents:
            losses = [surveys.definition_of(each).epsilon for each in survey.versions if each.id in sizes]
            crowd = Crowd(min(sizes.values()), max(losses))
    waves = _waves(survey, [None], None)
    names = dict.fromkeys(question.name for wave in waves for question in wave.definition.questions)
    return Shape(
        neighbours=budget.neighbours,
        versions=tuple(wave.number for wave in waves),
        variables=tuple(_variable(name, waves) for name in names),
        leaves=leaves,
        sampled=True,
        respondents=respondents,
        crowd=crowd,
        populations_since=survey.populations_since,
    )


def _waves(survey: Survey, keys: Sequence[int | None], collected: Collected | None) -> list[Wave]:
    return [
        Wave.of(version, keys, collected or response_counts.NOTHING) for version in reversed(survey.versions)
    ]


def _leaves(nodes: Sequence[Node]) -> tuple[Leaf, ...]:
    found = tuple(_inside(nodes, None))
    if any(node.stratum.merged for node in nodes):  # some people's responses are among those without stratum
        found = tuple(replace(leaf, population=None) for leaf in found)
    return (Leaf((), ()), *found)


def _inside(nodes: Sequence[Node], around: Node | None) -> Iterator[Leaf]:
    """The leaves below a stratum; those that came here merged are one, as their responses cannot be told apart.

    Right under the survey these stand among the responses without stratum.
    """
    for node in nodes:
        if node.stratum.merged:
            continue
        if node.leaf:
            yield Leaf(node.names, (node.stratum.id,), node.population, node.stratum.identity)
        else:
            yield from _inside(node.children, node)
    merged = [each for node in nodes if node.stratum.merged for each in strata.walk([node])]
    if merged and around is not None:
        name = " + ".join(each.stratum.name for each in strata.list_leaves(nodes) if each.stratum.merged)
        keys = (around.stratum.id, *(each.stratum.id for each in merged))
        identity = " ".join(sorted(each.stratum.identity for each in merged))
        sizes = [
            each.population for node in nodes if node.stratum.merged for each in strata.list_leaves([node])
        ]
        known = [size for size in sizes if size is not None]
        population = sum(known) if len(known) == len(sizes) else None
        yield Leaf((*around.names, name), keys, population, identity)


def _variable(name: str, waves: Sequence[Wave]) -> Variable:
    """A question as the newest version that has its name asks it."""
    since = next(place for place, wave in enumerate(waves) if name in wave.questions)
    versions = same_question(name, waves[since:])
    question, split = versions[0].question, by_option(versions)
    values: tuple[float, ...] | None = None
    if question.ends is not None:
        count = len(question.answers) - question.prefer_not_to_say
        values = tuple(np.linspace(*question.ends, count).tolist())
    return Variable(
        name=name,
        identity=waves[since].identities[name],
        answers=question.answers[question.first_answer :],
        boxes=question.encoding.several,
        split=split,
        first=question.first_answer,
        values=values,
        steps=None,
        versions=tuple(_describe_version(one, split) for one in versions),
    )


def _describe_version(question: WaveQuestion, split: bool) -> VariableVersion:
    designs = [byte.design for byte in question.bytes(split)]
    return VariableVersion(
        question.wave.number, tuple(Coins(len(design.weights), design) for design in designs)
    )


@dataclass(frozen=True, eq=False)
class _Responses:
    """The responses to all versions in parts that fit into memory, to be gone through as often as needed.

    `places` are the leaves that the strata of the waves count in, `split` which variables are looked at
    answer by answer.
    """

    waves: Sequence[Wave]
    places: NDArray[np.int64]
    split: Mapping[str, bool]

    def __iter__(self) -> Iterator[CountedRows]:
        for wave in self.waves:
            for block in wave.blocks():
                codes = partial(self._codes, wave, block.tally)
                yield CountedRows(wave.number, self.places[block.places], block.tally.counts, codes)

    def _codes(self, wave: Wave, tally: Tally, name: str) -> list[NDArray[np.integer]]:
        return [byte.codes(tally) for byte in wave.questions[name].bytes(self.split[name])]
