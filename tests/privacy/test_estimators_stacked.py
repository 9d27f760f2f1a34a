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
from hypothesis import assume, given, settings
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
from server.privacy.estimators.answered_means import answered_rows
from server.privacy.estimators.anytime import anytime_answered_means_of, anytime_means_of, anytime_shares_of
from server.privacy.estimators.design_limits import SeveralParts
from server.privacy.estimators.exact_ratios import SingleRatio
from server.privacy.estimators.impossible import impossible_share_tests
from server.privacy.estimators.inverse import left_inverse
from server.privacy.estimators.late import compute_limits
from server.privacy.estimators.parts import checked_parts, checked_singles, stack, stack_single
from server.privacy.estimators.pooled_shares import single_shares_of
from server.privacy.estimators.refuting import find_refuted, pieces_of
from server.privacy.estimators.score_limits import score_errors, score_limits
from server.privacy.estimators.single_parts import SinglePart
from server.privacy.estimators.two_valued_sums import TwoValuedSums
from tests.support.scale import choose_size

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
    checked = [checked_parts(*group) for group in groups]
    together = anytime_answered_means_of(checked, (2, 7), 0.95)
    assert np.array(together) == pytest.approx(np.array(alone), rel=1e-7)


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
    least = float(points[:, 0].sum())
    found = find_refuted([pieces_of(points, heights, sizes)], least, allowed)
    for tilt in range(3):
        room = float(allowed[tilt] - heights[tilt, :, 0] @ sizes)
        if room <= 0:  # nothing is refuted: what is lacking
            assert found[tilt] == pytest.approx(least + room, abs=1e-9)
            continue
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
    for _ in range(64):  # of 80 in the exponent a float has no more to tell
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


@pytest.mark.scaled
@settings(max_examples=choose_size(40, 2_000))
@given(st.lists(parts(), min_size=1, max_size=6))
def test_groups_side_by_side_are_the_same_as_one_after_the_other(groups: list[Case]) -> None:
    """Each group with its own parts, designs and weights: limits for one look and for every look, and tests."""
    checked = [checked_parts(*group) for group in groups]
    for interval in ("wilson", "exact"):
        together = [estimate_pooled_shares(*group, interval=interval) for group in groups]
        compute_limits(together)
        for group, ours in zip(groups, together, strict=True):
            alone = estimate_pooled_shares(*group, interval=interval).intervals
            assert ours.intervals == pytest.approx(alone, abs=1e-11)
    always, means = anytime_shares_of(checked, 0.95), anytime_means_of(checked, (2, 7), 0.95)
    tests = impossible_share_tests([each.answered for each in checked])
    for (counts, designs, weights), shares, mean, p_value in zip(groups, always, means, tests, strict=True):
        assert shares == pytest.approx(anytime_shares(counts, designs, weights), abs=1e-7)
        assert mean == pytest.approx(anytime_mean(counts, designs, 2, 7, weights), abs=1e-7)
        answered = [(own, design) for own, design in zip(counts, designs, strict=True) if own.any()]
        least = min(impossible_share_test(own, design) for own, design in answered)
        assert p_value == pytest.approx(min(1.0, len(answered) * least), rel=1e-9)


@given(st.data())
def test_strata_of_a_single_part_are_estimated_at_once_as_one_by_one(data: st.DataObject) -> None:
    design = data.draw(st.sampled_from([one for some in DESIGNS.values() for one in some]))
    width = design.weights.shape[1]
    row = st.lists(st.integers(0, 60), min_size=width, max_size=width).filter(any)
    counts = np.array(data.draw(st.lists(row, min_size=1, max_size=12)))
    together, groups = checked_singles(counts, design)
    several = single_shares_of(together, groups, 0.95, "by_size")
    compute_limits(several)
    for own, group, ours in zip(counts, groups, several, strict=True):
        alone = estimate_pooled_shares([own], [design], interval="by_size")
        assert (ours.n, ours.impossible, ours.interval) == (alone.n, alone.impossible, alone.interval)
        for name in ("sizes", "weights", "shares", "standard_errors", "covariance", "intervals"):
            assert getattr(ours, name) == pytest.approx(getattr(alone, name), abs=1e-11)
        given_parts = checked_parts([own], [design], None)
        assert group.counting[0].reports.tolist() == given_parts.counting[0].reports.tolist()
        assert group.n == given_parts.n


