"""Every kind of question under every design: estimates hit what is true, and standard errors say how closely.

20,000 made-up respondents with declared shares go the whole way: drawn, randomised, accepted,
stored, tallied, estimated. The rates of false alarms are stated with the tests.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

from server import reports
from server.people import survey_access
from server.privacy.designs import Design, k_ary, unary, weigh_between
from server.privacy.estimators import (
    control_item_test,
    estimate_answered_mean,
    estimate_mean,
    estimate_shares,
)
from server.reports import QuestionReport, Report, ShareRow, value_range
from server.simulation import Assumptions, simulate
from server.study.definitions import Question
from server.study.definitions.definition_reader import parse_definition
from server.study.kinds import KINDS
from tests.conftest import NewDatabase
from tests.support import every_kind, factories

RESPONDENTS = 20_000
REPETITIONS = 20_000
JOINT = 1 - 1e-8
"""Confidence of an interval that none of the hundred and more values here leaves once in a million runs."""
SHARES, MEANS = every_kind.true_shares(), every_kind.true_means()
QUESTIONS = {question.name: question for question in parse_definition(every_kind.document()).questions}


@pytest.fixture(scope="module")
def made_up_reports(sqlite: NewDatabase) -> tuple[Report, Report]:
    """What 20,000 made-up people gave, with intervals of 99.9 % and of the joint confidence."""
    database_url = sqlite(True)
    slug = factories.publish(database_url, every_kind.document()).slug
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        assumptions = Assumptions(every_kind.assumed_shares(), every_kind.assumed_means())
        for _ in simulate(session, survey, RESPONDENTS, assumptions):
            pass
        return reports.read(session, survey, confidence=0.999), reports.read(
            session, survey, confidence=JOINT
        )


def _find_missed(report: Report) -> dict[str, list[str]]:
    """By question, the true values that lie outside their intervals."""
    missed: dict[str, list[str]] = {}
    for entry in report.questions:
        name = entry.question.name
        missed[name] = [row.answer for row in entry.rows if not _holds(row, SHARES[name][row.answer])]
        if entry.mean is not None:
            assert entry.mean.estimate is not None
            low, high = entry.mean.estimate.interval
            missed[name] += [] if low <= MEANS[name] <= high else ["mean"]
    return missed


def _holds(row: ShareRow, share: float) -> bool:
    assert row.column.estimate is not None
    low, high = row.column.estimate.intervals[row.code]
    return bool(low <= share <= high)


def test_every_true_value_is_in_its_interval(made_up_reports: tuple[Report, Report]) -> None:
    """False alarms: fewer than 70 values at 1e-8 each, below 1e-6 even if Wilson's tails were half as large again."""
    report = made_up_reports[1]
    assert {entry.question.kind for entry in report.questions} == KINDS.keys()
    assert {entry.question.encoding for entry in report.questions} == {"whole", "one_hot", "boxes", "line"}
    assert report.n == RESPONDENTS
    assert {name: missed for name, missed in _find_missed(report).items() if missed} == {}


def test_intervals_of_999_in_1000_miss_no_more_than_they_say(made_up_reports: tuple[Report, Report]) -> None:
    """At most three questions with a miss.

    Questions are independent. The chance that one has a miss is at most 0.001 times its values,
    below 0.07 in all; four or more such questions have the chance 0.07^4 / 24 = 1e-6.
    """
    missed = _find_missed(made_up_reports[0])
    assert sum(len(entry.rows) + (entry.mean is not None) for entry in made_up_reports[0].questions) <= 70
    assert sum(bool(values) for values in missed.values()) <= 3, missed


def _held_under(entry: QuestionReport, designs: list[Design]) -> Iterator[bool]:
    """Whether each true value would be in its interval if these had been the designs."""
    for row in entry.rows:
        estimate = estimate_shares(row.column.counts, designs[entry.columns.index(row.column)], JOINT)
        low, high = estimate.intervals[row.code]
        yield bool(low <= SHARES[entry.question.name][row.answer] <= high)
    if entry.mean is not None:
        estimator = estimate_answered_mean if entry.question.prefer_not_to_say else estimate_mean
        mean = estimator(entry.columns[0].counts, designs[0], entry.mean.low, entry.mean.high, JOINT)
        yield mean.interval[0] <= MEANS[entry.question.name] <= mean.interval[1]


