"""Planning means: every report enumerated, the worst true answers, the delta method, the price, refusals."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from server.privacy.designs import Design, coin_flip, custom, for_epsilon, k_ary, ordinal
from server.privacy.planning import (
    margin_mean,
    price_of_privacy_mean,
    respondents_for_margin,
    respondents_for_margin_mean,
    worst_shares_mean,
)

Z = norm.ppf(0.975)
SCALES = [coin_flip(0.25), coin_flip(0.01), ordinal(3, 2.0), ordinal(5, 1.0), ordinal(10, 4.0), k_ary(5, 1.0)]
SKEWED = custom([[0.7, 0.1, 0.1, 0.1], [0.2, 0.4, 0.2, 0.2], [0.1, 0.3, 0.5, 0.1], [0.1, 0.2, 0.3, 0.4]])
REFUSING = [k_ary(3, 1.0), k_ary(3, 3.0), k_ary(6, 2.0), SKEWED]
"""Designs whose last truth is "prefer not to say"."""


def by_enumeration(design: Design, shares: NDArray[np.float64]) -> float:
    """Standard deviation of the mean, on a scale from 0 to 1, as estimated from one report."""
    chances = shares @ design.matrix
    values = np.linalg.inv(design.matrix) @ np.linspace(0, 1, len(shares))
    return math.sqrt(chances @ values**2 - (chances @ values) ** 2)


def by_gradient(design: Design, shares: NDArray[np.float64]) -> float:
    """The same for the mean of all truths but the last: the gradient of the ratio, by small differences."""
    chances = shares @ design.matrix
    inverse = np.linalg.inv(design.matrix)

    def ratio(reports: NDArray[np.float64]) -> float:
        estimated = reports @ inverse
        return float(estimated[:-1] @ np.linspace(0, 1, len(shares) - 1) / estimated[:-1].sum())

    step = 1e-6
    gradient = np.array(
        [
            (ratio(chances + step * one) - ratio(chances - step * one)) / (2 * step)
            for one in np.eye(len(shares))
        ]
    )
    return math.sqrt(gradient @ (np.diag(chances) - np.outer(chances, chances)) @ gradient)


def edges(truths: int, steps: int = 101) -> list[NDArray[np.float64]]:
    """True shares with at most two answers, in steps of 1 %."""
    parts = np.linspace(0, 1, steps)
    return [
        one * part + other * (1 - part)
        for one in np.eye(truths)
        for other in np.eye(truths)
        for part in parts
    ]


@pytest.mark.parametrize("design", SCALES)
def test_margins_are_those_of_every_report_enumerated(design: Design) -> None:
    for shares in np.random.default_rng(3).dirichlet(np.ones(len(design.weights)), 20):
        expected = 6 * Z * by_enumeration(design, shares) / math.sqrt(900)
        assert margin_mean(900, design, -2, 4, shares=shares) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("design", SCALES)
def test_no_true_answers_need_more_respondents_than_the_worst(design: Design) -> None:
    truths, worst = len(design.weights), worst_shares_mean(design)
    tried = [*np.random.default_rng(4).dirichlet(np.ones(truths), 1000), *edges(truths)]
    largest = max(by_enumeration(design, shares) for shares in tried)
    assert largest <= by_enumeration(design, worst) * (1 + 1e-9)
    assert largest == pytest.approx(by_enumeration(design, worst), rel=1e-4)
    assert margin_mean(1000, design, 0, 1) == pytest.approx(margin_mean(1000, design, 0, 1, shares=worst))


@pytest.mark.parametrize("design", REFUSING)
def test_the_mean_of_those_who_answer_has_the_margin_of_the_delta_method(design: Design) -> None:
    for shares in np.random.default_rng(5).dirichlet(np.ones(len(design.weights)), 20):
        expected = 40 * Z * by_gradient(design, shares) / math.sqrt(900)
        assert margin_mean(900, design, 0, 40, shares=shares, answered=1) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("design", REFUSING)
@pytest.mark.parametrize("answered", [1.0, 0.9, 0.3])
def test_no_true_answers_of_those_who_answer_need_more_than_the_worst(
    design: Design, answered: float
) -> None:
    numbers, worst = len(design.weights) - 1, worst_shares_mean(design, answered)
    assert worst[-1] == pytest.approx(1 - answered, abs=1e-12)
    assert worst.sum() == pytest.approx(1, abs=1e-12)
    given = [*np.random.default_rng(6).dirichlet(np.ones(numbers), 300), *edges(numbers, 41)]
    largest = max(by_gradient(design, np.append(answered * shares, 1 - answered)) for shares in given)
    stated = margin_mean(1, design, 0, 1, answered=answered) / Z
    assert largest <= stated * (1 + 1e-6)
    assert largest == pytest.approx(stated, rel=1e-3)


def test_when_everybody_answers_more_options_still_cost_more() -> None:
    plain, refusing = for_epsilon(1.0), k_ary(3, 1.0)
    needed = [
        respondents_for_margin_mean(0.05, plain, 0, 1),
        respondents_for_margin_mean(0.05, refusing, 0, 1, answered=1),
        respondents_for_margin_mean(0.05, refusing, 0, 1, answered=0.8),
        respondents_for_margin_mean(0.05, refusing, 0, 1, answered=0.5),
    ]
    assert needed == sorted(set(needed))


def test_a_rounded_number_is_planned_like_a_yes_no_question() -> None:
    design = coin_flip(0.25)
    assert respondents_for_margin_mean(2, design, 0, 40) == respondents_for_margin(0.05, design) == 1537
    assert margin_mean(1537, design, 10, 50) == pytest.approx(40 * 0.5 * Z / 0.5 / math.sqrt(1537), rel=1e-9)
    mean = 7.0
    expected = respondents_for_margin(0.1 / 40, design, share=mean / 40)
    assert respondents_for_margin_mean(0.1, design, 0, 40, shares=[1 - mean / 40, mean / 40]) == expected


@pytest.mark.parametrize("design", SCALES)
def test_one_respondent_fewer_misses_the_margin(design: Design) -> None:
    n = respondents_for_margin_mean(0.2, design, 1, 5)
    assert margin_mean(n, design, 1, 5) <= 0.2 < margin_mean(n - 1, design, 1, 5)


@pytest.mark.parametrize("design", SCALES)
def test_the_price_is_the_ratio_of_respondents(design: Design) -> None:
    truths = len(design.weights)
    nearly_direct = custom(np.eye(truths) * (1 - truths * 1e-9) + 1e-9)
    shares = np.linspace(1, 2, truths) / np.linspace(1, 2, truths).sum()
    for given_shares in (None, shares):
        private, direct = (
            respondents_for_margin_mean(0.0005, each, 0, 1, shares=given_shares)
            for each in (design, nearly_direct)
        )
        assert private / direct == pytest.approx(price_of_privacy_mean(design, given_shares), rel=1e-5)


def test_the_price_of_those_who_answer_counts_the_refusals_of_the_direct_question_too() -> None:
    design = k_ary(3, 1.0)
    nearly_direct = custom(np.eye(3) * (1 - 3e-9) + 1e-9)
    private, direct = (
        respondents_for_margin_mean(0.0005, each, 0, 1, answered=0.7) for each in (design, nearly_direct)
    )
    assert private / direct == pytest.approx(price_of_privacy_mean(design, answered=0.7), rel=1e-5)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"low": 5, "high": 5}, r"^low and high must be finite with low < high; they are 5 and 5"),
        ({"low": -1e308, "high": 1e308}, r"^low and high must be finite with low < high"),
        ({"margin": 0}, r"^margin must be positive and finite; it is 0"),
        ({"answered": 0}, r"^answered must be in \[1e-06, 1\]; it is 0"),
        ({"answered": 1.5}, r"^answered must be in \[0, 1\]; it is 1\.5"),
        ({"answered": 1, "design": coin_flip(0.25)}, r"^design must have at least 3 truths, .* it has 2"),
        ({"answered": 1, "shares": [0, 0, 1]}, r"^shares must leave 1e-06 or more to numbers"),
    ],
)
def test_what_cannot_be_planned_is_refused(changed: dict[str, object], message: str) -> None:
    arguments = {"margin": 1, "design": k_ary(3, 1.0), "low": 0, "high": 9}
    respondents_for_margin_mean(**arguments)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=message):
        respondents_for_margin_mean(**(arguments | changed))  # type: ignore[arg-type]
