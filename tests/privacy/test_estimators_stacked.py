"""Parts that are estimated at once, as the first axis of an array: the same as one part after the other.

Expected are the estimates of single parts, put together here by loops; a slow search for what is refuted; and
`vectors/parts.json`: what the estimators said that these replaced, which took one part after the other.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from server.privacy.designs import Design, coin_flip, custom, k_ary, ordinal
from server.privacy.estimators import (
    anytime_answered_mean,
    anytime_mean,
    anytime_shares,
    control_item_test,
    estimate_mean,
    estimate_pooled_answered_mean,
    estimate_pooled_mean,
    estimate_pooled_shares,
    estimate_shares,
    impossible_share_test,
    pooled_control_item_test,
    pooled_impossible_share_test,
    pooled_manipulation_bound,
)
from server.privacy.estimators.anytime import anytime_answered_means
from server.privacy.estimators.inverse import left_inverse
from server.privacy.estimators.refuting import find_refuted, pieces_of

DESIGNS = {
    2: [coin_flip(0.25), coin_flip(0.4), custom([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]])],
    3: [k_ary(3, 2.0), ordinal(3, 1.5)],
    5: [ordinal(5, 2.0), k_ary(5, 1.0)],
}
BEFORE = json.loads((Path(__file__).parents[1] / "vectors" / "parts.json").read_text("utf-8"))

Case = tuple[list[NDArray[np.int64]], list[Design], NDArray[np.float64]]


@st.composite
def parts(draw: st.DrawFn) -> Case:
    """Parts with few or many reports, or none, under designs that some of them share; what each counts."""
    truths = draw(st.sampled_from(sorted(DESIGNS)))
    counts, designs = [], []
    for _ in range(draw(st.integers(1, 7))):
        design = draw(st.sampled_from(DESIGNS[truths]))
        most = draw(st.sampled_from([0, 1, 2, 40, 100_000]))
        own = draw(st.lists(st.integers(0, most), min_size=(m := design.weights.shape[1]), max_size=m))
        counts.append(np.array(own))
        designs.append(design)
    if not any(own.any() for own in counts):
        counts[0][0] = 1
    given_weights = np.array([draw(st.integers(0, 9)) * own.any() for own in counts], dtype=np.float64)
    if not given_weights.any():
        given_weights = np.array([float(own.sum()) for own in counts])
    return counts, designs, given_weights / given_weights.sum()


@given(parts())
def test_parts_at_once_are_the_sum_of_parts_one_by_one(case: Case) -> None:
    counts, designs, weights = case
    counting = [place for place, weight in enumerate(weights) if weight]
    alone = [(weights[place], estimate_shares(counts[place], designs[place])) for place in counting]
    pooled = estimate_pooled_shares(counts, designs, weights)
    assert pooled.shares == pytest.approx(sum(w * one.shares for w, one in alone), abs=1e-12)
    assert pooled.sizes.tolist() == [int(own.sum()) for own in counts]
    covariance = sum(w**2 * one.covariance for w, one in alone)
    if np.isfinite(covariance).all():
        assert pooled.covariance == pytest.approx(covariance, abs=1e-12)
    else:
        assert np.isinf(pooled.covariance).all()
    for entry, (low, high) in enumerate(pooled.intervals.tolist()):
        away = [w * (one.intervals[entry] - one.shares[entry]) for w, one in alone]
        assert low == pytest.approx(pooled.shares[entry] - math.hypot(*(down for down, _ in away)), abs=1e-12)
        assert high == pytest.approx(pooled.shares[entry] + math.hypot(*(up for _, up in away)), abs=1e-12)
    means = [(weights[place], estimate_mean(counts[place], designs[place], 0, 1)) for place in counting]
    mean = estimate_pooled_mean(counts, designs, 0, 1, weights)
    assert mean.mean == pytest.approx(sum(w * one.mean for w, one in means), abs=1e-12)
    assert mean.interval[1] == pytest.approx(
        mean.mean + math.hypot(*(w * (one.interval[1] - one.mean) for w, one in means)), abs=1e-12
    )


@given(parts())
def test_tests_of_parts_at_once_are_those_of_parts_one_by_one(case: Case) -> None:
    counts, designs, weights = case
    some = [(own, design) for own, design in zip(counts, designs, strict=True) if own.any()]
    values = [impossible_share_test(own, design) for own, design in some]
    found = pooled_impossible_share_test(counts, designs)
    assert found == pytest.approx(min(1, len(values) * min(values)), rel=1e-9)
    if all(design.weights.shape == (2, 2) for design in designs):
        tests = [control_item_test(own, design) for own, design in some]
        control = pooled_control_item_test(counts, designs)
        assert control.above == min(1, len(tests) * min(one.above for one in tests))
        assert control.below == min(1, len(tests) * min(one.below for one in tests))
        assert control.share == pytest.approx(sum(one.n * one.share for one in tests) / control.n, abs=1e-12)
    n = sum(int(own.sum()) for own in counts)
    moves = [
        (weight / own.sum() * float(np.ptp(left_inverse(design), axis=1).max()), int(own.sum()))
        for weight, own, design in zip(weights, counts, designs, strict=True)
        if own.any()
    ]
    forged = sorted((move for move, size in moves for _ in range(min(size, 10))), reverse=True)[: min(n, 10)]
    sizes = [int(own.sum()) for own in counts]
    bound = pooled_manipulation_bound(sizes, min(n, 10), designs, weights)
    assert bound == pytest.approx(sum(forged), abs=1e-12)


@given(parts(), st.randoms(use_true_random=False))
def test_the_order_of_parts_says_nothing(case: Case, random: Any) -> None:
    counts, designs, weights = case
    order = random.sample(range(len(counts)), len(counts))
    other = [counts[place] for place in order], [designs[place] for place in order], weights[order]
    for estimate in (anytime_shares, lambda *how: anytime_mean(how[0], how[1], 0, 1, how[2])):
        assert np.array(estimate(*other)) == pytest.approx(np.array(estimate(*case)), rel=1e-7)
    for kind in ("wilson", "exact"):
        one, two = (estimate_pooled_shares(*how, 0.95, kind).intervals for how in (case, other))
        assert two == pytest.approx(one, abs=1e-10)


@given(st.lists(parts(), min_size=1, max_size=6))
def test_groups_side_by_side_have_the_intervals_of_each_alone(cases: list[Case]) -> None:
    groups = [case for case in cases if len(case[1][0].weights) > 2]
    alone = [anytime_answered_mean(case[0], case[1], 2, 7, case[2]) for case in groups]
    assert np.array(anytime_answered_means(groups, 2, 7)) == pytest.approx(np.array(alone), rel=1e-7)


@pytest.mark.parametrize("number", range(len(BEFORE["cases"])))
def test_numbers_are_those_of_the_estimators_that_took_one_part_after_the_other(number: int) -> None:
    case = BEFORE["cases"][number]
    designs = [Design(BEFORE["designs"][place]) for place in case["designs"]]
    how = case["counts"], designs
    weights, found = case["weights"], case["found"]
    assert pooled_impossible_share_test(*how) == pytest.approx(found["impossible_p"], rel=1e-9)
    assert anytime_shares(*how, weights) == pytest.approx(np.array(found["anytime"]), abs=1e-10)
    assert anytime_mean(*how, 0, 1, weights) == pytest.approx(found["anytime_mean"], abs=1e-10)
    for kind in ("wilson", "exact"):
        before = found[kind]
        pooled = estimate_pooled_shares(*how, weights, 0.95, kind)
        assert pooled.shares == pytest.approx(before["shares"], abs=1e-12)
        finite = np.where(np.isfinite(pooled.covariance), pooled.covariance, -1)
        assert finite == pytest.approx(np.array(before["covariance"]), abs=1e-12)
        assert pooled.intervals == pytest.approx(np.array(before["intervals"]), abs=1e-11)
        mean = estimate_pooled_mean(*how, 0, 1, weights, 0.95, kind)
        assert mean.mean == pytest.approx(before["mean"], abs=1e-12)
        error = mean.standard_error if math.isfinite(mean.standard_error) else -1
        assert error == pytest.approx(before["mean_error"], abs=1e-12)
        assert mean.interval == pytest.approx(before["mean_interval"], abs=1e-11)
        if "answered" in before:
            gave = estimate_pooled_answered_mean(*how, 0, 1, weights, 0.95, kind)
            known = [np.nan if value is None else value for value in (gave.mean, *gave.interval)]
            old = [np.nan if value is None else value for value in before["answered"]]
            assert known == pytest.approx(old, abs=1e-9, nan_ok=True)


@st.composite
def envelopes(draw: st.DrawFn) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Points and heights of some parts at three tilts, sizes, and what is allowed at each tilt."""
    count, points = draw(st.integers(1, 4)), draw(st.integers(2, 5))
    numbers = st.floats(0.01, 3)
    rows = draw(
        st.lists(
            st.lists(numbers, min_size=points, max_size=points, unique=True), min_size=count, max_size=count
        )
    )
    # Points that are no rounding error apart.
    across = np.cumsum(np.array(rows), axis=1) - 1
    # Heights that differ by what the search can tell: it takes the far end of what is flat, which refutes nothing more.
    heights = st.lists(st.integers(-200, 400), min_size=points, max_size=points, unique=True)
    up = np.array(draw(st.lists(heights, min_size=3 * count, max_size=3 * count))) / 100
    sizes = np.array(draw(st.lists(st.integers(1, 50), min_size=count, max_size=count)), dtype=np.float64)
    # Never the sum of heights itself: where these are flat, every point would be as good.
    allowed = np.array(draw(st.lists(st.integers(-20_000, 40_000), min_size=3, max_size=3))) / 100 + 0.003
    return across, up.reshape(3, count, points), sizes, allowed


