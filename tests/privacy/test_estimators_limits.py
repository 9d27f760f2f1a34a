"""Confidence limits: Blaker's against a search of the acceptance function, the score limits against Wilson's."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom, multinomial

from server.privacy.designs import k_ary
from server.privacy.estimators import estimate_answered_mean
from server.privacy.estimators.exact_shares import blaker_limits
from server.privacy.estimators.late import compute_limits
from server.privacy.estimators.limits import (
    INTERVALS,
    combined_limits,
    linear_limits,
    wilson_limits,
)
from server.privacy.estimators.score_limits import score_limits


def limits_of_one(yes: int, n: int, confidence: float) -> tuple[float, float]:
    """Of one share."""
    ((low, high),) = blaker_limits(np.array([yes]), np.array([n]), np.array([confidence])).tolist()
    return low, high


def acceptance(share: float, yes: int, n: int) -> float:
    """Blaker (2000), p. 785, from the definition: outcomes whose smaller tail is no larger than the observed one's."""
    counts = np.arange(n + 1)
    tails = np.minimum(binom.cdf(counts, n, share), binom.sf(counts - 1, n, share))
    return float(binom.pmf(counts, n, share)[tails <= tails[yes] * (1 + 1e-12)].sum())


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize(("yes", "n"), [(0, 5), (1, 5), (3, 5), (4, 12), (9, 40), (27, 40), (40, 40)])
def test_blakers_limits_are_the_first_and_last_accepted_shares(yes: int, n: int, confidence: float) -> None:
    low, high = limits_of_one(yes, n, confidence)
    grid = np.linspace(1e-6, 1 - 1e-6, 1001)
    accepted = grid[[acceptance(share, yes, n) > 1 - confidence for share in grid]]
    assert low <= accepted[0] <= low + 1.01e-3
    assert high - 1.01e-3 <= accepted[-1] <= high


def test_blakers_lower_limit_for_two_of_ten_is_one_sided() -> None:
    # No count below 2 has a tail as small as 0.05 there, so the whole 0.05 is spent on one side.
    low, high = limits_of_one(2, 10, 0.95)
    assert low == pytest.approx(beta.ppf(0.05, 2, 9), rel=1e-9)
    assert beta.ppf(0.95, 3, 8) < high < beta.ppf(0.975, 3, 8)


@given(st.integers(1, 10**9), st.floats(0, 1), st.floats(1e-9, 1 - 1e-9))
def test_blakers_limits_are_nested_within_clopper_and_pearsons(
    n: int, part: float, confidence: float
) -> None:
    yes = min(n, int(part * n))
    low, high = limits_of_one(yes, n, confidence)
    half = (1 - confidence) / 2
    assert 0 <= low <= yes / n <= high <= 1
    assert low >= (beta.ppf(half, yes, n - yes + 1) if yes else 0) * (1 - 1e-9)
    assert 1 - high >= (1 - beta.isf(half, yes + 1, n - yes) if yes < n else 0) - 1e-9


@given(st.integers(0, 1000), st.integers(1, 1000), st.floats(0.01, 0.999))
def test_blakers_limits_are_nested_in_confidence(yes: int, no: int, confidence: float) -> None:
    low, high = limits_of_one(yes, yes + no, confidence)
    wider_low, wider_high = limits_of_one(yes, yes + no, (1 + confidence) / 2)
    assert wider_low <= low * (1 + 1e-11)
    assert wider_high >= high * (1 - 1e-11)


@given(st.integers(0, 500), st.integers(0, 500), st.floats(0.01, 0.999))
def test_score_limits_with_a_value_never_seen_are_wilsons_when_it_has_no_weight(
    no: int, yes: int, confidence: float
) -> None:
    if no + yes == 0:
        return
    # A third report with a value between the two sends the calculation down the general path.
    values, counts = np.array([0.0, 0.5, 1.0]), np.array([no, 0, yes])
    expected = wilson_limits(yes, no + yes, confidence)
    assert linear_limits(values, counts, confidence, "wilson") == pytest.approx(expected, abs=1e-9)


def test_score_limits_hold_every_mean_that_the_score_test_accepts() -> None:
    # Independent of the closed forms: the constrained likeliest distribution found by a search of the
    # simplex, the statistic compared with z squared on both sides of each limit.
    values, counts = np.array([-1.0, 0.2, 2.0]), np.array([11, 7, 4])
    low, high = linear_limits(values, counts, 0.95, "wilson")
    mean, n = float(values @ counts) / 22, 22

    def statistic(target: float) -> float:
        top = np.linspace(1e-6, 1 - 1e-6, 200_001)  # the chance of the last report; the others follow
        middle = (target + 1 - 3 * top) / 1.2
        chances = np.stack([1 - middle - top, middle, top])
        chances = chances[:, (chances > 0).all(axis=0)]
        best = chances[:, (counts[:, None] * np.log(chances)).sum(axis=0).argmax()]
        return float(n * (mean - target) ** 2 / (best @ (values - target) ** 2))

    assert statistic(low) == pytest.approx(1.959964**2, rel=1e-3)
    assert statistic(high) == pytest.approx(1.959964**2, rel=1e-3)


