"""Planning several shares: the estimator's own covariance, the worst true shares, the smallest n, the price."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import norm

from server.privacy.designs import Design, coin_flip, custom, forced_response, k_ary, kuk, ordinal, unary
from server.privacy.planning import (
    belief_after_report,
    margin,
    margin_shares,
    price_of_privacy,
    price_of_privacy_shares,
    respondents_for_margin,
    respondents_for_margin_shares,
    worst_shares,
)

LN3 = math.log(3)
WIDE = custom([[0.6, 0.1, 0.2, 0.1], [0.1, 0.5, 0.1, 0.3], [0.2, 0.2, 0.4, 0.2]])
"""More reports than truths, and nothing symmetric."""
DESIGNS = [
    coin_flip(0.25),
    kuk(0.8, 0.3),
    k_ary(3, 0.5),
    k_ary(4, LN3),
    ordinal(5, 2.0),
    ordinal(7, 0.5),
    WIDE,
]
yes_no = st.one_of(
    st.floats(0.001, 0.4999).map(coin_flip),
    st.tuples(st.floats(0.01, 0.4), st.floats(0.5, 0.99)).map(lambda pair: kuk(*pair)),
)


def by_enumeration(design: Design, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard deviation of each share as estimated from one report: every report, its chance and its value."""
    chances = shares @ design.matrix
    if design.matrix.shape[0] == design.matrix.shape[1]:
        values = np.linalg.inv(design.matrix)  # [report, truth]
    else:
        # Least squares weighted by the covariance of the reports when all truths are equally frequent.
        weights = np.diag(1 / design.matrix.mean(axis=0))
        values = weights @ design.matrix.T @ np.linalg.inv(design.matrix @ weights @ design.matrix.T)
    return np.sqrt(chances @ values**2 - (chances @ values) ** 2)


@pytest.mark.parametrize("design", DESIGNS)
def test_margins_are_those_of_every_report_enumerated(design: Design) -> None:
    for shares in np.random.default_rng(1).dirichlet(np.ones(len(design.weights)), 20):
        expected = norm.ppf(0.95) * by_enumeration(design, shares) / math.sqrt(700)
        assert margin_shares(700, design, 0.9, shares) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("design", DESIGNS)
def test_no_true_shares_need_more_respondents_than_the_worst(design: Design) -> None:
    truths = len(design.weights)
    needed, widest = respondents_for_margin_shares(0.05, design), margin_shares(1000, design)
    # Everywhere, and along the edges, where the worst ones are.
    generator = np.random.default_rng(2)
    tried = [*generator.dirichlet(np.ones(truths), 1000), *generator.dirichlet(np.full(truths, 0.1), 1000)]
    for one in np.eye(truths):
        tried += [
            one * part + other * (1 - part) for other in np.eye(truths) for part in np.linspace(0, 1, 101)
        ]
    spread = np.array([by_enumeration(design, shares) for shares in tried])
    largest = norm.ppf(0.975) * spread.max(axis=0) / math.sqrt(1000)
    assert (largest <= widest * (1 + 1e-9)).all()
    assert largest == pytest.approx(widest, rel=1e-4)  # reached, but for the steps of 1 %
    at_worst = worst_shares(design)
    assert at_worst.sum() == pytest.approx(1, abs=1e-12)
    assert respondents_for_margin_shares(0.05, design, shares=at_worst) == needed


@given(yes_no, st.floats(0, 1), st.floats(1e-3, 0.9), st.floats(0.5, 0.999))
def test_a_yes_no_question_is_planned_as_by_the_exact_functions(
    design: Design, share: float, half_width: float, confidence: float
) -> None:
    shares = [1 - share, share]
    exact = margin(1000, design, confidence, share)
    assert margin_shares(1000, design, confidence, shares) == pytest.approx([exact, exact], rel=1e-6)
    n = respondents_for_margin_shares(half_width, design, confidence, shares)
    assert n == pytest.approx(respondents_for_margin(half_width, design, confidence, share), rel=1e-6, abs=1)
    assert respondents_for_margin_shares(half_width, design, confidence) >= n


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("half_width", [0.3, 0.05, 0.01])
def test_one_respondent_fewer_misses_the_margin(design: Design, half_width: float) -> None:
    n = respondents_for_margin_shares(half_width, design)
    assert margin_shares(n, design).max() <= half_width < margin_shares(n - 1, design).max()


@pytest.mark.parametrize("options", [3, 4, 10])
def test_a_rare_option_has_the_variance_of_the_published_formula(options: int) -> None:
    # Wang et al. (2017), equation 4: n Var = (k - 2 + e^eps) / (e^eps - 1)^2 for k-ary response, at a share of 0.
    shares = np.append(np.zeros(1), np.full(options - 1, 1 / (options - 1)))
    expected = norm.ppf(0.975) * math.sqrt((options - 2 + 3) / (3 - 1) ** 2 / 1000)
    assert margin_shares(1000, k_ary(options, LN3), shares=shares)[0] == pytest.approx(expected, rel=1e-6)
    # Equation 8: 4 e^eps / (e^eps - 1)^2 for a box of unary encoding.
    boxed = norm.ppf(0.975) * math.sqrt(4 * 3 / (3 - 1) ** 2 / 1000)
    assert margin_shares(1000, unary(LN3), shares=[1, 0])[1] == pytest.approx(boxed, rel=1e-6)


