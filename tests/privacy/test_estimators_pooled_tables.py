"""Means and joint tables from several parts, and the association of any two answers."""

import dataclasses
import math
import pickle
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import multinomial

from server.privacy.designs import Design, coin_flip, k_ary, ordinal
from server.privacy.estimators import (
    association_of,
    estimate_answered_mean,
    estimate_joint,
    estimate_mean,
    estimate_pooled_answered_mean,
    estimate_pooled_joint,
    estimate_pooled_mean,
    estimate_pooled_shares,
    estimate_shares,
)
from server.privacy.estimators.late import compute_limits
from tests.privacy.test_estimators_pooled import tallies

WEAK, STRONG = coin_flip(0.1), coin_flip(0.4)
THREE = [[420, 330, 250], [90, 200, 10]], [k_ary(3, 2.0), k_ary(3, 4.0)]


def same(one: Any, other: Any) -> bool:
    """Whether two results are equal to the last digit, arrays inside them too."""
    left, right = (
        (dataclasses.astuple(value), getattr(value, "interval", None), getattr(value, "intervals", None))
        for value in (one, other)
    )
    return repr(left) == repr(right)


def test_a_result_that_goes_to_another_process_takes_its_intervals_along() -> None:
    for result in (estimate_pooled_mean([[600, 400]], [STRONG], -3, 17), estimate_shares([600, 400], STRONG)):
        there = pickle.loads(pickle.dumps(result))  # noqa: S301 - our own, made in the line itself
        assert same(there, result)
        assert not same(there, estimate_shares([600, 401], STRONG))


@pytest.mark.parametrize(
    ("counts", "design"), [([600, 400], STRONG), ([10, 20, 40], ordinal(3, 1.0)), ([1, 0], WEAK)]
)
def test_the_mean_of_one_part_is_the_mean_to_the_last_digit(counts: list[int], design: Design) -> None:
    pooled = estimate_pooled_mean([counts, [0] * len(counts)], [design] * 2, -3, 17)
    assert same(pooled, estimate_mean(counts, design, -3, 17))


def test_the_mean_of_parts_is_the_sum_of_their_shares_times_values() -> None:
    counts, designs = [[120, 130, 150, 80], [40, 20, 90, 30]], [ordinal(4, 2.0), k_ary(4, 1.5)]
    for weights in (None, [0.8, 0.2]):
        shares = estimate_pooled_shares(counts, designs, weights)
        values = np.array([1.0, 2, 3, 4])
        mean = estimate_pooled_mean(counts, designs, 1, 4, weights)
        assert mean.mean == pytest.approx(shares.shares @ values)
        assert mean.standard_error == pytest.approx(math.sqrt(values @ shares.covariance @ values))
        low, high = mean.interval
        assert high - low == pytest.approx(2 * 1.96 * mean.standard_error, rel=0.02)
        assert (mean.n, mean.impossible) == (660, False)
    assert estimate_pooled_mean([[1, 0], [7, 3]], [WEAK, STRONG], 0, 1).standard_error == math.inf


@pytest.mark.parametrize("counts", [[420, 330, 250], [30, 20, 950], [1, 0, 0]])
def test_the_answered_mean_of_one_part_is_as_ever_to_the_last_digit(counts: list[int]) -> None:
    pooled = estimate_pooled_answered_mean([[0, 0, 0], counts], [k_ary(3, 2.0)] * 2, 5, 45)
    assert same(pooled, estimate_answered_mean(counts, k_ary(3, 2.0), 5, 45))


def test_the_answered_mean_of_parts_is_the_ratio_of_pooled_shares() -> None:
    for weights in (None, [0.2, 0.8]):
        shares = estimate_pooled_shares(*THREE, weights)
        low, high, _ = shares.shares
        estimate = estimate_pooled_answered_mean(*THREE, -10, 30, weights)
        assert estimate.answered == pytest.approx(low + high)
        assert estimate.mean == pytest.approx(-10 + 40 * high / (low + high))
        gradient = np.array([-high, low, 0]) / (low + high) ** 2
        error = 40 * math.sqrt(gradient @ shares.covariance @ gradient)
        assert estimate.standard_error == pytest.approx(error)
        assert estimate.interval == pytest.approx(
            (estimate.mean - 1.96 * error, estimate.mean + 1.96 * error), rel=0.01
        )
    # The broken twin: the mean of the versions' means lets those who gave no number weigh.
    alone = [estimate_answered_mean(c, d, -10, 30).mean for c, d in zip(*THREE, strict=True)]
    assert estimate_pooled_answered_mean(*THREE, -10, 30).mean != pytest.approx(
        np.average(alone, weights=[10, 3]), abs=0.1
    )


