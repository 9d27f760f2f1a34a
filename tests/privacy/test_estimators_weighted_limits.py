"""Intervals of weighted sums: coverage by enumeration of every outcome, and what is shown of few responses."""

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import binom

from server.privacy.designs import Design, coin_flip, k_ary, kronecker, ordinal
from server.privacy.estimators import (
    estimate_pooled_answered_mean,
    estimate_pooled_joint,
    estimate_pooled_shares,
    estimate_shares,
)
from server.privacy.estimators.design_limits import SeveralParts
from server.privacy.estimators.inverse import left_inverse
from server.privacy.estimators.limits import linear_limits
from server.privacy.estimators.parts import stack, stack_single
from server.privacy.estimators.together import compute, compute_together
from server.privacy.estimators.weighted_limits import limits_of_sums
from tests.benchmarks.coverage_kinds import KINDS, Kind, table
from tests.benchmarks.coverage_kinds import coverage as coverage_of
from tests.benchmarks.coverage_kinds import outcomes as outcomes_of

Outcome = tuple[tuple[int, ...], float]
Row = NDArray[Any]

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


def weighted_limits(
    weights: Sequence[float], row: Row, counts: Sequence[Row], interval: str, design: Design
) -> tuple[float, float]:
    """Limits of 95 % for the weighted sum of the means of `row[report]` of parts under one design."""
    return limits_of_each(weights, row, [counts], interval, design)[0]


def limits_of_each(
    weights: Sequence[float], row: Row, several: Sequence[Sequence[Row]], interval: str, design: Design
) -> list[tuple[float, float]]:
    """The same of several outcomes, computed side by side as those of the groups of a page."""
    stacks = [stack(np.array(counts), design, np.array(weights)) for counts in several]
    found = compute_together([limits_of_sums([parts], [[row]], 0.95, interval) for parts in stacks])
    return [limits for (limits,) in found]


def coverage(
    sizes: Sequence[int], weights: Sequence[float], shares: Sequence[float], design: Design, interval: str
) -> float:
    """How often the interval of the weighted share holds it, exactly."""
    row = left_inverse(design)[1]
    true = sum(weight * share for weight, share in zip(weights, shares, strict=True))
    seen, chances = zip(*outcomes(sizes, shares, design), strict=True)
    counts = [[np.array([n - yes, yes]) for n, yes in zip(sizes, outcome, strict=True)] for outcome in seen]
    limits = limits_of_each(weights, row, counts, interval, design)
    return sum(chance * (low <= true <= high) for chance, (low, high) in zip(chances, limits, strict=True))


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


@pytest.mark.parametrize("gamma", [0.1, 0.49])
@pytest.mark.parametrize(
    "kind",
    [kind for kind in KINDS if "number with" not in kind.name and "together" not in kind.name],
    ids=lambda k: k.name,
)
def test_every_kind_of_few_responses_is_covered(kind: Kind, gamma: float) -> None:
    """At n 10 and 20; the documents have more cases. The twins are Wilson's and the score interval."""
    for n in (10, 20):
        assert coverage_of(kind, gamma, n, "by_size").least >= 0.95


def test_the_mean_of_those_who_answered_is_covered() -> None:
    (kind,) = [kind for kind in KINDS if "number with" in kind.name]
    assert coverage_of(kind, 0.49, 10, "by_size").least >= 0.95
    # Of several parts that are small nothing but the range is sure.
    parts = [[6, 2, 3], [4, 9, 1]]
    assert estimate_pooled_answered_mean(
        parts, [k_ary(3, 2.0)] * 2, 0, 40, [0.2, 0.8], 0.95, "by_size"
    ).interval == (0, 40)


def test_the_cells_of_joint_tables_are_covered() -> None:
    """At n 10; the documents have more cases. The twin is the score interval, which 100 responses or more have."""
    (kind,) = [kind for kind in KINDS if "together" in kind.name]
    assert coverage_of(kind, 0.25, 10, "by_size").least >= 0.95
    assert coverage_of(kind, 0.49, 10, "by_size").least >= 0.95
    assert coverage_of(kind, 0.49, 10, "wilson").least == pytest.approx(0.905, abs=0.001)


def test_the_cells_of_two_versions_are_covered() -> None:
    """Two and three responses under other coins, every outcome of both; the twin adds the versions' score limits."""
    pairs = [[coin_flip(0.49), coin_flip(0.49)], [coin_flip(0.48), coin_flip(0.49)]]
    both = [outcomes_of(n, 4) for n in (2, 3)]
    shares = [np.array([0.98, 0.0, 0.0, 0.02])] * 2
    true = 0.02
    chances = [
        np.exp(gammaln(n + 1) - gammaln(seen + 1).sum(axis=1) + seen @ np.log(own @ kronecker(*pair).matrix))
        for n, seen, own, pair in zip((2, 3), both, shares, pairs, strict=True)
    ]
    covered = {"by_size": 0.0, "wilson": 0.0}
    for one, first in zip(both[0], chances[0], strict=True):
        for other, second in zip(both[1], chances[1], strict=True):
            tallies = [one.reshape(2, 2), other.reshape(2, 2)]
            for kind in covered:
                joint = estimate_pooled_joint(tallies, pairs, None, 0.95, kind)
                low, high = joint.intervals[1, 1].tolist()
                covered[kind] += float(first * second) * (low <= true <= high)
    assert covered["by_size"] >= 0.95
    assert covered["wilson"] == pytest.approx(0.906, abs=0.001)