def test_of_hundreds_of_sums_few_tilts_find_what_all_tilts_find() -> None:
    """Each by itself is tried at every tilt of the scales; many reports, few, and estimates far outside."""
    draw, design = np.random.default_rng(5), ordinal(5, 2.0)
    coin, inverse = coin_flip(0.25), left_inverse(ordinal(5, 2.0))

    def shares_of(counts: Any) -> list[Any]:
        return [draw.multinomial(n, draw.dirichlet(np.full(5, 0.4))) for n in counts]

    sizes = draw.integers(1, 99, size=300)
    alone = [SinglePart(stack_single(own, design), list(inverse), 0.95) for own in shares_of(sizes)]
    several = [
        SeveralParts([stack(np.array(shares_of(sizes[:3])), design, draw.dirichlet([1, 1, 1]))], [[row]], 0.9)
        for row in inverse
        for _ in range(60)
    ]
    two = [
        TwoValuedSums(
            [stack(draw.integers(1, 60, size=(40, 2)), coin, draw.dirichlet(np.ones(40)))],
            [[left_inverse(coin)[1]]],
            0.95,
        )
        for _ in range(60)
    ]
    for asked in (alone, several, two):
        kind = type(asked[0])
        together = kind.answer_all(asked)
        for one, limits in zip(asked, together, strict=True):
            assert limits == pytest.approx(kind.answer_all([one])[0], abs=1e-11)


@given(st.data())
def test_errors_of_a_score_test_are_those_of_the_limit_there(data: st.DataObject) -> None:
    row = np.array(data.draw(st.lists(st.integers(-20, 20), min_size=2, max_size=5, unique=True))) / 7
    own = st.lists(st.integers(0, 90), min_size=len(row), max_size=len(row)).filter(any)
    counts = np.array(data.draw(own))
    assume(counts[row.argmax()] < counts.sum())
    z = data.draw(st.integers(1, 60)) / 10
    (limit,) = score_limits(row[None], counts[None], np.array([z]))[:, 1]
    near, farthest = score_errors(
        np.stack([row, row]), np.stack([counts, counts]), np.array([limit, row.max()])
    )
    # A limit at the top of the range is that of any larger z.
    assert near == pytest.approx(z, rel=1e-6) or limit > row.max() - 1e-9
    assert farthest == math.inf


def test_exact_limits_of_a_ratio_are_those_of_every_mean_at_every_tilt() -> None:
    design, counts = k_ary(4, 1.5), [[40, 13, 25, 4], [0, 1, 0, 0], [2, 3, 60, 5]]
    stacks = [stack_single(np.array(own), design) for own in counts]
    ((positions, answers),) = answered_rows(stacks[:1])
    found = SingleRatio.answer_all([SingleRatio(one, positions, answers, 0.95) for one in stacks])
    for one, limits in zip(stacks, found, strict=True):
        slow = _search_ratios(positions, answers, design, one.reports[0])
        assert limits == pytest.approx(np.array(slow), abs=1e-12)


def _search_ratios(
    positions: NDArray[np.float64], answers: NDArray[np.float64], design: Design, counts: NDArray[np.int64]
) -> tuple[float, float]:
    """The accepted means, and a step more: each of 201 is looked at by itself, from both sides, at all tilts."""
    n, room = int(counts.sum()), math.log(2 / 0.05)
    accepted = [
        mean
        for mean in np.linspace(0, 1, 201).tolist()
        if not any(
            _is_refuted(sign * (positions - mean * answers), design, counts, n, room) for sign in (1.0, -1.0)
        )
    ]
    return (max(accepted[0] - 0.005, 0.0), min(accepted[-1] + 0.005, 1.0)) if accepted else (0.0, 1.0)


def _is_refuted(
    values: NDArray[np.float64], design: Design, counts: NDArray[np.int64], n: int, room: float
) -> bool:
    """Whether at some tilt no true shares whose sum is 0 explain how large the sum is (Chernoff)."""
    counted = design.matrix @ values
    for tilt in np.geomspace(0.05 * math.sqrt(2 * room * n), 300 * n, 48) / np.ptp(values):
        logs = np.log(np.exp(tilt * values / n - (top := (tilt * values / n).max())) @ design.matrix.T) + top
        tall = np.exp(logs - logs.max())
        highest = 0.0
        for one, left in enumerate(counted):
            for other, right in enumerate(counted):
                if left <= 1e-12 and right >= -1e-12:
                    part = (
                        min(max(-left / (right - left), 0), 1)
                        if right - left > 1e-12
                        else min(max(-left, 0), 1)
                    )
                    highest = max(highest, tall[one] * (1 - part) + tall[other] * part)
        if n * (math.log(highest) + logs.max()) < tilt * float(values @ counts) / n - room:
            return True
    return False