def test_the_answered_interval_covers_by_enumeration() -> None:
    designs, sizes = [k_ary(3, 4.0), k_ary(3, 3.0)], [5, 4]  # 315 pairs of tallies
    shares = np.array([0.35, 0.25, 0.4])
    target, covered, naive = 0.25 / 0.6, 0.0, 0.0
    pairs = list(product(*(tallies(n, 3) for n in sizes)))
    estimates = [estimate_pooled_answered_mean(counts, designs, 0, 1) for counts in pairs]
    compute_limits(estimates)
    for counts, estimate in zip(pairs, estimates, strict=True):
        chance = np.prod(
            [multinomial.pmf(c, n, shares @ d.matrix) for c, n, d in zip(counts, sizes, designs, strict=True)]
        )
        covered += chance * (estimate.interval[0] <= target <= estimate.interval[1])
        if estimate.mean is not None and estimate.standard_error is not None:
            naive += chance * (abs(estimate.mean - target) <= 1.96 * estimate.standard_error)
    assert covered > 0.93
    assert naive < 0.93, "the broken twin: the ratio taken for normal"


JOINT = [[[630, 370], [330, 270]], [[80, 20], [10, 20]]]


def test_the_joint_table_of_one_part_is_as_ever_to_the_last_digit() -> None:
    for parts in (
        [JOINT[0]],
        [JOINT[0], [[0, 0], [0, 0]]],
        [{}, {b"\0\0": 630, b"\0\1": 370, b"\1\0": 330, b"\1\1": 270}],
    ):
        pooled = estimate_pooled_joint(parts, [[WEAK, STRONG]] * len(parts))
        assert same(pooled, estimate_joint(JOINT[0], [WEAK, STRONG]))


def test_the_margins_of_a_pooled_table_are_the_pooled_shares() -> None:
    designs = [[WEAK, k_ary(2, 1.0)], [STRONG, STRONG]]
    for weights in (None, [0.1, 0.9]):
        joint = estimate_pooled_joint(JOINT, designs, weights)
        for axis in range(2):
            counts = [np.array(part).sum(axis=1 - axis) for part in JOINT]
            alone = estimate_pooled_shares(counts, [part[axis] for part in designs], weights)
            assert joint.marginals[axis] == pytest.approx(alone.shares, abs=1e-12)
            sums = np.array([np.indices((2, 2))[axis].ravel() == truth for truth in range(2)])
            assert sums @ joint.covariance @ sums.T == pytest.approx(alone.covariance, abs=1e-12)
        assert (joint.intervals[..., 0] < joint.table).all()
        assert (joint.table < joint.intervals[..., 1]).all()
        assert joint.n == 1730


def test_the_covariance_of_a_pooled_table_is_unbiased_over_every_tally() -> None:
    designs, sizes = [[STRONG, STRONG], [coin_flip(0.25), STRONG]], [3, 2]
    truths = [np.array([0.4, 0.3, 0.1, 0.2]), np.array([0.1, 0.2, 0.3, 0.4])]
    reported = [t @ np.kron(a.matrix, b.matrix) for t, (a, b) in zip(truths, designs, strict=True)]
    mean, second, covariance = np.zeros(4), 0.0, 0.0
    for counts in product(*(tallies(n, 4) for n in sizes)):
        chance = np.prod([multinomial.pmf(c, n, p) for c, n, p in zip(counts, sizes, reported, strict=True)])
        joint = estimate_pooled_joint([part.reshape(2, 2) for part in counts], designs)
        mean += chance * joint.table.ravel()
        second = second + chance * np.outer(joint.table, joint.table)
        covariance = covariance + chance * joint.covariance
    assert mean == pytest.approx(0.6 * truths[0] + 0.4 * truths[1], abs=1e-8)
    assert covariance == pytest.approx(second - np.outer(mean, mean), abs=1e-8)
    assert mean != pytest.approx((truths[0] + truths[1]) / 2, abs=1e-3), (
        "the broken twin: versions unweighted"
    )


