"""People who do not exist: what each would enter, what they were shown, and what their browsers would report.

Answers are kept as arrays with an entry for each person: the number of the answer; steps above
the lowest number, -1 for "prefer not to say"; or a row of ticked boxes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.privacy.designs import Design, draw_coins, report_between
from server.reports import value_range
from server.simulation.assumptions import Assumptions, assumed_mean, probabilities, share_of_each_box
from server.study.definitions import PREFER_NOT_TO_SAY, Condition, Definition, Question

Answers = NDArray[Any]

_SPREAD = 4.0
"""Sum of the two parameters of the Beta distribution that made-up numbers have."""


@dataclass(frozen=True)
class Entered:
    """What all people together entered: true shares of the answers, and of those who gave a number, the mean."""

    shares: tuple[float, ...]
    mean: float | None


@dataclass(frozen=True)
class People:
    """Made-up respondents of a survey, with the answers that stand for each of them (not shown: `otherwise`)."""

    definition: Definition
    answers: Mapping[str, Answers]

    def find_entered(self) -> dict[str, Entered]:
        """By question, what the estimates estimate."""
        return {
            question.name: _find_entered(question, self.answers[question.name])
            for question in self.definition.questions
        }

    def reports(self) -> NDArray[np.uint8]:
        """What their browsers send, a row for each; other coins each time."""
        columns = [
            report
            for question in self.definition.questions
            for report in _reports(question, self.answers[question.name])
        ]
        return np.column_stack(columns)


def draw_people(definition: Definition, respondents: int, assumptions: Assumptions) -> People:
    """So many people of whom `assumptions` holds, answers to different questions being independent.

    Assumptions are about the people who are shown a question.
    """
    generator = np.random.default_rng()
    answers: dict[str, Answers] = {}
    questions = {question.name: question for question in definition.questions}
    for question in definition.questions:
        entered = _draw_entered(question, respondents, assumptions, generator)
        if question.show_if is not None:
            earlier = questions[question.show_if.question]
            shown = _meets(question.show_if, earlier, answers[earlier.name])
            entered[~shown] = _otherwise(question)
        answers[question.name] = entered
    return People(definition, answers)


def _draw_entered(
    question: Question, respondents: int, assumptions: Assumptions, generator: np.random.Generator
) -> Answers:
    if question.encoding.several:
        shares = share_of_each_box(question, assumptions)
        refusing = shares.get(PREFER_NOT_TO_SAY, 0.0)
        chances = [min(share / (1 - refusing), 1.0) if refusing < 1 else 0.0 for share in shares.values()]
        boxes: Answers = generator.random((respondents, len(chances))) < np.array(chances)
        if question.prefer_not_to_say:
            silent = generator.random(respondents) < refusing
            boxes[:, -1] = silent
            boxes[silent, :-1] = False
        return boxes
    chances = list(probabilities(question, assumptions).values())
    if question.grid is None:
        return generator.choice(len(chances), size=respondents, p=np.array(chances) / sum(chances))
    low, high = question.grid.low, question.grid.high
    position = (assumed_mean(question, assumptions) - low) / (high - low)
    if 0 < position < 1:
        leanings = generator.beta(_SPREAD * position, _SPREAD * (1 - position), respondents)
    else:
        leanings = np.full(respondents, position)
    steps = generator.binomial(question.grid.of, leanings)
    return np.where(generator.random(respondents) < chances[0], steps, -1)


def _otherwise(question: Question) -> Any:
    """The answer of whoever is not shown a question, as an entry of its array."""
    assert question.otherwise is not None
    truths = question.truths(question.otherwise)
    if question.encoding.several:
        return np.array(truths, dtype=np.bool_)
    if question.grid is not None:
        if question.otherwise == PREFER_NOT_TO_SAY:
            return -1
        assert isinstance(question.otherwise, int | float)
        return question.grid.steps(question.otherwise)
    return question.answers.index(str(question.otherwise))


def _meets(condition: Condition, question: Question, answers: Answers) -> NDArray[np.bool_]:
    """Who answered the earlier question as the condition asks."""
    if question.encoding.several:
        asked = [name in condition.any_of for name in question.answers]
        return np.asarray((answers & np.array(asked)).any(axis=1))
    if question.grid is None:
        return np.isin(answers, [question.answers.index(name) for name in condition.any_of])
    if condition.span is None:
        return np.asarray((answers < 0) & (PREFER_NOT_TO_SAY in condition.any_of))
    grid, (first, last) = question.grid, condition.span
    distinct, person = np.unique(answers, return_inverse=True)
    inside = [step >= 0 and first <= grid.number(int(step)) <= last for step in distinct]
    return np.array(inside)[person]


def _rows(question: Question, answers: Answers) -> NDArray[np.int64]:
    """Which of the question's answers each person gave; a number known by its ends has none."""
    if question.grid is None:
        return answers.astype(np.int64)
    if question.encoding.between_ends:
        return np.where(answers < 0, 2, 0)
    bins = np.searchsorted(question.grid.first_steps, answers, side="right") - 1
    return np.where(answers < 0, len(question.answers) - 1, bins)


def _reports(question: Question, answers: Answers) -> list[NDArray[np.uint8]]:
    n = len(answers)
    if question.encoding.several:
        return _by_box(question.designs, answers)
    rows = _rows(question, answers)
    if question.encoding.by_answer:
        return _by_box(question.designs, rows[:, None] == np.arange(len(question.answers)))
    (design,) = question.designs
    coins = draw_coins(n)
    reports = design.report(rows, coins)
    if question.encoding.between_ends and question.grid is not None:
        number = answers >= 0
        reports[number] = report_between(design, answers[number], question.grid.of, coins[number])
    return [reports]


def _by_box(designs: tuple[Design, ...], boxes: NDArray[np.bool_]) -> list[NDArray[np.uint8]]:
    return [
        design.report(box.astype(np.int64), draw_coins(len(box)))
        for design, box in zip(designs, boxes.T, strict=True)
    ]


def _find_entered(question: Question, answers: Answers) -> Entered:
    if question.encoding.several:
        return Entered(tuple(answers.mean(axis=0).tolist()), None)
    counts = np.bincount(_rows(question, answers), minlength=len(question.answers))
    shares = tuple((counts / len(answers)).tolist())
    ends = value_range(question)
    if ends is None:
        return Entered(shares, None)
    low, high = ends
    levels = len(question.answers) - question.prefer_not_to_say
    of = question.grid.of if question.grid is not None else levels - 1
    given = answers[(answers >= 0) & (answers <= of)]
    mean = low + (high - low) * float(given.mean()) / of if given.size else None
    return Entered(shares, mean)