@pytest.mark.parametrize("counts", [(3, 0), (1, 2)])
def test_reports_that_are_all_alike_leave_as_much_room_as_wilson_leaves_a_share_of_none(
    counts: tuple[int, ...],
) -> None:
    # Whatever was never seen may have any chance that Wilson accepts for it. Two reports worth the same
    # but for rounding are one.
    for value, times in product(np.linspace(0.05, 0.95, 19).tolist(), range(1, 40)):
        values = np.array([0.0, value, value + 1e-16, 1.0])
        seen = times * np.array([0, *counts, 0])
        never = wilson_limits(0, int(seen.sum()), 0.95)[1]
        expected = value * (1 - never), value + (1 - value) * never
        assert linear_limits(values, seen, 0.95, "wilson") == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("chances", [(0.3, 0.4, 0.3), (0.6, 0.3, 0.1), (0.9, 0.05, 0.05), (0.01, 0.98, 0.01)])
def test_coverage_of_a_mean_of_three_values_by_enumeration(chances: tuple[float, ...]) -> None:
    values, n = np.array([0.0, 0.4, 1.0]), 20
    target = float(values @ np.array(chances))
    covered = dict.fromkeys(INTERVALS, 0.0)
    for first in range(n + 1):
        for second in range(n + 1 - first):
            counts = np.array([first, second, n - first - second])
            chance = float(multinomial.pmf(counts, n, chances))
            if chance < 1e-9:
                continue
            for kind in INTERVALS:
                low, high = linear_limits(values, counts, 0.95, kind)
                covered[kind] += chance * (low <= target <= high)
    assert covered["exact"] >= 0.95
    assert covered["wilson"] >= 0.94
    assert covered["wald"] < covered["wilson"]


def test_a_mean_whose_values_are_equal_has_no_uncertainty() -> None:
    for kind in INTERVALS:
        assert linear_limits(np.array([0.3, 0.3]), np.array([2, 3]), 0.95, kind) == (0.3, 0.3)


def test_limits_of_one_group_are_wilsons_and_of_two_are_newcombes() -> None:
    one = combined_limits(np.array([1.0]), np.array([56]), np.array([70]), 0.95)
    assert one == pytest.approx(wilson_limits(56, 70, 0.95))
    # Newcombe (1998), Statistics in Medicine 17, 873-890, example (a), method 10: 56/70 - 48/80.
    two = combined_limits(np.array([1.0, -1.0]), np.array([56, 48]), np.array([70, 80]), 0.95)
    assert two == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_many_limits_at_once_are_those_of_each_alone() -> None:
    """Of rows of every shape: alike values, nothing seen of the ends, one report, very many."""
    generator = np.random.default_rng(11)
    values = generator.normal(size=(300, 6)).round(1)
    values[:40] = values[:40, :1] + (values[:40] > 0)
    counts = np.array(
        [
            generator.multinomial(10 ** (k % 9), chances)
            for k, chances in enumerate(generator.dirichlet(np.full(6, 0.3), len(values)))
        ]
    )
    z = generator.uniform(0.5, 8, len(values))

    together = score_limits(values, counts, z)

    for row in range(len(values)):
        alone = score_limits(values[[row]], counts[[row]], z[[row]])
        assert together[row] == pytest.approx(alone[0], abs=1e-12)
    assert (together[:, 0] <= together[:, 1]).all()
    assert score_limits(values[::-1], counts, z) != pytest.approx(
        together, abs=1e-3
    )  # the broken twin: mixed up


def test_answered_means_computed_side_by_side_are_those_of_each_alone() -> None:
    generator = np.random.default_rng(12)
    counts = [generator.multinomial(10 ** (k % 5), generator.dirichlet(np.ones(4))) for k in range(40)]
    late = [estimate_answered_mean(each, k_ary(4, 2.0), 0, 10) for each in counts]

    compute_limits(late)

    for each, result in zip(counts, late, strict=True):
        alone = estimate_answered_mean(each, k_ary(4, 2.0), 0, 10)
        assert result.interval == pytest.approx(alone.interval, abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), min_size=1, max_size=40))
def test_blakers_limits_of_many_shares_are_those_of_each(shares: list[tuple[int, int]]) -> None:
    yes, n = (
        np.array(each) for each in zip(*[(one, one + other or 1) for one, other in shares], strict=True)
    )
    levels = np.resize([0.9, 0.95, 0.999], len(n))
    alone = [limits_of_one(*each) for each in zip(yes.tolist(), n.tolist(), levels.tolist(), strict=True)]
    assert blaker_limits(yes, n, levels) == pytest.approx(np.array(alone), abs=1e-12)
