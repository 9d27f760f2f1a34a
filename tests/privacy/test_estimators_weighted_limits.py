"""Intervals of weighted sums: coverage by enumeration of every outcome, and what is shown of few responses."""

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from scipy.stats import binom

from server.privacy.designs import Design, coin_flip, k_ary, ordinal
from server.privacy.estimators import (
    estimate_pooled_answered_mean,
    estimate_pooled_mean,
    estimate_pooled_shares,
    estimate_shares,
)
from server.privacy.estimators.inverse import left_inverse
from server.privacy.estimators.weighted_limits import weighted_limits

Outcome = tuple[tuple[int, ...], float]

UNLIKELY = 1e-6
"""Outcomes rarer than this are left out; all of them together are counted as misses."""


def outcomes(sizes: Sequence[int], shares: Sequence[float], design: Design) -> Iterator[Outcome]:
    """Every number of yes reports of each part, with its chance; where parts are alike, in one order of many."""
    chances = []
    for n, share in zip(sizes, shares, strict=True):
        reported = (1 - share) * design.matrix[0, 1] + share * design.matrix[1, 1]
        chances.append(binom.pmf(np.arange(n + 1), n, reported).tolist())
    alike = len(set(zip(sizes, shares, strict=True))) == 1
    ranges = [range(n + 1) for n in sizes]
    every = (
        itertools.combinations_with_replacement(ranges[0], len(sizes))
        if alike
        else itertools.product(*ranges)
    )
    for seen in every:
        orders = math.factorial(len(seen)) if alike else 1
        if alike:
            for times in Counter(seen).values():
                orders //= math.factorial(times)
        chance = orders * math.prod(own[yes] for own, yes in zip(chances, seen, strict=True))
        if chance > UNLIKELY:
            yield seen, chance


def coverage(
    sizes: Sequence[int], weights: Sequence[float], shares: Sequence[float], design: Design, interval: str
) -> float:
    """How often the interval of the weighted share holds it, exactly."""
    row = left_inverse(design)[1]
    true = sum(weight * share for weight, share in zip(weights, shares, strict=True))
    found = 0.0
    for seen, chance in outcomes(sizes, shares, design):
        counts = [np.array([n - yes, yes]) for n, yes in zip(sizes, seen, strict=True)]
        low, high = weighted_limits(weights, [row] * len(sizes), counts, 0.95, interval)
        found += chance * (low <= true <= high)
    return found


SIX = [10] * 6, [1 / 6] * 6, [0.01] * 6, coin_flip(0.49)


def test_six_small_strata_are_covered() -> None:
    """The broken twin is the sum of Wilson's limits: 0.886, of 0.95 that it promises."""
    assert coverage(*SIX, "exact") >= 0.95
    assert coverage(*SIX, "wilson") == pytest.approx(0.886, abs=0.001)


def test_small_strata_beside_a_large_one_are_covered() -> None:
    """Strata of one size in the population, of which 10, 10 and 500 responded; the twin misses 9 times in 100."""
    case = [10, 10, 500], [1 / 3] * 3, [0.01] * 3, coin_flip(0.45)
    assert coverage(*case, "exact") >= 0.95
    assert coverage(*case, "wilson") < 0.912


@pytest.mark.parametrize("weights", [[0.9, 0.1], [0.2, 0.8]])
@pytest.mark.parametrize("shares", [[0.01, 0.01], [0.3, 0.0], [0.0, 1.0], [0.97, 0.9]])
def test_two_unequal_strata_are_covered_whatever_their_shares(
    weights: list[float], shares: list[float]
) -> None:
    assert coverage([8, 25], weights, shares, coin_flip(0.49), "exact") >= 0.95


@pytest.mark.parametrize("shares", [[0.0, 0.02], [0.005, 0.005], [0.3, 0.9], [1.0, 0.99]])
def test_parts_that_count_as_their_responses_are_covered_by_binomial_limits(shares: list[float]) -> None:
    assert coverage([10, 30], [0.25, 0.75], shares, coin_flip(0.49), "exact") >= 0.95