def test_another_design_would_be_noticed_in_every_question(made_up_reports: tuple[Report, Report]) -> None:
    """The broken twin: inverts a design that half of the people did not obey, but reported as if they were anybody."""
    for entry in made_up_reports[1].questions:
        assert all(_held_under(entry, [column.designs[0] for column in entry.columns])), entry.question.name
        wrong = [_blur_design(column.designs[0], 0.5) for column in entry.columns]
        assert not all(_held_under(entry, wrong)), entry.question.name


def _blur_design(design: Design, part: float) -> Design:
    """A part of the people report as if their truth were any."""
    weights = design.weights + np.round(part * (design.weights.mean(axis=0) - design.weights)).astype(
        np.int64
    )
    weights[:, 0] += 2**32 - weights.sum(axis=1)
    return Design(weights)


def _report_chances(question: Question, column: int) -> NDArray[np.float64]:
    """Chances of the reports at one byte, from the true answers and the integers that browsers draw from."""
    design = question.designs[column]
    shares = SHARES[question.name]
    if question.encoding in ("one_hot", "boxes"):
        share = shares[question.answers[column]]
        return np.array([1 - share, share]) @ design.matrix
    if question.encoding == "whole":
        return np.array([shares[answer] for answer in question.answers]) @ design.matrix
    assert question.grid is not None
    chances = every_kind.grid_chances()
    rows = [weigh_between(design, step, question.grid.of) for step in range(question.grid.of + 1)]
    numbers = chances @ np.array(rows) / 2**32
    refusing = shares.get("prefer_not_to_say", 0.0)
    return (1 - refusing) * numbers + (refusing * design.matrix[2] if refusing else 0)


def _linear(design: Design) -> NDArray[np.float64]:
    """The estimator as a matrix, from what it makes of one report of each kind."""
    return np.column_stack(
        [estimate_shares(unit, design).shares for unit in np.eye(len(design.weights), dtype=int)]
    )


def _compare_errors(question: Question, column: int) -> Iterator[tuple[str, float, float, float]]:
    """Name, stated standard error, standard deviation of 20,000 estimates, and the error without coins."""
    design, chances = question.designs[column], _report_chances(question, column)
    counts = np.random.default_rng().multinomial(RESPONDENTS, chances, size=REPETITIONS)
    estimates = counts / RESPONDENTS @ _linear(design).T
    expected = np.round(RESPONDENTS * chances).astype(int)
    stated = estimate_shares(expected, design)
    naive = np.sqrt(stated.observed * (1 - stated.observed) / RESPONDENTS)
    for code, answer in enumerate(question.answers[: estimates.shape[1]]):
        yield f"{question.name}.{answer}", stated.standard_errors[code], estimates[:, code].std(), naive[code]
    ends = value_range(question)
    if ends is None:
        return
    low, high = ends
    numeric = estimates[:, :-1] if question.prefer_not_to_say else estimates
    means = numeric @ np.linspace(low, high, numeric.shape[1]) / numeric.sum(axis=1)
    estimator = estimate_answered_mean if question.prefer_not_to_say else estimate_mean
    mean = estimator(expected, design, low, high)
    assert mean.mean == pytest.approx(MEANS[question.name], rel=0.01)
    assert mean.standard_error is not None
    reported = expected[: numeric.shape[1]]
    spread = np.cov(np.linspace(low, high, numeric.shape[1]), fweights=reported)
    yield f"mean of {question.name}", mean.standard_error, means.std(), math.sqrt(spread / reported.sum())


@pytest.mark.parametrize("name", QUESTIONS)
def test_standard_errors_are_those_of_twenty_thousand_repetitions(name: str) -> None:
    """Within 3 %. The standard deviation of 20,000 estimates is itself within 0.5 % (one standard error) of the
    true one, so that 3 % is six of them: a false alarm in 10^9 each."""
    question = QUESTIONS[name]
    for column in {design: number for number, design in enumerate(question.designs)}.values():
        for what, stated, empirical, naive in _compare_errors(question, column):
            assert stated == pytest.approx(empirical, rel=0.03), what
            assert naive != pytest.approx(empirical, rel=0.03), (
                f"the broken twin, {what}: as if there were no coin"
            )


