"""Planning two samples: R's power.prop.test, the smallest n by brute force, and refusals."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from server.privacy.designs import TOTAL, Design, coin_flip, forced_response, k_ary, warner
from server.privacy.planning import (
    margin_two_samples,
    power_two_samples,
    respondents_for_margin,
    respondents_for_margin_two_samples,
    respondents_for_power_two_samples,
)

shares = st.floats(0, 1)
designs = st.floats(0.001, 0.4999).map(coin_flip)


def textbook_power(
    n_a: np.ndarray, n_b: np.ndarray, a: float, b: float, design: Design, alpha: float, sides: int
) -> np.ndarray:
    """Fleiss, Levin and Paik 2003, section 4.2, in floats with scipy.stats."""
    (_, if_no), (_, if_yes) = design.matrix.tolist()
    lam_a, lam_b = (if_no + (if_yes - if_no) * share for share in (a, b))
    pooled = (n_a * lam_a + n_b * lam_b) / (n_a + n_b)
    null = np.sqrt(pooled * (1 - pooled) * (1 / n_a + 1 / n_b))
    true = np.sqrt(lam_a * (1 - lam_a) / n_a + lam_b * (1 - lam_b) / n_b)
    z, difference = norm.isf(alpha / sides), abs(lam_a - lam_b)
    chance = norm.cdf((difference - z * null) / true)
    return np.asarray(chance + norm.cdf((-difference - z * null) / true) if sides == 2 else chance)


def test_the_examples_of_rs_power_prop_test() -> None:
    # R, stats::power.prop.test: n = 50, p1 = .50, p2 = .75 has power 0.740; power .90 needs n = 76.7. Under two
    # fair coins, true shares 1/2 and 1 are reported with just these chances.
    design = coin_flip(0.25)
    assert round(power_two_samples(50, 50, 0.5, 1.0, design), 3) == 0.740
    assert respondents_for_power_two_samples(0.5, 1.0, design, power=0.9) == 77


@pytest.mark.parametrize("design", [coin_flip(0.25), forced_response(0.75, 0.1), warner(0.1)])
@pytest.mark.parametrize(("a", "b"), [(0.1, 0.2), (0.5, 0.4), (0.0, 0.05), (1.0, 0.7)])
@pytest.mark.parametrize("ratio", [1, 3])
@pytest.mark.parametrize(("target", "alpha", "sides"), [(0.8, 0.05, 2), (0.9, 0.01, 1), (0.5, 0.3, 2)])
def test_respondents_are_the_first_n_of_all_that_reaches_the_power(
    design: Design, a: float, b: float, ratio: int, target: float, alpha: float, sides: int
) -> None:
    every = np.arange(1, 60_001)
    reached = textbook_power(every, ratio * every, a, b, design, alpha, sides) >= target
    assert reached.any()
    got = respondents_for_power_two_samples(a, b, design, target, alpha, sides, ratio)
    assert got == every[reached.argmax()]
    assert reached[reached.argmax() :].all()


@given(designs, shares, shares, st.integers(1, 10**6), st.integers(1, 10**6), st.floats(1e-9, 0.999))
def test_power_is_the_textbooks_and_does_not_depend_on_the_order_of_groups(
    design: Design, a: float, b: float, n_a: int, n_b: int, alpha: float
) -> None:
    for sides in (1, 2):
        got = power_two_samples(n_a, n_b, a, b, design, alpha, sides)
        expected = textbook_power(np.array(n_a), np.array(n_b), a, b, design, alpha, sides)
        assert got == pytest.approx(float(expected), abs=1e-7)
        assert got == pytest.approx(power_two_samples(n_b, n_a, b, a, design, alpha, sides), abs=1e-9)


@given(designs, shares, shares, st.floats(1e-6, 1 - 1e-6), st.integers(1, 5), st.sampled_from([1, 2]))
def test_one_respondent_fewer_misses_the_power(
    design: Design, a: float, b: float, target: float, ratio: int, sides: int
) -> None:
    if a == b:
        with pytest.raises(ValueError, match=r"share_a must be .* differ from share_b"):
            respondents_for_power_two_samples(a, b, design, target)
        return
    n = respondents_for_power_two_samples(a, b, design, target, 0.05, sides, ratio)
    assert power_two_samples(n, ratio * n, a, b, design, 0.05, sides) >= target
    assert n == 1 or power_two_samples(n - 1, ratio * (n - 1), a, b, design, 0.05, sides) < target


@given(designs, shares, shares, st.floats(1e-6, 0.99), st.floats(0.01, 0.9999), st.integers(1, 5))
def test_one_respondent_fewer_misses_the_margin(
    design: Design, a: float, b: float, half_width: float, confidence: float, ratio: int
) -> None:
    n = respondents_for_margin_two_samples(half_width, design, confidence, a, b, ratio)
    at = [margin_two_samples(m, ratio * m, design, confidence, a, b) for m in (n, max(n - 1, 1))]
    assert at[0] <= half_width * (1 + 1e-15)
    assert n == 1 or at[1] >= half_width * (1 - 1e-15)


def test_a_difference_of_two_equal_groups_needs_twice_the_respondents_in_each() -> None:
    design = coin_flip(0.25)
    z = norm.ppf(0.975)
    assert respondents_for_margin_two_samples(0.05, design) == math.ceil(2 * z**2 * 0.25 / 0.025**2) == 3074
    # A very large second group leaves the variance of the first alone.
    assert respondents_for_margin_two_samples(0.05, design, ratio=10**9) == respondents_for_margin(
        0.05, design
    )


def test_there_is_no_largest_plan() -> None:
    n = respondents_for_power_two_samples(0.2, 0.2 + 1e-6, coin_flip(0.25))
    assert n > 10**12
    design = coin_flip(0.25)
    assert power_two_samples(n, n, 0.2, 0.2 + 1e-6, design) >= 0.8
    assert power_two_samples(n - 1, n - 1, 0.2, 0.2 + 1e-6, design) < 0.8
    assert power_two_samples(10**700, 10**700, 0.2, 0.3, design) == 1


def test_equal_shares_have_the_power_of_a_false_alarm() -> None:
    for sides in (1, 2):
        assert power_two_samples(70, 30, 0.3, 0.3, coin_flip(0.25), 0.05, sides) == pytest.approx(
            0.05, abs=1e-12
        )


COMMON: dict[str, Any] = {"share_a": 0.1, "share_b": 0.2, "design": coin_flip(0.25)}
VALID: dict[Callable[..., Any], dict[str, Any]] = {
    margin_two_samples: {**COMMON, "n_a": 100, "n_b": 100, "confidence": 0.95},
    respondents_for_margin_two_samples: {**COMMON, "margin": 0.05, "confidence": 0.95, "ratio": 1},
    power_two_samples: {**COMMON, "n_a": 100, "n_b": 100, "alpha": 0.05, "sides": 2},
    respondents_for_power_two_samples: {**COMMON, "power": 0.8, "alpha": 0.05, "sides": 2, "ratio": 1},
}
OUTSIDE: dict[str, list[Any]] = {
    "n_a": [0, -1, 1.5, math.nan, True, None],
    "n_b": [0, -1, 1.5, math.nan, True, None],
    "ratio": [0, -1, 1.5, math.nan, True, None],
    "margin": [0, 1, -0.1, 5, math.nan, math.inf, None],
    "confidence": [0, 1, 95, math.nan, None],
    "share_a": [-0.1, 1.1, math.nan, math.inf, None],
    "share_b": [-0.1, 1.1, math.nan, math.inf, None],
    "power": [0, 1, 80, math.nan, None],
    "alpha": [0, 1, 5, math.nan, None],
    "sides": [0, 3, 1.0, math.nan, None],
    "design": [Design([[TOTAL // 2] * 2] * 2), k_ary(3, 1.0)],
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
