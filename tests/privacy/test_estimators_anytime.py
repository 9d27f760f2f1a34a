"""Anytime-valid intervals of any design and of several parts: against closed forms and an optimiser."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import binom, multinomial

from server.privacy.designs import Design, coin_flip, custom, k_ary, ordinal
from server.privacy.estimators import (
    anytime_answered_mean,
    anytime_mean,
    anytime_shares,
    confidence_sequence,
    estimate_answered_mean,
    estimate_pooled_shares,
    estimate_shares,
)
from server.privacy.estimators.inverse import left_inverse
from server.privacy.estimators.regions import allowed_drop, maximise_over_region
from server.privacy.estimators.sequences import sequence_limits

WEAK, STRONG = coin_flip(0.1), coin_flip(0.4)
THREE = custom([[0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7]])


@pytest.mark.parametrize("yes", [0, 1, 400, 999, 1000])
def test_one_yes_no_part_has_the_confidence_sequence(yes: int) -> None:
    for design in (WEAK, coin_flip(0.25), Design(STRONG.weights[::-1])):
        expected = confidence_sequence(yes, 1000, design).intervals
        limits = anytime_shares([[1000 - yes, yes], [0, 0]], [design, design])
        assert limits[1] == pytest.approx(expected, abs=1e-9)
        assert limits[0] == pytest.approx(1 - expected[::-1], abs=1e-9)
        assert anytime_mean([[1000 - yes, yes]], [design], 10, 50) == pytest.approx(
            10 + 40 * expected, abs=1e-7
        )


def test_an_answer_of_a_choice_pays_nothing_for_the_others() -> None:
    # The share of one answer under k-ary response: its reports against all others, a yes/no design.
    design, counts = k_ary(4, 1.5), [120, 250, 90, 40]
    keep, lie = design.matrix[0, :2]
    yes_no = custom([[1 - lie, lie], [1 - keep, keep]])
    limits = anytime_shares([counts], [design], confidence=0.9)
    for answer, seen in enumerate(counts):
        assert limits[answer] == pytest.approx(
            confidence_sequence(seen, 500, yes_no, 0.9).intervals, abs=1e-8
        )


@given(
    st.integers(0, 10**7), st.integers(0, 10**7), st.floats(-5, 5), st.floats(1e-3, 5), st.floats(0.5, 0.999)
)
def test_the_general_solution_is_the_binomial_one_where_there_are_two_values(
    yes: int, no: int, low: float, width: float, confidence: float
) -> None:
    if yes + no:
        counts = np.array([[[no, yes]]] * 2)
        values = np.array([[[low, low + width]], [[-low, -low - width]]])
        drop = allowed_drop(counts, np.array([[2], [2]]), confidence)
        ends, chances = maximise_over_region(values, counts, drop)
        expected = sequence_limits(np.array([yes]), np.array([yes + no]), confidence)[0]
        found = (np.array([-ends[1], ends[0]]) - low) / width
        reach = expected[1] - expected[0]
        assert found == pytest.approx(expected, abs=1e-6 * reach + 1e-9 / width)
        assert chances.sum(axis=-1) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    "counts",
    [[[12, 30, 8], [5, 9, 20]], [[0, 30, 0], [5, 9, 20]], [[7, 0, 3], [0, 0, 11]], [[40, 2, 0], [0, 3, 0]]],
)
def test_limits_are_those_of_a_general_optimiser(counts: list[list[int]]) -> None:
    # No two reports of these designs add the same to a share: none are merged.
    other = custom([[0.55, 0.3, 0.15], [0.2, 0.6, 0.2], [0.1, 0.25, 0.65]])
    designs, weights = [other, THREE], np.array([0.3, 0.7])
    reports = np.array(counts)
    (drop,) = allowed_drop(reports[None], np.array([[3, 3]]), 0.95)
    seen, observed = reports > 0, reports / reports.sum(axis=1, keepdims=True)
    rows = np.stack([left_inverse(design) for design in designs])  # parts, truths, reports
    limits = anytime_shares(counts, designs, weights)

    def fall(flat: NDArray[np.float64]) -> float:
        chances = flat.reshape(2, 3)
        return float((reports[seen] * np.log(observed[seen] / np.maximum(chances[seen], 1e-12))).sum())

    for truth, end in product(range(3), range(2)):
        values = weights[:, None] * rows[:, truth] * (1 if end else -1)
        found = minimize(
            lambda flat, values=values: -float((values * flat.reshape(2, 3)).sum()),
            0.9 * observed.ravel() + 0.1 / 3,
            method="SLSQP",
            bounds=[(0, 1)] * 6,
            constraints=[
                {"type": "eq", "fun": lambda flat: flat.reshape(2, 3).sum(axis=1) - 1},
                {"type": "ineq", "fun": lambda flat: drop - fall(flat)},
            ],
            options={"maxiter": 500, "ftol": 1e-12},
        )
        limit = limits[truth, end] * (1 if end else -1)
        assert limit == pytest.approx(-found.fun, abs=1e-5)
        # Never inside: what the optimiser found is feasible, but for its own tolerance.
        assert limit >= -found.fun - 1e-6


def test_the_mixture_ratio_is_a_martingale_with_mean_one() -> None:
    # By enumeration of every tally of two parts: the expected ratio of mixture and likelihood is exactly 1.
    chances = [np.array([0.2, 0.5, 0.3]), np.array([0.9, 0.1])]
    for sizes in [(1, 1), (6, 5), (12, 3)]:
        mean = 0.0
        for head in product(range(sizes[0] + 1), repeat=2):
            if sum(head) > sizes[0]:
                continue
            for yes in range(sizes[1] + 1):
                counts = np.array([[*head, sizes[0] - sum(head)], [sizes[1] - yes, yes, 0]])
                observed = counts / counts.sum(axis=1, keepdims=True)
                drop = float(allowed_drop(counts, np.array([3, 2]), 0.95)) - math.log(20)
                top = counts[counts > 0] @ np.log(observed[counts > 0])
                given_p = counts[0] @ np.log(chances[0]) + counts[1, :2] @ np.log(chances[1])
                ratio = math.exp(top - drop - given_p)
                chance = multinomial.pmf(counts[0], sizes[0], chances[0]) * binom.pmf(yes, sizes[1], 0.1)
                mean += ratio * chance
        assert mean == pytest.approx(1, abs=1e-9)


def test_the_answered_mean_is_the_ratio_whose_distances_reach_nothing() -> None:
    # At each limit mu the largest, or smallest, sum((v - mu) s) over the region is 0.
    counts, design = [420, 330, 250], k_ary(3, 2.0)
    inverse, cells = left_inverse(design), np.array([[3]])
    reports = np.array([[counts]])
    for mu, sign in zip(anytime_answered_mean([counts], [design], 0, 1), (-1, 1), strict=True):
        row = inverse[1] - mu * (inverse[0] + inverse[1])
        far, _ = maximise_over_region(sign * row[None, None], reports, allowed_drop(reports, cells, 0.95))
        assert far[0] == pytest.approx(0, abs=1e-8)
    low, high = anytime_answered_mean([counts], [design], 0, 40)
    inner = estimate_answered_mean(counts, design, 0, 40).interval
    assert low < inner[0] < inner[1] < high
    assert anytime_answered_mean([[30, 20, 950]], [design], 5, 9) == (5, 9)
    two = anytime_answered_mean([counts, counts], [design, design], 0, 40, [0.5, 0.5])
    assert low < two[0] < two[1] < high


def test_intervals_are_wider_than_the_fixed_sample_ones_by_what_is_said() -> None:
    def ratio(parts: int, n: int) -> float:
        counts, designs = [[n * 7 // 10, n * 3 // 10]] * parts, [coin_flip(0.25)] * parts
        fixed = estimate_pooled_shares(counts, designs).intervals[1]
        return float(np.diff(anytime_shares(counts, designs)[1])[0] / np.diff(fixed)[0])

    assert ratio(1, 1000) == pytest.approx(1.9, abs=0.05)
    assert ratio(2, 1000) == pytest.approx(2.3, abs=0.05)
    assert ratio(12, 100) == pytest.approx(4.2, abs=0.05)
    ordered = estimate_shares([20, 50, 30], ordinal(3, 2.0)).intervals
    limits = anytime_shares([[20, 50, 30]], [ordinal(3, 2.0)])
    assert (limits[:, 0] < ordered[:, 0]).all()
    assert (ordered[:, 1] < limits[:, 1]).all()


@given(
    st.lists(st.lists(st.integers(0, 10**9), min_size=3, max_size=3), min_size=1, max_size=4),
    st.floats(1e-3, 15),
    st.floats(0.01, 1 - 1e-12),
)
def test_no_valid_counts_give_nan_or_an_interval_without_its_estimate(
    counts: list[list[int]], epsilon: float, confidence: float
) -> None:
    if any(map(any, counts)):
        designs = [ordinal(3, epsilon) if part % 2 else k_ary(3, epsilon) for part in range(len(counts))]
        limits = anytime_shares(counts, designs, confidence=confidence)
        shares = estimate_pooled_shares(counts, designs).shares
        slack = 1e-9 * (1 + np.abs(limits).max())
        assert (limits[:, 0] - slack <= shares).all()
        assert (shares <= limits[:, 1] + slack).all()
        low, high = anytime_answered_mean(counts, designs, 0, 1, confidence=confidence)
        assert low <= high


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"counts": [[6, 4]]}, "one entry per part"),
        ({"counts": [[0, 0], [0, 0]]}, "counts must have a positive sum"),
        ({"weights": [0.5, 0.6]}, "weights must have the sum 1"),
        ({"confidence": 1}, "confidence must be"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    valid: dict[str, Any] = {"counts": [[6, 4], [3, 2]], "designs": [WEAK, STRONG]}
    with pytest.raises(ValueError, match=message):
        anytime_shares(**{**valid, **arguments})
    with pytest.raises(ValueError, match=r"designs\[0\] must have at least 3 truths"):
        anytime_answered_mean([[6, 4]], [WEAK], 0, 1)
    with pytest.raises(ValueError, match="low < high"):
        anytime_mean([[6, 4]], [WEAK], 1, 1)