@given(envelopes())
def test_what_is_refuted_is_what_a_slow_search_refutes(
    case: tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]],
) -> None:
    points, heights, sizes, allowed = case
    found = find_refuted([pieces_of(points, heights, sizes)], float(points[:, 0].sum()), allowed)
    for tilt in range(3):
        expected = search(points, heights[tilt], sizes, float(allowed[tilt]))
        # The search compares heights, which are flat where they are highest.
        assert found[tilt] == pytest.approx(expected, abs=1e-5)


def search(points: NDArray[Any], heights: NDArray[Any], sizes: NDArray[Any], allowed: float) -> float:
    """The sum at the steepest slope that all parts share for which the logarithms do not exceed what is allowed."""

    def touch(slope: float) -> tuple[float, float]:
        """Where lines of this slope touch the parts' envelopes, by the best of all their chords."""
        total = logs = 0.0
        for own, high, size in zip(points, np.exp(heights), sizes, strict=True):
            best = (-math.inf, 0.0, 0.0)
            for left in range(len(own)):
                for right in range(left, len(own)):
                    wide = own[right] - own[left]
                    rise = (high[right] - high[left]) / wide if wide else 0.0
                    away = min(max(size / slope - high[left] / rise, 0), wide) if rise > 0 else 0.0
                    log = size * math.log(high[left] + rise * away)
                    best = max(best, (log - slope * (own[left] + away), own[left] + away, log))
            total, logs = total + best[1], logs + best[2]
        return total, logs

    low, high = math.exp(-40), math.exp(40)
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if touch(middle)[1] >= allowed else (low, middle)
    return touch(high)[0]