def test_worked_numbers() -> None:
    # Four options, e^eps = 3: kept 1/2, each other 1/6, slope 1/3. An option that everybody has is reported by
    # half: variance 1/4 * 3^2 = 2.25, nine times the 1/4 of a direct question at 1/2.
    assert respondents_for_margin_shares(0.05, k_ary(4, LN3)) == math.ceil(
        norm.ppf(0.975) ** 2 * 2.25 / 0.0025
    )
    assert price_of_privacy_shares(k_ary(4, LN3)) == pytest.approx(9, rel=1e-6)
    # Pr(yes | no) = 0.3, slope 1/2: half of the reports are "yes" at a share of 0.4.
    assert worst_shares(kuk(0.8, 0.3)) == pytest.approx([0.6, 0.4], abs=1e-6)


@pytest.mark.parametrize("design", DESIGNS)
def test_the_price_is_the_ratio_of_respondents(design: Design) -> None:
    truths = len(design.weights)
    nearly_direct = custom(np.eye(truths) * (1 - truths * 1e-9) + 1e-9)
    shares = np.linspace(1, 2, truths) / np.linspace(1, 2, truths).sum()
    for given_shares in (None, shares):
        private, direct = (
            respondents_for_margin_shares(0.0005, each, shares=given_shares)
            for each in (design, nearly_direct)
        )
        assert private / direct == pytest.approx(price_of_privacy_shares(design, given_shares), rel=1e-5)


def test_the_price_of_a_yes_no_question_is_that_of_the_exact_function() -> None:
    for design in (coin_flip(0.25), coin_flip(0.01), forced_response(0.75, 0.1)):
        expected = price_of_privacy(design, 0.1)
        assert price_of_privacy_shares(design, [0.9, 0.1]) == pytest.approx(expected, rel=1e-9)
    assert price_of_privacy_shares(coin_flip(0.25)) == pytest.approx(4, rel=1e-12)


@pytest.mark.parametrize("shares", [[1, 0, 0], [0, 1, 0], [0, 1 - 1e-17, 0]])
def test_a_price_has_no_meaning_where_a_direct_question_is_certain(shares: list[float]) -> None:
    with pytest.raises(ValueError, match=r"^shares must leave a direct question uncertain"):
        price_of_privacy_shares(k_ary(3, 1.0), shares)


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        (
            [0.5, 0.5],
            r"^shares must have one entry for each of the 3 truths of the design; their shape is \(2,\)",
        ),
        ([0.5, 0.6, -0.1], r"^shares must be in \[0, 1\]; they are \[0\.5, 0\.6, -0\.1\]"),
        ([0.5, 0.5, 0.1], r"^shares must have the sum 1; it is 1\.1"),
    ],
)
def test_shares_that_are_none_are_refused(shares: list[float], message: str) -> None:
    for call in (
        lambda: margin_shares(100, k_ary(3, 1.0), shares=shares),
        lambda: respondents_for_margin_shares(0.05, k_ary(3, 1.0), shares=shares),
        lambda: price_of_privacy_shares(k_ary(3, 1.0), shares),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_there_is_no_largest_plan() -> None:
    assert respondents_for_margin_shares(5e-324, k_ary(4, 1.0)) > 10**640
    assert margin_shares(10**700, k_ary(4, 1.0)).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("prior", [0.01, 0.1, 0.5, 0.9])
def test_no_observer_believes_more_than_stated_and_one_believes_it(design: Design, prior: float) -> None:
    # Every answer held at the prior, the rest on every other answer in turn or spread evenly; every report.
    truths, stated = len(design.weights), belief_after_report(design.epsilon, prior)
    highest = 0.0
    for truth in range(truths):
        for others in [*np.eye(truths), np.ones(truths)]:
            rest = np.where(np.arange(truths) == truth, 0, others)
            if rest.any():
                beliefs = rest / rest.sum() * (1 - prior)
                beliefs[truth] = prior
                highest = max(highest, float(np.max(np.asarray(design.posterior(beliefs))[truth])))
    assert highest <= stated * (1 + 1e-12)
    assert highest == pytest.approx(stated, rel=1e-9)


def test_beliefs_after_a_coin_flip_are_those_on_the_design_label() -> None:
    # methods.md, section 1: gamma = 1/4 takes 10 % to 25 % and 50 % to 75 %.
    assert belief_after_report(coin_flip(0.25).epsilon, 0.1) == pytest.approx(0.25, abs=1e-12)
    assert belief_after_report(coin_flip(0.25).epsilon, 0.5) == pytest.approx(0.75, abs=1e-12)
    grown = [belief_after_report(epsilon) for epsilon in (1e-6, 0.1, 1, 10, 700, 1e300)]
    assert all(less <= more for less, more in pairwise(grown))
    assert grown[0] == pytest.approx(0.1, abs=1e-6)
    assert grown[-1] == 1
