"""The plan of a survey and of each of its questions."""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

from server.privacy.designs import Design, gamma_of, k_ary
from server.privacy.planning import belief_after_report
from server.study.definitions import Definition, Question, left_of, spent_of
from server.study.kinds import WHATS, What
from server.study.planning.targets import Target, target

DEFAULT_MARGIN = 0.05
CONFIDENCE = 0.95
"""Of the intervals that a plan's margin is half of."""
PRIOR = 0.1
"""What an observer believed of somebody's answer before they saw the report."""


@dataclass(frozen=True)
class QuestionPlan:
    """What a question needs and what it reveals.

    `number` is its place in the survey, from 1, as in the editor. `gamma` is that of the coin flip with the same
    privacy loss, None where 32-bit coins have none. `belief` is the most that an observer can believe of an answer that
    they gave 10 % before, after the report that says most. `under_k_ary` are the targets of a scale with an
    ordinal design, had it k-ary response at the same loss; empty for all others.
    """

    number: int
    question: Question
    epsilon: float
    gamma: float | None
    belief: float
    targets: tuple[Target, ...]
    under_k_ary: tuple[Target, ...] = ()

    @property
    def respondents(self) -> int:
        """The fewest that give the margin for everything that is promised of the question."""
        return max(target.respondents for target in self.targets if target.promised)


@dataclass(frozen=True)
class Shortfall:
    """Something that the planned respondents cannot tell as precisely as was wanted."""

    plan: QuestionPlan
    target: Target


@dataclass(frozen=True)
class SurveyPlan:
    """What a survey needs and what one respondent spends in it; `left` is what the budget leaves.

    `spent` is what is shown beside a budget: with `left` it adds up to it.
    """

    language: str
    questions: tuple[QuestionPlan, ...]
    respondents: int | None
    margin: float
    confidence: float
    epsilon: float
    belief: float
    budget: float | None
    left: float | None
    spent: float

    @property
    def binding(self) -> QuestionPlan:
        """The question that needs the most respondents."""
        return max(self.questions, key=lambda planned: planned.respondents)

    @property
    def shortfalls(self) -> tuple[Shortfall, ...]:
        """What cannot be reached, in the order of the questions."""
        return tuple(
            Shortfall(planned, target)
            for planned in self.questions
            for target in planned.targets
            if target.promised and target.reachable is False
        )


def plan(
    definition: Definition,
    respondents: int | None = None,
    margin: float | None = None,
    confidence: float = CONFIDENCE,
) -> SurveyPlan:
    """Plan a survey for so many respondents and this margin; without them, as the definition plans.

    A definition without a plan is planned for ± 5 points and no number of respondents.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    if definition.plan is not None:
        respondents = definition.plan.respondents if respondents is None else respondents
        margin = definition.plan.margin if margin is None else margin
    wanted = DEFAULT_MARGIN if margin is None else margin
    epsilon, budget = math.fsum(question.epsilon for question in definition.questions), definition.budget
    return SurveyPlan(
        language=definition.language,
        questions=tuple(
            plan_question(entry, place, respondents, wanted, confidence)
            for place, entry in enumerate(definition.entries, start=1)
            if isinstance(entry, Question)
        ),
        respondents=respondents,
        margin=wanted,
        confidence=confidence,
        epsilon=epsilon,
        belief=belief_after_report(epsilon, PRIOR),
        budget=budget,
        left=None if budget is None else left_of(budget, epsilon),
        spent=epsilon if budget is None else spent_of(budget, epsilon),
    )


def plan_question(
    question: Question,
    number: int,
    respondents: int | None,
    margin: float,
    confidence: float = CONFIDENCE,
    shares: tuple[float, ...] | None = None,
) -> QuestionPlan:
    """Plan one question, for the worst true shares or for these (one for each row of its design)."""
    ordinal = question.choice.mechanism == "ordinal"
    wanted = [what for what, _width in list_promised(question)]

    def targets(design: Design, promised: Collection[What]) -> tuple[Target, ...]:
        return tuple(
            replace(
                target(what, design, respondents, margin, confidence, answered, shares),
                promised=what in promised,
                range=width,
            )
            for what, answered, width in question.traits.list_estimands(question)
        )

    return QuestionPlan(
        number=number,
        question=question,
        epsilon=question.epsilon,
        gamma=_gamma(question.epsilon),
        belief=belief_after_report(question.epsilon, PRIOR),
        targets=targets(question.designs[0], wanted),
        under_k_ary=targets(k_ary(len(question.answers), question.epsilon), WHATS) if ordinal else (),
    )


def list_promised(question: Question) -> list[tuple[What, float]]:
    """Which of its results the margin is wanted of, each with what a margin of 1 is; of an ordinal design the mean."""
    ordinal = question.choice.mechanism == "ordinal"
    return [
        (what, width)
        for what, _answered, width in question.traits.list_estimands(question)
        if what == "mean" or not ordinal
    ]


def _gamma(epsilon: float) -> float | None:
    try:
        return gamma_of(epsilon)
    except ValueError:  # a device may lose less than any coin of 32 bits can
        return None