def test_the_tolerance_of_three_percent_is_six_standard_errors() -> None:
    """A sample variance of normal values, times its degrees of freedom, is chi-squared."""
    degrees = REPETITIONS - 1
    outside = chi2.cdf(degrees * 0.97**2, degrees) + chi2.sf(degrees * 1.03**2, degrees)
    assert outside < 1e-8


def _wang_k_ary(share: float, k: int, epsilon: float, n: int) -> float:
    """Wang et al. (2017), section 4.1: n times f is the number of people, whose answers are fixed."""
    e = math.exp(epsilon)
    return ((k - 2 + e) / (e - 1) ** 2 + share * (k - 2) / (e - 1)) / n


def _wang_optimised(share: float, k: int, epsilon: float, n: int) -> float:
    e = math.exp(epsilon)
    return (4 * e / (e - 1) ** 2 + share) / n


def _wang_symmetric(share: float, k: int, epsilon: float, n: int) -> float:
    e = math.exp(epsilon / 2)
    return e / (e - 1) ** 2 / n


ENCODINGS: dict[str, tuple[Any, Any]] = {
    "k_ary": (_wang_k_ary, k_ary),
    "unary": (_wang_optimised, lambda k, epsilon: unary(epsilon)),
    "symmetric_unary": (_wang_symmetric, lambda k, epsilon: unary(epsilon, optimised=False)),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(("k", "epsilon"), [(3, 0.5), (4, 1.1), (7, 1.5), (20, 1.0), (50, 3.0)])
def test_one_of_several_has_the_variance_of_the_textbook(encoding: str, k: int, epsilon: float) -> None:
    """Wang et al. (2017) fix everybody's answer; drawing people adds f (1 - f) / n. Twins: the others' formulas."""
    n = 10**7
    textbook, make = ENCODINGS[encoding]
    design = make(k, epsilon)
    for share in (0.0, 0.1, 0.4, 0.9):
        shares = [share, 1 - share] if len(design.weights) == 2 else [share, 1 - share, *[0] * (k - 2)]
        code = 0 if len(design.weights) > 2 else 1
        chances = np.array(shares if code == 0 else shares[::-1]) @ design.matrix
        stated = estimate_shares(np.round(n * chances).astype(int), design).standard_errors[code] ** 2
        drawing = share * (1 - share) / n
        assert stated == pytest.approx(textbook(share, k, epsilon, n) + drawing, rel=1e-4)
        for other, (formula, _) in ENCODINGS.items():
            if other != encoding and not (k == 3 and share > 0.3):
                assert stated != pytest.approx(formula(share, k, epsilon, n) + drawing, rel=1e-3), other


def test_both_encodings_of_one_question_agree(made_up_reports: tuple[Report, Report]) -> None:
    """`city` and `town` have the same true shares: every difference is within 5.7 of its own standard errors."""
    by_name = {entry.question.name: entry for entry in made_up_reports[0].questions}
    for one, other in zip(by_name["city"].rows, by_name["town"].rows, strict=True):
        assert one.column.estimate is not None
        assert other.column.estimate is not None
        difference = one.column.estimate.shares[1] - other.column.estimate.shares[1]
        error = math.hypot(one.column.estimate.standard_errors[1], other.column.estimate.standard_errors[1])
        assert abs(difference) < 5.7 * error


def test_the_control_item_is_quiet_while_nobody_answers_it_yes(
    made_up_reports: tuple[Report, Report],
) -> None:
    (moon,) = (entry for entry in made_up_reports[0].questions if entry.question.control)
    assert moon.control is not None
    assert moon.control.above > 1e-7
    assert moon.control.below > 1e-7
    # The twin: the same share of reports where three in a hundred answer yes at random.
    counts = np.round(RESPONDENTS * np.array([0.97, 0.03]) @ moon.columns[0].designs[0].matrix).astype(int)
    assert control_item_test(counts, moon.columns[0].designs[0]).above < 1e-5