def test_an_array_is_taken_as_a_list_is_and_its_faults_are_named_by_part() -> None:
    counts, design = np.array([[6, 4], [3, 9], [0, 0]]), coin_flip(0.25)
    one, two = (estimate_pooled_shares(each, [design] * 3) for each in (counts, counts.tolist()))
    assert np.array_equal(one.intervals, two.intervals)
    for fault, message in [
        (np.array([[6, 4], [3, -1], [0, 0]]), r"counts\[1\] must not be negative; they are \[3, -1\]"),
        (np.array([[6, 4], [3, 2**53], [0, 0]]), r"counts\[1\] must have a sum in \[1, 2\*\*53\]"),
        (np.array([[6, 4], [2**62, 2**62], [0, 0]]), r"counts\[1\] must have a sum in \[1, 2\*\*53\]"),
        (np.array([[6, 4, 1]] * 3), r"counts\[0\] must have shape \(2,\)"),
        (np.array([[6.0, 4.0]] * 3), r"counts\[0\] must be whole numbers"),
        ([[6, 4], [True, False], [0, 0]], r"counts\[1\] must be whole numbers"),
    ]:
        with pytest.raises(ValueError, match=message):
            estimate_pooled_shares(fault, [design] * 3)
    gap = Design([[1 << 31, 0, 1 << 31], [1 << 30, 0, 3 << 30]])
    with pytest.raises(ValueError, match=r"counts\[1\] must be 0 for .* report 1 has 7"):
        estimate_pooled_shares(np.array([[6, 0, 4], [3, 7, 1]]), [gap] * 2)
