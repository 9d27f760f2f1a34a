"""Planning one sample: published numbers, the smallest n by brute force, and refusals."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm

from server.privacy.designs import TOTAL, Design, coin_flip, forced_response, k_ary, kuk, warner
from server.privacy.planning import (
    margin,
    power,
    price_of_privacy,
    respondents_for_margin,
    respondents_for_power,
)

shares = st.floats(0, 1)
gammas = st.floats(0.001, 0.4999)
designs = st.one_of(
    gammas.map(coin_flip),
    st.tuples(st.floats(0.01, 0.4), st.floats(0.5, 0.99)).map(lambda pair: kuk(*pair)),
    st.tuples(st.floats(0.5, 0.99), st.floats(0.01, 0.4)).map(lambda pair: kuk(*pair)),
)


def textbook_power(
    n: float | np.ndarray, share: float, null: float, design: Design, alpha: float, sides: int
) -> np.ndarray:
    """methods.md section 2, written out again in floats with scipy.stats."""
    (_, if_no), (_, if_yes) = design.matrix.tolist()
    lam1, lam0 = (if_no + (if_yes - if_no) * value for value in (share, null))
    sd1, sd0 = (math.sqrt(lam * (1 - lam)) for lam in (lam1, lam0))
    z = norm.isf(alpha / sides)
    difference = abs(lam1 - lam0) * np.sqrt(n)
    chance = norm.cdf((difference - z * sd0) / sd1)
    return np.asarray(chance + norm.cdf((-difference - z * sd0) / sd1) if sides == 2 else chance)


def test_the_worked_number_of_two_fair_coins() -> None:
    design = coin_flip(0.25)
    assert respondents_for_power(0.1, 0.0, design, power=0.8, alpha=0.05, sides=1) == 483
    assert power(483, 0.1, 0.0, design, sides=1) >= 0.8 > power(482, 0.1, 0.0, design, sides=1)


@pytest.mark.parametrize(
    ("half_width", "n"),
    # A direct question at 95 %, any textbook's table: 1,068 for 3 points, 385 for 5, 97 for 10, 9,604 for 1.
    # Under two fair coins it is four times the unrounded number: z**2 / 4 / (0.5 * margin)**2.
    [(0.03, 4269), (0.05, 1537), (0.10, 385), (0.01, 38415)],
)
def test_respondents_for_a_margin_are_four_times_those_of_a_direct_question(
    half_width: float, n: int
) -> None:
    assert respondents_for_margin(half_width, coin_flip(0.25)) == n
    assert math.ceil(norm.ppf(0.975) ** 2 / (4 * half_width**2) * 4) == n


def test_a_direct_question_to_a_random_sample_is_the_limit_of_a_design_that_hides_nothing() -> None:
    assert [respondents_for_margin(m, warner(1 - 1e-9)) for m in (0.01, 0.03, 0.05, 0.1)] == [
        9604,
        1068,
        385,
        97,
    ]


PLANS = [
    (share, null, design, target, alpha, sides)
    for share, null in [(0.1, 0.0), (0.3, 0.1), (0.02, 0.2), (1.0, 0.7), (0.5, 0.45)]
    for design in [coin_flip(0.25), coin_flip(0.45), forced_response(0.75, 0.1), warner(0.2)]
    for target, alpha, sides in [
        (0.8, 0.05, 1),
        (0.8, 0.05, 2),
        (0.95, 0.01, 2),
        (0.3, 0.4, 2),
        (0.06, 0.05, 2),
    ]
]


@pytest.mark.parametrize(("share", "null", "design", "target", "alpha", "sides"), PLANS)
def test_respondents_are_the_first_n_of_all_that_reaches_the_power(
    share: float, null: float, design: Design, target: float, alpha: float, sides: int
) -> None:
    every = np.arange(1, 100_001)
    reached = textbook_power(every, share, null, design, alpha, sides) >= target
    assert reached.any()
    assert respondents_for_power(share, null, design, target, alpha, sides) == every[reached.argmax()]
    assert reached[reached.argmax() :].all()  # the power rises: once reached, reached for good


@given(designs, shares, shares, st.integers(1, 10**7), st.floats(1e-9, 0.999), st.sampled_from([1, 2]))
def test_power_is_the_textbooks(
    design: Design, share: float, null: float, n: int, alpha: float, sides: int
) -> None:
    got = power(n, share, null, design, alpha, sides)
    assert got == pytest.approx(float(textbook_power(n, share, null, design, alpha, sides)), abs=1e-7)
    assert 0 <= got <= 1


@given(designs, shares, shares, st.floats(1e-6, 1 - 1e-6), st.floats(1e-9, 0.999), st.sampled_from([1, 2]))
def test_one_respondent_fewer_misses_the_power(
    design: Design, share: float, null: float, target: float, alpha: float, sides: int
) -> None:
    if share == null:
        with pytest.raises(ValueError, match=r"share must be .* differ from null"):
            respondents_for_power(share, null, design, target, alpha, sides)
        return
    n = respondents_for_power(share, null, design, target, alpha, sides)
    assert power(n, share, null, design, alpha, sides) >= target
    assert n == 1 or power(n - 1, share, null, design, alpha, sides) < target


@given(designs, shares, st.floats(1e-6, 1, exclude_max=True), st.floats(1e-6, 1 - 1e-9))
def test_one_respondent_fewer_misses_the_margin(
    design: Design, share: float, half_width: float, confidence: float
) -> None:
    n = respondents_for_margin(half_width, design, confidence, share)
    assert margin(n, design, confidence, share) <= half_width * (1 + 1e-15)
    assert n == 1 or margin(n - 1, design, confidence, share) >= half_width * (1 - 1e-15)
    (_, if_no), (_, if_yes) = design.matrix.tolist()
    lam = if_no + (if_yes - if_no) * share
    expected = norm.isf((1 - confidence) / 2) * math.sqrt(lam * (1 - lam) / n) / abs(if_yes - if_no)
    assert margin(n, design, confidence, share) == pytest.approx(expected, rel=1e-9)


def test_there_is_no_largest_plan() -> None:
    design = coin_flip(0.25)
    for step in (1e-6, 2**-30, 1e-100, 5e-324):
        n = respondents_for_power(step, 0.0, design, sides=1)
        z = norm.ppf(0.95) + norm.ppf(0.8)
        exact = Fraction(z) ** 2 * Fraction(3, 16) / (Fraction(step) / 2) ** 2
        assert float(n / exact) == pytest.approx(1, rel=1e-5)
    assert 4.6e12 < respondents_for_power(1e-6, 0.0, design, sides=1) < 4.7e12
    assert respondents_for_margin(5e-324, design) > 10**640
    assert margin(10**700, design) == 0
    assert power(10**700, 0.1, 0.0, design) == 1


def test_a_trillion_respondents_are_told_from_a_trillion_minus_one() -> None:
    design, step = coin_flip(0.25), 2e-6
    n = respondents_for_power(step, 0.0, design, sides=1)
    assert 10**12 < n < 2 * 10**12
    assert power(n, step, 0.0, design, sides=1) >= 0.8 > power(n - 1, step, 0.0, design, sides=1)


def test_the_power_of_no_difference_is_the_chance_of_a_false_alarm() -> None:
    for sides in (1, 2):
        assert power(100, 0.3, 0.3, coin_flip(0.25), 0.05, sides) == pytest.approx(0.05, abs=1e-12)


def test_the_normal_power_is_close_to_that_of_the_exact_test() -> None:
    # The chance that an exact binomial count passes the same critical value, every count enumerated.
    design, n = coin_flip(0.25), 483
    critical = 0.25 * n + norm.ppf(0.95) * math.sqrt(n * 0.1875)
    exact = binom.sf(math.floor(critical), n, 0.3)
    assert power(n, 0.1, 0.0, design, sides=1) == pytest.approx(exact, abs=0.02)


def test_the_price_is_the_ratio_of_respondents() -> None:
    design = coin_flip(0.25)
    assert price_of_privacy(design) == 4.0
    # lam = 0.3: (0.3 * 0.7) / (0.5**2 * 0.1 * 0.9).
    assert price_of_privacy(design, 0.1) == pytest.approx(0.21 / 0.25 / 0.09, rel=1e-14)
    needed = (
        respondents_for_margin(0.001, design, share=0.1),
        respondents_for_margin(0.001, warner(1 - 1e-9), share=0.1),
    )
    assert needed[0] / needed[1] == pytest.approx(price_of_privacy(design, 0.1), rel=1e-4)
    tested = price_of_privacy(design, 0.3, null=0.2, power=0.9, alpha=0.01, sides=1)
    without = ((norm.ppf(0.99) * 0.4 + norm.ppf(0.9) * math.sqrt(0.21)) / 0.1) ** 2
    assert tested == respondents_for_power(0.3, 0.2, design, 0.9, 0.01, 1) / math.ceil(without)


@given(designs, st.floats(0, 1, exclude_min=True, exclude_max=True))
def test_privacy_is_never_cheaper_than_a_direct_question(design: Design, share: float) -> None:
    assert price_of_privacy(design, share) >= 1 - 1e-12


WIDTH: dict[str, Any] = {"design": coin_flip(0.25), "confidence": 0.95, "share": 0.5}
TEST: dict[str, Any] = {"design": coin_flip(0.25), "share": 0.1, "null": 0.2, "alpha": 0.05, "sides": 2}
VALID: dict[Callable[..., Any], dict[str, Any]] = {
    margin: {**WIDTH, "n": 100},
    respondents_for_margin: {**WIDTH, "margin": 0.05},
    power: {**TEST, "n": 100},
    respondents_for_power: {**TEST, "power": 0.8},
    price_of_privacy: {**TEST, "power": 0.8},
}
OUTSIDE: dict[str, list[Any]] = {
    "n": [0, -1, 1.5, math.nan, math.inf, True, "3", None],
    "margin": [0, 1, -0.1, 5, math.nan, math.inf, "0.1", None],
    "confidence": [0, 1, 95, math.nan, None],
    "share": [-0.1, 1.1, math.nan, math.inf, "0.1"],
    "null": [-0.1, 1.1, math.nan, math.inf, "0.1"],
    "power": [0, 1, 80, math.nan, None],
    "alpha": [0, 1, 5, math.nan, 5e-324, None],
    "sides": [0, 3, 1.0, math.nan, "two-sided", None],
    "design": [
        Design([[TOTAL // 2] * 2] * 2),
        k_ary(3, 1.0),
    ],
}


@pytest.mark.parametrize(
    ("function", "name", "value"),
    [
        (function, name, value)
        for function, valid in VALID.items()
        for name in valid
        for value in OUTSIDE[name]
    ],
)
def test_bad_arguments_are_refused_by_name(function: Callable[..., Any], name: str, value: object) -> None:
    function(**VALID[function])
    with pytest.raises(ValueError, match=rf"^{name} must "):
        function(**{**VALID[function], name: value})
