"""Shares from several parts over many repetitions: unbiased, with errors and intervals that hold."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from server.privacy.designs import Design, coin_flip, k_ary
from server.privacy.estimators import estimate_pooled_shares, estimate_shares

WEAK, STRONG = coin_flip(0.1), coin_flip(0.4)
REPETITIONS = 20_000
YES = np.linspace(0.1, 0.65, 12)
POPULATION = np.arange(1, 13) / 78
STRATA = [WEAK if stratum % 2 else STRONG for stratum in range(12)]
SIZES = [200 - 12 * stratum for stratum in range(12)]
"""Few answered where many live."""


def draw_counts(
    truths: Sequence[NDArray[np.float64]], designs: Sequence[Design], sizes: Sequence[int], seed: int
) -> list[NDArray[np.int64]]:
    """Counts of each part in each repetition, shapes (repetitions, m)."""
    rng = np.random.default_rng(seed)
    return [
        rng.multinomial(n, truth @ design.matrix, REPETITIONS)
        for truth, design, n in zip(truths, designs, sizes, strict=True)
    ]


def all_at_once(
    estimate: Callable[[list[NDArray[np.int64]]], NDArray[np.float64]], counts: list[NDArray[np.int64]]
) -> NDArray[np.float64]:
    """Estimates of every repetition: those of unmixed counts, because an estimate is linear in the counts."""
    sizes = [int(part[0].sum()) for part in counts]
    base = [np.eye(part.shape[1], dtype=int)[0] * n for part, n in zip(counts, sizes, strict=True)]
    start = estimate(base)
    result = np.tile(start, (REPETITIONS, 1))
    for number, part in enumerate(counts):
        for report in range(1, part.shape[1]):
            moved = [*base]
            moved[number] = np.eye(part.shape[1], dtype=int)[report] * sizes[number]
            result += part[:, [report]] / sizes[number] * (estimate(moved) - start)
    assert result[7] == pytest.approx(estimate([part[7] for part in counts]), abs=1e-9)
    return result


def holds(estimates: NDArray[np.float64], target: NDArray[np.float64], errors: NDArray[np.float64]) -> bool:
    """Unbiased, and standard errors within 3 % of the spread; at the true values missed once in 10^7."""
    spread = estimates.std(axis=0, ddof=1)
    near = np.abs(estimates.mean(axis=0) - target) < 5.5 * spread / np.sqrt(len(estimates))
    return bool(near.all() and (np.abs(errors / spread - 1) < 0.03).all())


def check_estimates(
    truths: list[NDArray[np.float64]], designs: list[Design], sizes: list[int], weights: Any, seed: int
) -> None:
    counts = draw_counts(truths, designs, sizes, seed)
    used = np.array(sizes) / sum(sizes) if weights is None else np.array(weights)
    target = np.asarray(sum(w * truth for w, truth in zip(used, truths, strict=True)))
    some = [
        estimate_pooled_shares([part[one] for part in counts], designs, weights).standard_errors ** 2
        for one in range(200)
    ]
    errors = np.sqrt(np.mean(some, axis=0))

    def of(how: Any) -> NDArray[np.float64]:
        return all_at_once(lambda c: estimate_pooled_shares(c, designs, how).shares, counts)

    assert holds(of(weights), target, errors)
    # The broken twins: raw counts under one of the designs; parts unweighted; weights ignored.
    raw = [estimate_shares(np.sum([part[one] for part in counts], axis=0), designs[0]) for one in range(200)]
    assert not holds(np.array([one.shares for one in raw]), target, errors)
    assert not holds(of(np.full(len(sizes), 1 / len(sizes))), target, errors)
    if weights is not None:
        assert not holds(of(None), target, errors)


def test_two_versions_of_unequal_size_are_unbiased_with_honest_errors() -> None:
    check_estimates([np.array([0.8, 0.2]), np.array([0.6, 0.4])], [WEAK, STRONG], [900, 250], None, 20261201)


def test_two_versions_of_a_choice_of_four_are_unbiased_with_honest_errors() -> None:
    truths = [np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.1, 0.2, 0.3, 0.4])]
    check_estimates(truths, [k_ary(4, 1.0), k_ary(4, 2.5)], [800, 300], None, 20261202)


def test_twelve_strata_weighted_by_the_population_are_unbiased_with_honest_errors() -> None:
    check_estimates([np.array([1 - p, p]) for p in YES], STRATA, SIZES, POPULATION, 20261203)


def test_intervals_cover_what_they_promise_by_enumeration() -> None:
    designs, (few, many) = [coin_flip(0.25), STRONG], (40, 15)
    limits = np.array(
        [
            [
                estimate_pooled_shares([[few - a, a], [many - b, b]], designs).intervals[1]
                for b in range(many + 1)
            ]
            for a in range(few + 1)
        ]
    )
    raw = np.array(
        [
            [estimate_shares([few + many - a - b, a + b], designs[1]).intervals[1] for b in range(many + 1)]
            for a in range(few + 1)
        ]
    )
    covered, broken = [], []
    for share in np.linspace(0, 1, 21):
        chances = [design.matrix[0, 1] * (1 - share) + design.matrix[1, 1] * share for design in designs]
        weights = np.outer(
            binom.pmf(np.arange(few + 1), few, chances[0]), binom.pmf(np.arange(many + 1), many, chances[1])
        )
        for ends, into in ((limits, covered), (raw, broken)):
            into.append(float(weights[(ends[..., 0] <= share) & (share <= ends[..., 1])].sum()))
    assert np.mean(covered) == pytest.approx(0.95, abs=0.01)
    assert min(covered) > 0.93
    # The broken twin: the interval of the counts added up, under the design of the second version.
    assert min(broken) < 0.8


def test_intervals_of_weighted_strata_cover_what_they_promise() -> None:
    # 600 studies; if exactly 95 % are covered, fewer than 537 or more than 595 are once in 10^6 at most.
    counts = draw_counts([np.array([1 - p, p]) for p in YES], STRATA, SIZES, 20261204)
    target = float(POPULATION @ YES)

    def count_covered(weights: NDArray[np.float64] | None, studies: int) -> int:
        intervals = [
            estimate_pooled_shares([part[one] for part in counts], STRATA, weights).intervals[1]
            for one in range(studies)
        ]
        return sum(low <= target <= high for low, high in intervals)

    assert 537 <= count_covered(POPULATION, 600) <= 595
    assert count_covered(None, 200) < 120, "the broken twin: weights ignored"
