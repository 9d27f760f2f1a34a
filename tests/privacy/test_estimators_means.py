"""Means of bounded numbers, and the unrelated question of unknown prevalence."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from server.privacy.designs import TOTAL, Design, coin_flip, forced_response, ordinal, unrelated_question
from server.privacy.estimators import INTERVALS, estimate_mean, estimate_shares, estimate_unknown_prevalence
from server.privacy.estimators.limits import wilson_limits

FLIP = coin_flip(0.25)


def test_a_mean_is_the_share_of_high_stretched_over_the_range() -> None:
    # methods.md section 1, Duchi et al.: mean = low + (high - low) * share.
    share = estimate_shares([600, 400], FLIP)
    estimate = estimate_mean([600, 400], FLIP, -10, 30)
    assert estimate.mean == pytest.approx(2)
    assert estimate.standard_error == pytest.approx(40 * share.standard_errors[1])
    assert estimate.interval == pytest.approx(tuple(-10 + 40 * share.intervals[1]))
    assert not estimate.impossible


@pytest.mark.parametrize("gamma", [0.1, 0.4])
def test_a_mean_and_its_variance_are_unbiased_rounding_included(gamma: float) -> None:
    # Numbers 3, 4 and 9 in [2, 10], each rounded to 2 or 10 at random, then randomised; every count of nine people.
    design, n = forced_response(gamma, 0.3), 9
    numbers = np.array([3.0, 4.0, 9.0])
    high = float(((numbers - 2) / 8).mean())
    reported = float(np.array([1 - high, high]) @ design.matrix[:, 1])
    chances = binom.pmf(np.arange(n + 1), n, reported)
    estimates = [estimate_mean([n - yes, yes], design, 2, 10) for yes in range(n + 1)]
    means = np.array([estimate.mean for estimate in estimates])
    # Of reports that are all alike none is told: the estimated variance is 0 there.
    errors = np.array([estimate.standard_error for estimate in estimates])
    assert np.isinf(errors[[0, n]]).all()
    variances = np.where(np.isinf(errors), 0, errors) ** 2
    assert chances @ means == pytest.approx(numbers.mean(), abs=1e-8)
    assert chances @ variances == pytest.approx(chances @ (means - numbers.mean()) ** 2, rel=1e-8)
    assert chances @ (variances * (n - 1) / n) != pytest.approx(
        chances @ (means - numbers.mean()) ** 2, rel=1e-8
    )


def test_the_mean_of_an_ordered_scale_weighs_its_shares() -> None:
    design = ordinal(5, 2.0)
    counts = [100, 200, 300, 250, 150]
    estimate, shares = estimate_mean(counts, design, 1, 5), estimate_shares(counts, design)
    scale = np.arange(1, 6)
    assert estimate.mean == pytest.approx(scale @ shares.shares)
    assert estimate.standard_error == pytest.approx(math.sqrt(scale @ shares.covariance @ scale))
    assert estimate.interval[0] < estimate.mean < estimate.interval[1]


def test_a_mean_beyond_its_range_is_flagged() -> None:
    assert estimate_mean([900, 100], FLIP, 0, 1).impossible
    assert not estimate_mean([750, 250], FLIP, 0, 1).impossible


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"low": 1, "high": 1}, "low < high; they are 1 and 1"),
        ({"low": 2, "high": 1}, "low < high"),
        ({"low": [1, 2]}, "must be single numbers"),
        ({"low": "a"}, "low must be numbers"),
        ({"low": math.nan}, "low must be finite"),
        ({"high": math.inf}, "high must be finite"),
        ({"low": -1e308, "high": 1e308}, "must be finite with low < high"),
        ({"counts": [1, 2, 3]}, r"shape \(2,\)"),
        ({"confidence": -1}, "confidence must be"),
        ({"interval": "no"}, "interval must be"),
        ({"design": Design([[TOTAL // 2] * 2] * 2)}, "tell the two answers apart"),
    ],
)
def test_bad_arguments_of_a_mean_are_refused(arguments: dict[str, Any], message: str) -> None:
    valid: dict[str, Any] = {"counts": [600, 400], "design": FLIP, "low": 0, "high": 1}
    with pytest.raises(ValueError, match=message):
        estimate_mean(**{**valid, **arguments})


@given(
    st.lists(st.integers(0, 10**9), min_size=2, max_size=2).filter(any),
    st.floats(1e-6, 0.499999),
    st.floats(-1e100, 1e100),
    st.floats(1e-100, 1e100),
    st.sampled_from(INTERVALS),
)
def test_no_valid_mean_is_nan(
    counts: list[int], gamma: float, low: float, width: float, interval: str
) -> None:
    if low + width == low:
        return
    estimate = estimate_mean(counts, coin_flip(gamma), low, low + width, interval=interval)
    assert math.isfinite(estimate.mean)
    assert estimate.standard_error >= 0
    assert estimate.interval[0] <= estimate.interval[1]


def test_share_and_prevalence_solve_the_two_groups() -> None:
    # Greenberg et al. (1969), equations (15) to (18), worked by hand: the share 0.17 and the prevalence 0.53
    # give 0.75 * 0.17 + 0.25 * 0.53 = 0.26 and 0.25 * 0.17 + 0.75 * 0.53 = 0.44.
    estimate = estimate_unknown_prevalence([[740, 260], [560, 440]], [0.75, 0.25])
    assert (estimate.share, estimate.prevalence) == pytest.approx((0.17, 0.53))
    variance = (0.75**2 * 0.26 * 0.74 + 0.25**2 * 0.44 * 0.56) / 999 / 0.5**2
    assert estimate.standard_errors[0] == pytest.approx(math.sqrt(variance))
    assert estimate.n == (1000, 1000)
    assert not estimate.impossible


def test_two_designs_say_how_often_the_sensitive_question_was_asked() -> None:
    counts = [[740, 260], [560, 440]]
    # Whatever prevalence a design was made with, truth is the difference of its two chances of a "yes".
    groups = [unrelated_question(0.75, 0.9), unrelated_question(0.25, 0.4)]
    estimate = estimate_unknown_prevalence(counts, groups)
    assert (estimate.share, estimate.prevalence) == pytest.approx((0.17, 0.53))
    with pytest.raises(ValueError, match=r"truths must have shape \(2, 2\); it has \(3, 3\)"):
        estimate_unknown_prevalence(counts, [ordinal(3, 1.0), 0.5])
    with pytest.raises(ValueError, match="truths must be two different chances"):
        estimate_unknown_prevalence(counts, [unrelated_question(0.5, 0.9), unrelated_question(0.5, 0.4)])


def test_both_are_unbiased_over_every_pair_of_counts() -> None:
    truths, sizes, share, prevalence = (0.8, 0.3), (5, 6), 0.2, 0.6
    chances = [
        binom.pmf(np.arange(n + 1), n, t * share + (1 - t) * prevalence)
        for t, n in zip(truths, sizes, strict=True)
    ]
    mean, second, covariance = np.zeros(2), np.zeros((2, 2)), np.zeros((2, 2))
    for one in range(6):
        for two in range(7):
            chance = chances[0][one] * chances[1][two]
            estimate = estimate_unknown_prevalence([[5 - one, one], [6 - two, two]], truths)
            pair = np.array([estimate.share, estimate.prevalence])
            mean += chance * pair
            second += chance * np.outer(pair, pair)
            covariance += chance * estimate.covariance
    assert mean == pytest.approx([share, prevalence], abs=1e-12)
    assert covariance == pytest.approx(second - np.outer(mean, mean), abs=1e-12)


def test_a_group_asked_nothing_else_has_wilsons_interval() -> None:
    estimate = estimate_unknown_prevalence([[60, 40], [50, 50]], [1.0, 0.0])
    assert estimate.intervals[0] == pytest.approx(wilson_limits(40, 100, 0.95))
    assert estimate.intervals[1] == pytest.approx(wilson_limits(50, 100, 0.95))


def test_impossible_is_decided_in_whole_numbers() -> None:
    # 1/4 of the first group and 3/4 of the second are on the edge: share 0, prevalence 1.
    truths = [0.75, 0.25]
    assert not estimate_unknown_prevalence([[300, 100], [100, 300]], truths).impossible
    assert estimate_unknown_prevalence([[301, 99], [100, 300]], truths).impossible


@pytest.mark.parametrize(
    ("counts", "truths", "message"),
    [
        ([[1, 2], [3, 4]], [0.5, 0.5], "truths must be two different chances; both are 0.5"),
        ([[1, 2], [3, 4]], [0.5], "truths must be two chances; there are 1"),
        ([[1, 2], [3, 4]], [0.5, 1.5], r"truths must be in \[0, 1\]; it is 1.5"),
        ([[1, 2], [3, 4]], [math.nan, 0.5], r"truths must be in \[0, 1\]; it is nan"),
        ([[1, 2], [0, 0]], [0.7, 0.5], r"counts\[1\] must have a positive sum"),
        ([[1, -2], [3, 4]], [0.7, 0.5], r"counts\[0\] must not be negative"),
        ([1, 2], [0.7, 0.5], r"counts must have shape \(2, 2\)"),
        ([[1, 2], [3]], [0.7, 0.5], "counts must have rows of one length"),
        ([], [0.7, 0.5], r"counts must have shape \(2, 2\)"),
    ],
)
def test_bad_groups_are_refused(counts: Any, truths: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        estimate_unknown_prevalence(counts, truths)


@given(
    st.lists(st.integers(1, 10**6), min_size=4, max_size=4),
    st.fractions(0, 1, max_denominator=50),
    st.fractions(0, 1, max_denominator=50),
)
def test_no_valid_groups_give_nan(counts: list[int], first: Fraction, second: Fraction) -> None:
    if first == second:
        return
    estimate = estimate_unknown_prevalence(np.reshape(counts, (2, 2)), [float(first), float(second)])
    for value in (estimate.share, estimate.prevalence, estimate.standard_errors, estimate.intervals):
        assert not np.isnan(value).any()
