"""Shares from several parts: equal to one part's, exact fractions, unbiased over every tally; bad parts refused."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import multinomial

from server.privacy.designs import TOTAL, Design, coin_flip, custom, k_ary, ordinal
from server.privacy.estimators import (
    control_item_test,
    estimate_pooled_shares,
    estimate_shares,
    impossible_share_test,
    pooled_control_item_test,
    pooled_impossible_share_test,
)

WEAK, STRONG = coin_flip(0.1), coin_flip(0.4)
TWO_BY_THREE = custom([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]])


@pytest.mark.parametrize(
    ("counts", "design"),
    [
        ([600, 400], coin_flip(0.25)),
        ([3, 1_000_003], coin_flip(0.037)),
        ([1, 0], WEAK),
        ([0, 9], STRONG),
        ([20, 30, 1, 0], k_ary(4, 1.3)),
        ([20, 30, 11, 7, 2], ordinal(5, 2.0)),
        ([5, 3, 7], TWO_BY_THREE),
    ],
)
def test_one_part_is_estimated_as_ever_to_the_last_digit(counts: list[int], design: Design) -> None:
    alone = estimate_shares(counts, design)
    nobody = [0] * len(counts)
    for parts in ([counts], [nobody, counts]):
        pooled = estimate_pooled_shares(parts, [design] * len(parts))
        for name in ("n", "shares", "standard_errors", "intervals", "covariance", "impossible"):
            assert np.array_equal(getattr(pooled, name), getattr(alone, name)), name
        assert (pooled.confidence, pooled.interval) == (alone.confidence, alone.interval)


def test_two_versions_by_hand_in_exact_fractions() -> None:
    # 130 of 300 said yes under gamma 0.1, 50 of 100 under 0.4: pi = (yes / n - 1/2 + gamma) / (2 gamma).
    parts = [(Fraction(130), Fraction(300), Fraction(1, 10)), (Fraction(50), Fraction(100), Fraction(4, 10))]
    shares = [(yes / n - Fraction(1, 2) + gamma) / (2 * gamma) for yes, n, gamma in parts]
    variances = [yes / n * (1 - yes / n) / (n - 1) / (2 * gamma) ** 2 for yes, n, gamma in parts]
    for given_weights, weights in [
        (None, [Fraction(3, 4), Fraction(1, 4)]),
        ([0.125, 0.875], [Fraction(1, 8), Fraction(7, 8)]),
    ]:
        pooled = estimate_pooled_shares([[170, 130], [50, 50]], [WEAK, STRONG], given_weights)
        share = sum(w * s for w, s in zip(weights, shares, strict=True))
        variance = sum(w * w * v for w, v in zip(weights, variances, strict=True))
        assert pooled.shares[1] == pytest.approx(float(share), abs=1e-9)
        assert pooled.covariance[1, 1] == pytest.approx(float(variance), rel=1e-8)
        assert pooled.weights.tolist() == [float(w) for w in weights]
        assert (pooled.n, pooled.sizes.tolist()) == (400, [300, 100])
    # The number of people estimated is the sum of the versions' numbers.
    pooled = estimate_pooled_shares([[170, 130], [50, 50]], [WEAK, STRONG])
    assert 400 * pooled.shares[1] == pytest.approx(float(300 * shares[0] + 100 * shares[1]))


def tallies(n: int, reports: int) -> list[NDArray[np.int64]]:
    heads = product(range(n + 1), repeat=reports - 1)
    return [np.array([*head, n - sum(head)]) for head in heads if sum(head) <= n]


@pytest.mark.parametrize(
    ("designs", "sizes", "weights"),
    [
        ([WEAK, STRONG], [9, 5], None),
        ([WEAK, TWO_BY_THREE], [4, 3], [0.3, 0.7]),
        ([k_ary(4, 1.0), ordinal(4, 2.0)], [3, 2], None),
        ([STRONG, WEAK, STRONG], [3, 4, 2], [0.5, 0.2, 0.3]),
    ],
)
def test_shares_and_covariance_are_unbiased_over_every_possible_tally(
    designs: list[Design], sizes: list[int], weights: list[float] | None
) -> None:
    truths = [np.arange(1.0, 1 + design.weights.shape[0]) ** part for part, design in enumerate(designs)]
    truths = [truth / truth.sum() for truth in truths]
    used = np.array(sizes) / sum(sizes) if weights is None else np.array(weights)
    target = sum(w * truth for w, truth in zip(used, truths, strict=True))
    mean, second, covariance = np.zeros(len(target)), 0.0, 0.0
    reported = [truth @ design.matrix for truth, design in zip(truths, designs, strict=True)]
    for counts in product(*(tallies(n, len(chances)) for n, chances in zip(sizes, reported, strict=True))):
        chance = np.prod([multinomial.pmf(c, n, p) for c, n, p in zip(counts, sizes, reported, strict=True)])
        pooled = estimate_pooled_shares(counts, designs, weights)
        mean += chance * pooled.shares
        second = second + chance * np.outer(pooled.shares, pooled.shares)
        covariance = covariance + chance * pooled.covariance
    assert mean == pytest.approx(target, abs=1e-8)
    assert covariance == pytest.approx(second - np.outer(mean, mean), abs=1e-7)
    # The broken twin: without the squares of the weights.
    assert covariance * 2 != pytest.approx(second - np.outer(mean, mean), abs=1e-7)


def test_a_part_with_one_report_leaves_the_standard_error_unknown() -> None:
    pooled = estimate_pooled_shares([[60, 40], [1, 0]], [WEAK, STRONG])
    assert np.isinf(pooled.standard_errors).all()
    assert np.isfinite(pooled.intervals).all()
    ignored = estimate_pooled_shares([[60, 40], [1, 0]], [WEAK, STRONG], [1.0, 0.0])
    assert np.array_equal(ignored.standard_errors, estimate_shares([60, 40], WEAK).standard_errors)
    assert ignored.n == 101


def test_impossible_is_said_of_the_sum_not_of_its_parts() -> None:
    assert not estimate_pooled_shares([[95, 5], [500, 500]], [STRONG, STRONG]).impossible
    assert estimate_pooled_shares([[95, 5], [60, 40]], [STRONG, WEAK]).impossible


def test_p_values_of_parts_are_bonferronis() -> None:
    parts, designs = [[764, 236], [97, 3], [0, 0]], [coin_flip(0.25), STRONG, WEAK]
    alone = [impossible_share_test(part, design) for part, design in zip(parts[:2], designs[:2], strict=True)]
    assert pooled_impossible_share_test(parts, designs) == 2 * min(alone) < 0.1
    assert pooled_impossible_share_test(parts[:1], designs[:1]) == alone[0]
    assert pooled_impossible_share_test([[50, 50]] * 3, designs) == 1
    control = pooled_control_item_test(parts, designs)
    each = [control_item_test(part, design) for part, design in zip(parts[:2], designs[:2], strict=True)]
    assert control.n == 1100
    assert control.share == pytest.approx(sum(one.n * one.share for one in each) / 1100)
    assert control.above == min(1, 2 * min(one.above for one in each))
    assert control.below == 2 * min(one.below for one in each)
    assert pooled_control_item_test(parts[:1], designs[:1]) == each[0]
    heavier = pooled_control_item_test(parts, designs, [0.1, 0.9, 0])
    assert heavier.share == pytest.approx(0.1 * each[0].share + 0.9 * each[1].share)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"counts": [[6, 4]]}, "one entry per part, at least one; they have 1 and 2"),
        ({"counts": [], "designs": []}, "at least one; they have 0 and 0"),
        ({"counts": [[0, 0], [0, 0]]}, "counts must have a positive sum; they are all 0"),
        ({"counts": [[6, 4], [3, -1]]}, r"counts\[1\] must not be negative"),
        ({"counts": [[6, 4], [0.0, 0.0]]}, r"counts\[1\] must be whole numbers"),
        ({"counts": [[6, 4], [0, 0, 0]]}, r"counts\[1\] must have shape \(2,\)"),
        ({"designs": [WEAK, k_ary(3, 1.0)]}, r"same number of truths; they have \[2, 3\]"),
        (
            {"designs": [WEAK, Design([[TOTAL // 2] * 2] * 2)]},
            r"designs\[1\] must tell the two answers apart",
        ),
        ({"designs": [WEAK, None]}, r"designs\[1\] must be a Design; it is None"),
        ({"weights": [1.0]}, r"weights must have one entry per part, 2; their shape is \(1,\)"),
        ({"weights": [1.5, -0.5]}, r"weights must be in \[0, 1\]; they are \[1.5, -0.5\]"),
        ({"weights": [0.5, 0.4]}, "weights must have the sum 1 within 1e-09; it is 0.9"),
        ({"weights": [0.5, np.nan]}, "weights must be finite"),
        (
            {"counts": [[6, 4], [0, 0]], "weights": [0.5, 0.5]},
            r"weights\[1\] is 0.5 and counts\[1\] are all 0",
        ),
        ({"confidence": 1.0}, "confidence must be in the open interval"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    valid: dict[str, Any] = {"counts": [[6, 4], [3, 2]], "designs": [WEAK, STRONG]}
    with pytest.raises(ValueError, match=message):
        estimate_pooled_shares(**{**valid, **arguments})


@given(st.lists(st.tuples(st.integers(0, 10**12), st.integers(0, 10**12)), min_size=1, max_size=5))
def test_no_valid_counts_give_nan(counts: list[tuple[int, int]]) -> None:
    if any(map(any, counts)):
        pooled = estimate_pooled_shares(counts, [coin_flip(0.25), STRONG, WEAK, STRONG, WEAK][: len(counts)])
        for values in (pooled.shares, pooled.standard_errors, pooled.intervals):
            assert not np.isnan(values).any()
        assert (pooled.intervals[:, 0] <= pooled.shares + 1e-9).all()
        assert (pooled.shares - 1e-9 <= pooled.intervals[:, 1]).all()
