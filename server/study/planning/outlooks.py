"""What a survey takes and reveals as a whole: the figures that the editor keeps in sight, and without a question."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from server.privacy.planning import Guesses, belief_after_report, count_guesses
from server.study.definitions import Question
from server.study.planning.plans import DEFAULT_MARGIN, PRIOR, QuestionPlan, plan_question
from server.study.planning.targets import Target


@dataclass(frozen=True)
class Outlook:
    """What all questions together take and reveal, for intervals of ± `margin`.

    `respondents` are those that are planned, None without a plan.
    """

    questions: tuple[QuestionPlan, ...]
    respondents: int | None
    margin: float

    @cached_property
    def guesses(self) -> Guesses:
        """What the first screen may say."""
        return count_guesses([planned.epsilon for planned in self.questions])

    @property
    def epsilon(self) -> float:
        """What one respondent spends, in nats."""
        return math.fsum(planned.epsilon for planned in self.questions)

    @property
    def belief(self) -> float:
        """The most that who believed 10 % of something before may believe after all answers together."""
        return belief_after_report(self.epsilon, PRIOR)

    @cached_property
    def binding(self) -> QuestionPlan:
        """The least precise question: that which needs the most respondents."""
        return max(self.questions, key=lambda planned: planned.respondents)

    @property
    def needed(self) -> int:
        """The fewest respondents that give the margin everywhere."""
        return self.binding.respondents

    @cached_property
    def widest(self) -> Target:
        """What is least precise of the least precise question."""
        return max(
            (target for target in self.binding.targets if target.promised),
            key=lambda target: target.respondents,
        )

    @property
    def reached(self) -> float | None:
        """The margin that the planned respondents give everywhere; None without a plan."""
        margins = [
            target.reached
            for planned in self.questions
            for target in planned.targets
            if target.promised and target.reached is not None
        ]
        return max(margins, default=None)

    @property
    def enough(self) -> bool | None:
        """Whether the planned respondents are enough; None without a plan."""
        return None if self.respondents is None else self.respondents >= self.needed

    def without(self, number: int) -> "Outlook | None":
        """The same without the question of this number, where the others keep their strengths; None without others."""
        rest = tuple(planned for planned in self.questions if planned.number != number)
        return replace(self, questions=rest) if rest else None


def foresee(
    questions: Mapping[int, Question], respondents: int | None = None, margin: float | None = None
) -> Outlook | None:
    """What these questions, by their numbers, take and reveal; None without any.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    wanted = DEFAULT_MARGIN if margin is None else margin
    planned = tuple(
        plan_question(question, number, respondents, wanted) for number, question in questions.items()
    )
    return Outlook(planned, respondents, wanted) if planned else None