def test_intervals_that_rest_on_large_numbers_miss_few_responses() -> None:
    """The broken twin of the tests above: where it is told apart, by kind."""
    least = {kind.name: coverage_of(kind, 0.49, 10, "wilson").least for kind in KINDS if "scale" in kind.name}
    assert least["scale of 3: an end"] == pytest.approx(0.916, abs=0.001)
    assert least["scale of 3: the middle"] == pytest.approx(0.929, abs=0.001)


def test_a_scale_in_several_strata_is_covered() -> None:
    """Strata of 3 and 4 responses, every outcome of both; the twin adds the score limits of the strata."""
    design = ordinal(3, 4.6)
    row, matrix = left_inverse(design)[0], design.matrix
    both = [outcomes_of(n, 3) for n in (3, 4)]
    shares = [np.array([0.02, 0.0, 0.98]), np.array([0.0, 0.03, 0.97])]
    true = 0.5 * 0.02
    chances = [
        np.exp(gammaln(n + 1) - gammaln(seen + 1).sum(axis=1) + seen @ np.log(own @ matrix))
        for n, seen, own in zip((3, 4), both, shares, strict=True)
    ]
    pairs, together = list(itertools.product(*both)), np.outer(*chances).ravel()
    found = {}
    for kind in ("exact", "wilson"):
        limits = np.array(limits_of_each([0.5, 0.5], row, pairs, kind, design))
        found[kind] = float(together @ ((limits[:, 0] <= true) & (true <= limits[:, 1])))
    assert found["exact"] >= 0.95
    assert found["wilson"] < 0.94


def test_limits_from_the_design_are_narrower_than_those_from_the_range_alone() -> None:
    """Of five levels; and of two values they are those of Chernoff's bound for them."""
    design = ordinal(5, 2.0)
    counts = np.array([10, 5, 8, 9, 3])
    for row in left_inverse(design):
        known = np.ptp(compute(limits_of_sums([stack_single(counts, design)], [[row]], 0.95, "exact"))[0])
        assert known < 0.85 * np.ptp(linear_limits(row, counts, 0.95, "exact"))
    coin = coin_flip(0.45)
    row, seen = left_inverse(coin)[1], [np.array([90, 12]), np.array([50, 60])]
    both = stack(np.array(seen), coin, np.array([0.3, 0.7]))
    ((ours,),) = SeveralParts.answer_all([SeveralParts([both], [[row]], 0.95)])
    assert ours.tolist() == pytest.approx(weighted_limits([0.3, 0.7], row, seen, "exact", coin), abs=2e-3)


def test_exact_limits_are_not_far_wider_than_they_must_be() -> None:
    """Of large parts Chernoff's bound is at most sqrt(2 ln 40) / 1.96 = 1.39 times as wide as normal theory."""
    design, row = coin_flip(0.45), left_inverse(coin_flip(0.45))[1]
    counts = [np.array([9000, 1000]), np.array([8000, 2000]), np.array([4000, 1000])]
    exact = np.ptp(weighted_limits([0.2, 0.5, 0.3], row, counts, "exact", design))
    normal = np.ptp(weighted_limits([0.2, 0.5, 0.3], row, counts, "wilson", design))
    assert 1.3 < exact / normal < 1.42


def test_exact_limits_of_reports_that_are_all_alike_hold_their_estimate() -> None:
    design, row = coin_flip(0.25), left_inverse(coin_flip(0.25))[1]
    none, every = [np.array([9, 0]), np.array([20, 0])], [np.array([0, 9]), np.array([0, 20])]
    assert weighted_limits([0.5, 0.5], row, none, "exact", design)[0] == pytest.approx(-0.5)
    assert weighted_limits([0.5, 0.5], row, every, "exact", design)[1] == pytest.approx(1.5)


def test_the_published_coverage_is_what_is_enumerated() -> None:
    """The lines of the documents for 10 responses and two fair coins, digit by digit."""
    pages = (Path(__file__).parents[2] / "docs" / "privacy").glob("*.md")
    published = {line for page in pages for line in page.read_text("utf-8").splitlines()}
    lines = list(table(sizes=(10,), gammas=(0.25,)))
    assert len(lines) == 2 + len(KINDS)
    assert set(lines) <= published
