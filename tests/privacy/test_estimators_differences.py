"""Differences between two groups: coverage by enumerating every count, against twins that are wrong on purpose."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from server.privacy.designs import Design, coin_flip, k_ary
from server.privacy.estimators import estimate_shares
from server.privacy.estimators.group_differences import mean_difference_of, share_differences_of
from server.privacy.estimators.parts import Parts, checked_parts

COIN = coin_flip(0.25)
SHARES = (0.0, 0.05, 0.3, 0.5, 1.0)
Limits = Callable[[tuple[int, int], tuple[int, int]], tuple[float, float]]


def group(counts: object, design: Design = COIN) -> Parts:
    return checked_parts([counts], [design], None)


def limits_by(interval: str) -> Limits:
    def limits(first: tuple[int, int], second: tuple[int, int]) -> tuple[float, float]:
        found = share_differences_of(group(first), group(second), 0.95, interval)
        low, high = found.intervals[1].tolist()
        return low, high

    return limits


def limits_without_squares(first: tuple[int, int], second: tuple[int, int]) -> tuple[float, float]:
    """A broken twin: half-widths added as they are."""
    one, other = (estimate_shares(counts, COIN) for counts in (first, second))
    value = float(one.shares[1] - other.shares[1])
    below = one.shares[1] - one.intervals[1, 0] + other.intervals[1, 1] - other.shares[1]
    above = one.intervals[1, 1] - one.shares[1] + other.shares[1] - other.intervals[1, 0]
    return value - float(below), value + float(above)


def limits_without_coins(first: tuple[int, int], second: tuple[int, int]) -> tuple[float, float]:
    """A broken twin: the variance of true answers, as if nothing had been randomised."""
    found = share_differences_of(group(first), group(second), 0.95, "wilson")
    spread = 0.0
    for counts in (first, second):
        share = float(np.clip(estimate_shares(counts, COIN).shares[1], 0, 1))
        spread += share * (1 - share) / sum(counts)
    value, half = float(found.values[1]), 1.96 * spread**0.5
    return value - half, value + half


def coverage(limits: Limits, sizes: tuple[int, int], shares: tuple[float, ...]) -> NDArray[np.float64]:
    """How often the true difference is inside, of each pair of true shares; the rarest counts count as inside."""
    chances = [0.25 + share / 2 for share in shares]
    masses = [binom.pmf(np.arange(n + 1)[:, None], n, chances) for n in sizes]
    likely = [np.flatnonzero(mass.max(axis=1) > 1e-5) for mass in masses]
    true = np.subtract.outer(shares, shares)
    missed = np.zeros(true.shape)
    for one, other in product(*(places.tolist() for places in likely)):
        low, high = limits((sizes[0] - one, one), (sizes[1] - other, other))
        outside = (true < low - 1e-12) | (true > high + 1e-12)
        missed += outside * np.multiply.outer(masses[0][one], masses[1][other])
    return 1 - missed


@pytest.mark.parametrize("sizes", [(8, 8), (5, 13), (20, 11)])
def test_exact_differences_never_cover_less_than_promised(sizes: tuple[int, int]) -> None:
    assert coverage(limits_by("by_size"), sizes, SHARES).min() >= 0.95
    # The broken twin is far below, and this comparison sees it.
    assert coverage(limits_without_coins, sizes, SHARES).min() < 0.8


@pytest.mark.parametrize(
    ("limits", "holds"),
    [
        (limits_by("by_size"), True),
        (limits_without_squares, False),
        (limits_without_coins, False),
    ],
)
def test_differences_of_larger_groups_cover_what_they_promise(limits: Limits, holds: bool) -> None:
    covered = coverage(limits, (100, 130), (0.05, 0.3, 0.5))
    assert (covered.min() >= 0.948 and 0.949 <= covered.mean() <= 0.958) == holds, covered


def test_a_difference_is_that_of_the_two_estimates_whatever_the_parts() -> None:
    first = checked_parts([[600, 400], [270, 30]], [COIN, coin_flip(0.4)], [0.3, 0.7])
    second = checked_parts([[55, 45], [12, 28], [80, 30]], [coin_flip(0.1), COIN, COIN], None)
    shares = [
        sum(
            float(weights @ means)
            for each in parts.counting
            for weights, means in [(each.weights, each.means(each.inverse)[:, 1])]
        )
        for parts in (first, second)
    ]
    found = share_differences_of(first, second, 0.95, "by_size")
    assert found.interval == "exact"
    assert found.values[1] == pytest.approx(shares[0] - shares[1], abs=1e-12)
    assert found.values.sum() == pytest.approx(0, abs=1e-12)


def test_turned_around_it_is_the_same() -> None:
    design = k_ary(4, 1.5)
    first, second = group([600, 300, 200, 100], design), group([400, 400, 300, 120], design)
    one, other = (share_differences_of(*both, 0.95, "wilson") for both in ((first, second), (second, first)))
    assert one.values == pytest.approx(-other.values, abs=1e-12)
    assert one.intervals == pytest.approx(-other.intervals[:, ::-1], abs=1e-9)


def test_a_mean_of_two_ends_moves_with_the_share_of_the_upper_one() -> None:
    first, second = group([600, 400]), group([450, 550])
    mean = mean_difference_of(first, second, (10.0, 50.0), 0.95, "by_size")
    shares = share_differences_of(first, second, 0.95, "by_size")
    assert mean.values == pytest.approx(40 * shares.values[1:], abs=1e-9)
    assert mean.intervals == pytest.approx(40 * shares.intervals[1:], abs=1e-9)


def test_newcombes_published_interval() -> None:
    # Newcombe (1998), table II, method 10 without continuity correction, contrast (a): 56/70 against 48/80,
    # 0.2000 with 0.0524 to 0.3339. Answers that arrive as they are have the design of certainty.
    honest = k_ary(2, 20.0)
    found = share_differences_of(group([14, 56], honest), group([32, 48], honest), 0.95, "wilson")
    assert found.values[1] == pytest.approx(0.2, abs=1e-4)
    assert found.intervals[1].tolist() == pytest.approx([0.0524, 0.3339], abs=1e-4)