def test_one_question_of_ten_people_is_covered() -> None:
    """What is shown of few responses, at every true share; the twin, Wilson's, goes down to 0.835 (methods of 0.95)."""
    design, n = coin_flip(0.49), 10
    estimates = {
        kind: np.array(
            [
                estimate_pooled_shares([[n - yes, yes]], [design], None, 0.95, kind).intervals[1]
                for yes in range(n + 1)
            ]
        )
        for kind in ("by_size", "wilson")
    }
    least = {}
    for kind, limits in estimates.items():
        shares = np.linspace(0, 1, 1001)
        reported = (1 - shares) * design.matrix[0, 1] + shares * design.matrix[1, 1]
        chances = binom.pmf(np.arange(n + 1)[:, None], n, reported)
        low, high = limits.T[:, :, None]
        least[kind] = float((chances * ((low <= shares) & (shares <= high))).sum(axis=0).min())
    assert least["by_size"] >= 0.95
    assert least["wilson"] == pytest.approx(0.835, abs=0.001)


def test_by_size_is_exact_where_some_part_that_counts_is_small() -> None:
    design = coin_flip(0.25)

    def kind(sizes: Sequence[int], weights: Sequence[float] | None = None) -> str:
        counts = [[n - n // 3, n // 3] for n in sizes]
        return estimate_pooled_shares(counts, [design] * len(sizes), weights, 0.95, "by_size").interval

    assert [kind([99]), kind([100]), kind([1000, 99]), kind([1000, 100])] == [
        "exact",
        "wilson",
        "exact",
        "wilson",
    ]
    assert kind([1000, 99], [1.0, 0.0]) == "wilson"  # a part that does not count
    one = estimate_pooled_shares([[40, 20]], [design], None, 0.95, "by_size")
    assert (one.intervals == estimate_shares([40, 20], design, interval="exact").intervals).all()


def test_by_size_stays_wilson_where_an_exact_interval_would_be_far_too_wide() -> None:
    scale, counts = ordinal(5, 2.0), [[10, 5, 8, 9, 3]]
    assert estimate_pooled_shares(counts, [scale], None, 0.95, "by_size").interval == "wilson"
    assert estimate_pooled_mean(counts, [scale], 1, 5, None, 0.95, "by_size").kind == "wilson"
    assert estimate_pooled_answered_mean(counts, [scale], 1, 4, None, 0.95, "by_size").kind == "wilson"
    assert estimate_pooled_shares([[10, 5, 8]], [k_ary(3, 2.0)], None, 0.95, "by_size").interval == "exact"
    assert estimate_pooled_mean([[10, 5]], [coin_flip(0.4)], 0, 9, None, 0.95, "by_size").kind == "exact"


def test_exact_limits_are_not_far_wider_than_they_must_be() -> None:
    """Of large parts Chernoff's bound is at most sqrt(2 ln 40) / 1.96 = 1.39 times as wide as normal theory."""
    row = left_inverse(coin_flip(0.45))[1]
    counts = [np.array([9000, 1000]), np.array([8000, 2000]), np.array([4000, 1000])]
    exact = np.ptp(weighted_limits([0.2, 0.5, 0.3], [row] * 3, counts, 0.95, "exact"))
    normal = np.ptp(weighted_limits([0.2, 0.5, 0.3], [row] * 3, counts, 0.95, "wilson"))
    assert 1.3 < exact / normal < 1.42


def test_exact_limits_of_reports_that_are_all_alike_hold_their_estimate() -> None:
    row = left_inverse(coin_flip(0.25))[1]
    none, every = [np.array([9, 0]), np.array([20, 0])], [np.array([0, 9]), np.array([0, 20])]
    assert weighted_limits([0.5, 0.5], [row] * 2, none, 0.95, "exact")[0] == pytest.approx(-0.5)
    assert weighted_limits([0.5, 0.5], [row] * 2, every, 0.95, "exact")[1] == pytest.approx(1.5)