def test_the_association_of_yes_and_yes_is_the_table_s_own() -> None:
    joint = estimate_pooled_joint(JOINT, [[STRONG, STRONG]] * 2)
    association = joint.association
    assert association is not None
    for name in ("odds_ratio", "difference", "phi"):
        one, other = getattr(association_of(joint, 1, 1), name), getattr(association, name)
        assert one.value == pytest.approx(other.value)
        assert one.standard_error == pytest.approx(other.standard_error)
        assert one.interval == pytest.approx(other.interval)
    assert association.odds_ratio.value is not None
    turned = association_of(joint, 0, 1).odds_ratio.value
    assert turned == pytest.approx(1 / association.odds_ratio.value)


def test_the_association_of_any_two_answers_by_numerical_derivatives() -> None:
    tally = [[90, 40, 30, 50], [20, 130, 20, 40], [60, 20, 140, 50]]
    joint = estimate_joint(tally, [k_ary(3, 4.0), k_ary(4, 4.0)])
    one, other = 1, 1

    def odds(cells: NDArray[np.float64]) -> float:
        table = cells.reshape(3, 4)
        both, first, second = table[one, other], table[one].sum(), table[:, other].sum()
        return float(both * (table.sum() - first - second + both) / ((first - both) * (second - both)))

    steps = np.eye(12) * 1e-6
    table = joint.table.ravel()
    gradient = np.array([(odds(table + step) - odds(table - step)) / 2e-6 for step in steps])
    measure = association_of(joint, one, other).odds_ratio
    assert measure.value == pytest.approx(odds(table))
    assert measure.standard_error == pytest.approx(
        math.sqrt(gradient @ joint.covariance @ gradient), rel=1e-5
    )
    assert association_of(joint, 0, 1).odds_ratio.value != pytest.approx(measure.value, rel=0.1)


def test_one_respondent_has_no_standard_error() -> None:
    joint = estimate_joint([[1, 0], [0, 0]], [STRONG, STRONG])
    assert association_of(joint, 1, 1).odds_ratio.standard_error in (None, math.inf)
    pooled = estimate_pooled_joint([JOINT[0], [[0, 1], [0, 0]]], [[STRONG, STRONG]] * 2)
    assert np.isinf(pooled.standard_errors).all()
    assert pooled.association is not None
    assert pooled.association.odds_ratio.standard_error == math.inf


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"tallies": [JOINT[0]]},
            "tallies and designs must have one entry per part, at least one; they have 1 and 2",
        ),
        ({"tallies": [{}, {}]}, "tallies must have a positive sum; they are all 0"),
        (
            {"tallies": [JOINT[0], {b"\2\0": 1}]},
            r"tallies\[1\] must have reports in \[0, 1\] for question 0; one is 2",
        ),
        ({"tallies": [JOINT[0], [[1, 2]]]}, r"tallies\[1\] must have shape \(2, 2\)"),
        ({"designs": [[STRONG, STRONG], [STRONG]]}, r"designs\[1\] must be two or more; there are 1"),
        ({"designs": [[STRONG, STRONG], [STRONG, None]]}, r"designs\[1\]\[1\] must be a Design"),
        ({"designs": [[STRONG, STRONG], [STRONG, k_ary(3, 1.0)]]}, "same numbers of truths in every part"),
        ({"weights": [0.2, 0.2]}, "weights must have the sum 1"),
        ({"confidence": 0}, "confidence must be"),
    ],
)
def test_bad_joint_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    valid: dict[str, Any] = {"tallies": JOINT, "designs": [[STRONG, STRONG]] * 2}
    with pytest.raises(ValueError, match=message):
        estimate_pooled_joint(**{**valid, **arguments})


def test_bad_answers_and_tables_are_refused() -> None:
    joint = estimate_joint(JOINT[0], [STRONG, STRONG])
    with pytest.raises(ValueError, match=r"first must be a whole number in \[0, 1\]; it is 2"):
        association_of(joint, 2, 0)
    with pytest.raises(ValueError, match=r"second must be a whole number in \[0, 1\]; it is -1"):
        association_of(joint, 0, -1)
    three = estimate_joint(np.ones((2, 2, 2), dtype=int), [STRONG] * 3)
    with pytest.raises(ValueError, match="joint must be of two questions; it is of 3"):
        association_of(three, 0, 0)
    with pytest.raises(ValueError, match=r"designs\[0\] must have at least 3 truths"):
        estimate_pooled_answered_mean([[1, 2]], [STRONG], 0, 1)
