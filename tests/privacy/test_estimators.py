"""Estimators: worked numbers, unbiasedness by enumeration, flags and refusals."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from server.privacy.designs import TOTAL, Design, coin_flip
from server.privacy.estimators import estimate_shares, impossible_share_test


@pytest.mark.parametrize(
    ("yes", "share", "standard_error", "impossible"),
    [(400, 0.3, 0.030999, False), (300, 0.1, 0.028997, False), (200, -0.1, 0.025311, True)],
)
def test_worked_numbers_under_two_fair_coins(
    yes: int, share: float, standard_error: float, impossible: bool
) -> None:
    # methods.md section 1 and the standard error of section 2, worked by hand.
    estimate = estimate_shares([1000 - yes, yes], coin_flip(0.25))
    assert estimate.shares == pytest.approx([1 - share, share], abs=1e-12)
    assert estimate.standard_errors == pytest.approx([standard_error] * 2, abs=5e-7)
    assert estimate.n * estimate.shares[1] == pytest.approx(2 * yes - 1000 / 2)  # N = 2R - n/2
    assert estimate.impossible is impossible
    assert estimate.n == 1000


@pytest.mark.parametrize("gamma", [0.1, 0.25, 0.4])
@pytest.mark.parametrize("truth", [0.0, 0.13, 0.5, 1.0])
def test_shares_and_variances_are_unbiased_over_every_possible_count(gamma: float, truth: float) -> None:
    design, n = coin_flip(gamma), 12
    reported = float((np.array([1 - truth, truth]) @ design.matrix)[1])
    chances = binom.pmf(np.arange(n + 1), n, reported)
    estimates = [estimate_shares([n - yes, yes], design) for yes in range(n + 1)]
    shares = np.array([estimate.shares[1] for estimate in estimates])
    variances = np.array([estimate.covariance[1, 1] for estimate in estimates])
    assert chances @ shares == pytest.approx(truth, abs=1e-9)
    true_variance = reported * (1 - reported) / n / (2 * gamma) ** 2
    assert chances @ variances == pytest.approx(true_variance, rel=1e-6)
    # The broken twin: dividing by n instead of n - 1 is biased, and this comparison sees it.
    assert chances @ (variances * (n - 1) / n) != pytest.approx(true_variance, rel=1e-6)


@given(st.integers(0, 5000), st.integers(0, 5000), st.floats(0.001, 0.499))
def test_shares_sum_to_one_and_intervals_hold_the_observed_share(no: int, yes: int, gamma: float) -> None:
    if no + yes == 0:
        return
    estimate = estimate_shares([no, yes], coin_flip(gamma))
    assert estimate.shares.sum() == pytest.approx(1, abs=1e-9)
    assert estimate.covariance.sum() == pytest.approx(0, abs=1e-6) or estimate.n == 1
    for share, (low, high) in zip(estimate.shares, estimate.intervals, strict=True):
        assert low - 1e-9 <= share <= high + 1e-9
    assert estimate.intervals[0] == pytest.approx(1 - estimate.intervals[1][::-1], abs=1e-9)


def test_wilson_limits_agree_with_scipys() -> None:
    design = coin_flip(0.25)
    limits = binomtest(400, 1000).proportion_ci(0.95, "wilson")
    expected = [(limits.low - 0.25) / 0.5, (limits.high - 0.25) / 0.5]
    assert estimate_shares([600, 400], design).intervals[1] == pytest.approx(expected, abs=1e-12)


def test_wald_limits_are_symmetric_about_the_estimate() -> None:
    estimate = estimate_shares([600, 400], coin_flip(0.25), interval="wald")
    half = 1.959963984540054 * math.sqrt(0.4 * 0.6 / 1000) / 0.5
    assert estimate.intervals[1] == pytest.approx([0.3 - half, 0.3 + half], abs=1e-12)


def test_a_design_whose_yes_means_no_is_estimated_all_the_same() -> None:
    mirrored = Design(coin_flip(0.25).weights[::-1])
    estimate = estimate_shares([400, 600], mirrored)
    assert estimate.shares == pytest.approx([0.7, 0.3])
    assert estimate.intervals[1][0] < 0.3 < estimate.intervals[1][1]


def test_one_report_has_an_estimate_and_no_standard_error() -> None:
    estimate = estimate_shares([0, 1], coin_flip(0.25))
    assert estimate.shares[1] == pytest.approx(1.5)
    assert estimate.standard_errors.tolist() == [math.inf, math.inf]
    assert estimate.impossible


def test_a_share_on_the_limit_is_possible_and_one_report_beyond_is_not() -> None:
    design = coin_flip(0.25)
    assert not estimate_shares([750, 250], design).impossible
    assert estimate_shares([751, 249], design).impossible
    assert not estimate_shares([250, 750], design).impossible
    assert estimate_shares([249, 751], design).impossible


@pytest.mark.parametrize(("yes", "low", "high"), [(236, 0.25, None), (764, None, 0.75)])
def test_the_impossible_share_test_is_the_exact_binomial_tail(
    yes: int, low: float | None, high: float | None
) -> None:
    p = impossible_share_test([1000 - yes, yes], coin_flip(0.25))
    expected = binom.cdf(yes, 1000, low) if low is not None else binom.sf(yes - 1, 1000, high)
    assert p == pytest.approx(expected, rel=1e-9)


def test_the_impossible_share_test_holds_for_any_number_of_reports() -> None:
    # A thousand million million reports, one standard error below the limit of 1/4: the normal tail.
    n = 10**15
    yes = n // 4 - round(math.sqrt(n * 3 / 16))
    assert impossible_share_test([n - yes, yes], coin_flip(0.25)) == pytest.approx(0.15866, abs=1e-4)


def test_a_possible_share_needs_no_excuse() -> None:
    assert impossible_share_test([600, 400], coin_flip(0.25)) == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"counts": [0, 0]}, "positive sum"),
        ({"counts": [-1, 5]}, "must not be negative"),
        ({"counts": [1.5, 5]}, "whole numbers"),
        ({"counts": [math.nan, 5]}, "whole numbers"),
        ({"counts": [1, 2, 3]}, r"shape \(2,\)"),
        ({"counts": []}, r"shape \(2,\)"),
        ({"counts": [True, False]}, "whole numbers"),
        ({"confidence": 0}, r"open interval \(0, 1\)"),
        ({"confidence": 1}, r"open interval \(0, 1\)"),
        ({"confidence": math.nan}, r"open interval \(0, 1\)"),
        ({"interval": "jeffreys"}, "one of wilson, exact, wald; it is 'jeffreys'"),
        ({"counts": [2**53, 1]}, r"sum in \[1, 2\*\*53\]"),
        ({"counts": [2**63 - 1, 2**63 - 1]}, r"sum in \[1, 2\*\*53\]"),
        ({"design": Design([[TOTAL // 2] * 2] * 2)}, "tell the two answers apart"),
        ({"design": Design([[TOTAL // 2, TOTAL // 4, TOTAL // 4]] * 2)}, "2 truths apart .* rank is 1"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments: dict[str, Any], message: str) -> None:
    valid: dict[str, Any] = {"counts": [600, 400], "design": coin_flip(0.25)}
    with pytest.raises(ValueError, match=message):
        estimate_shares(**{**valid, **arguments})
