"""Cheating by two groups, and what forged submissions can do."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.stats import binom, chi2

from server.privacy.designs import TOTAL, Design, coin_flip, custom, forced_response, k_ary, kuk
from server.privacy.estimators import cheating_test, estimate_shares, manipulation_bound

DESIGNS = (forced_response(0.6, 0.3), forced_response(0.6, 0.1))


def expected_counts(no: float, yes: float, n: int = 10**6) -> NDArray[np.int64]:
    """Reports of two groups when the rest always says "no"."""
    chances = [yes * design.matrix[1, 1] + no * design.matrix[0, 1] for design in DESIGNS]
    return np.array([[n - round(n * chance), round(n * chance)] for chance in chances])


def test_the_three_shares_are_found_again() -> None:
    # Clark and Desharnais (1998): honest yes 0.2, honest no 0.65, cheaters 0.15.
    result = cheating_test(expected_counts(0.65, 0.2), DESIGNS)
    assert result.shares == pytest.approx([0.65, 0.2, 0.15], abs=1e-5)
    assert result.shares.sum() == pytest.approx(1)
    assert result.p_value < 1e-6


def test_honest_groups_agree() -> None:
    result = cheating_test(expected_counts(0.7, 0.3), DESIGNS)
    assert result.shares == pytest.approx([0.7, 0.3, 0], abs=1e-5)
    assert result.honest_share == pytest.approx(0.3, abs=1e-5)
    assert result.g_squared == pytest.approx(0, abs=1e-3)
    assert result.p_value > 0.9


def test_g_squared_is_twice_the_gain_in_likelihood() -> None:
    counts = np.array([[120, 80], [170, 30]])

    def loss(share: float) -> float:
        chances = [(1 - share) * design.matrix[0, 1] + share * design.matrix[1, 1] for design in DESIGNS]
        return -sum(
            float(binom.logpmf(yes, 200, chance)) for (_, yes), chance in zip(counts, chances, strict=True)
        )

    honest = minimize_scalar(loss, bounds=(-0.1, 1.1), method="bounded", options={"xatol": 1e-10})
    saturated = sum(float(binom.logpmf(yes, 200, yes / 200)) for _, yes in counts)
    result = cheating_test(counts, DESIGNS)
    assert result.g_squared == pytest.approx(2 * (saturated + honest.fun), rel=1e-6)
    assert result.honest_share == pytest.approx(honest.x, abs=1e-6)
    assert result.p_value == pytest.approx(chi2.sf(result.g_squared, 1))


def compute_rejection(n: int, no: float, yes: float) -> float:
    """Exact chance that the test rejects at 5 %, over all pairs of counts that are not too rare."""
    chances = [
        binom.pmf(np.arange(n + 1), n, yes * design.matrix[1, 1] + no * design.matrix[0, 1])
        for design in DESIGNS
    ]
    total = 0.0
    for one in np.flatnonzero(chances[0] > 1e-5):
        for two in np.flatnonzero(chances[1] > 1e-5):
            p = cheating_test([[n - one, one], [n - two, two]], DESIGNS).p_value
            total += chances[0][one] * chances[1][two] * (p <= 0.05)
    return float(total)


def test_five_percent_of_honest_studies_are_suspected_even_where_nobody_has_the_trait() -> None:
    # A test that confined the honest share to [0, 1] would suspect more of them at the share 0.
    assert compute_rejection(80, 1.0, 0.0) == pytest.approx(0.05, abs=0.015)
    assert compute_rejection(80, 0.7, 0.3) == pytest.approx(0.05, abs=0.015)


def test_many_cheaters_are_seen() -> None:
    # Half of all people; 80 in each group are few.
    assert compute_rejection(80, 0.3, 0.2) > 0.3


def test_shares_and_covariance_are_unbiased_over_every_pair_of_counts() -> None:
    truth, n = np.array([0.5, 0.3, 0.2]), 5
    chances = [
        binom.pmf(np.arange(n + 1), n, truth[1] * design.matrix[1, 1] + truth[0] * design.matrix[0, 1])
        for design in DESIGNS
    ]
    mean, second, covariance = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3))
    for one in range(n + 1):
        for two in range(n + 1):
            chance = chances[0][one] * chances[1][two]
            result = cheating_test([[n - one, one], [n - two, two]], DESIGNS)
            mean += chance * result.shares
            second += chance * np.outer(result.shares, result.shares)
            covariance += chance * result.covariance
    assert mean == pytest.approx(truth, abs=1e-8)
    assert covariance == pytest.approx(second - np.outer(mean, mean), abs=1e-7)


@pytest.mark.parametrize(
    ("counts", "designs", "message"),
    [
        ([[1, 2], [3, 4]], [DESIGNS[0]], "designs must be two; there are 1"),
        ([[1, 2], [3, 4]], [DESIGNS[0]] * 2, "these are proportional"),
        ([[1, 2], [3, 4]], [kuk(0.5, 0.25), kuk(0.25, 0.125)], "these are proportional"),
        ([[1, 2], [3, 4]], [DESIGNS[0], k_ary(3, 1.0)], r"designs\[1\] must have shape \(2, 2\)"),
        ([[1, 2], [3, 4]], [DESIGNS[0], Design([[TOTAL // 2] * 2] * 2)], r"designs\[1\] must tell"),
        ([[1, 2], [3, math.nan]], DESIGNS, "must be whole numbers"),
        ([[1, 2], [3, -4]], DESIGNS, "must not be negative"),
        ([[1, 2], [0, 0]], DESIGNS, "must have a positive sum"),
        ([1, 2], DESIGNS, r"counts must have shape \(2, 2\)"),
    ],
)
def test_bad_groups_are_refused(counts: Any, designs: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cheating_test(counts, designs)


def test_a_confidence_outside_its_range_is_refused() -> None:
    with pytest.raises(ValueError, match="confidence must be"):
        cheating_test([[1, 2], [3, 4]], DESIGNS, confidence=1.5)


@given(st.lists(st.integers(1, 10**6), min_size=4, max_size=4), st.floats(0.01, 0.4), st.floats(1.01, 1.2))
def test_no_valid_groups_raise_or_give_nan(counts: list[int], gamma: float, factor: float) -> None:
    for zero in (None, 0, 3):
        entries = [0 if index == zero else count for index, count in enumerate(counts)]
        result = cheating_test(np.reshape(entries, (2, 2)), [coin_flip(gamma), coin_flip(gamma * factor)])
        assert 0 <= result.p_value <= 1
        assert math.isfinite(result.g_squared)
        for value in (result.shares, result.standard_errors, result.intervals, result.honest_share):
            assert not np.isnan(value).any()


@pytest.mark.parametrize("gamma", [0.1, 0.25, 0.4])
def test_forged_submissions_move_a_share_by_at_most_the_bound(gamma: float) -> None:
    # methods.md section 2: m forged submissions move pi_hat by at most m / (2 gamma n).
    design, n, forged = coin_flip(gamma), 40, 3
    bound = manipulation_bound(n, forged, design)
    assert bound == pytest.approx(forged / (2 * gamma * n), rel=1e-6)
    moves = [
        abs(
            estimate_shares([n - fake, fake], design).shares[1]
            - estimate_shares([n - yes, yes], design).shares[1]
        )
        for yes in range(n + 1)
        for fake in range(max(0, yes - forged), min(n, yes + forged) + 1)
    ]
    assert max(moves) == pytest.approx(bound, rel=1e-9)  # attained, and never passed


def test_the_bound_of_a_larger_design_is_attained_by_its_worst_report() -> None:
    design, n = custom([[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]), 30
    counts = np.array([10, 10, 10])
    moves = []
    for taken in range(3):
        for given_instead in range(3):
            other = counts - 4 * np.eye(3, dtype=int)[taken] + 4 * np.eye(3, dtype=int)[given_instead]
            moves.append(
                np.abs(estimate_shares(other, design).shares - estimate_shares(counts, design).shares).max()
            )
    assert max(moves) == pytest.approx(manipulation_bound(n, 4, design))


@pytest.mark.parametrize(
    ("n", "forged", "message"),
    [
        (0, 0, "n must be a whole number from 1 up; it is 0"),
        (10, 11, r"forged must be a whole number in \[0, 10\]; it is 11"),
        (10, -1, r"forged must be a whole number in \[0, 10\]; it is -1"),
        (10.0, 1, "n must be a whole number"),
        (10, math.nan, "forged must be a whole number"),
    ],
)
def test_bad_numbers_of_submissions_are_refused(n: Any, forged: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        manipulation_bound(n, forged, coin_flip(0.25))
