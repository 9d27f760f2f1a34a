"""The mean among those who gave a number, and the control item to which nobody is a "yes"."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, multinomial

from server.privacy.designs import Design, coin_flip, for_epsilon, k_ary, ordinal, warner
from server.privacy.estimators import (
    INTERVALS,
    control_item_test,
    estimate_answered_mean,
    estimate_mean,
    estimate_shares,
    impossible_share_test,
)
from server.privacy.estimators.late import compute_limits

THREE = k_ary(3, 2.0)


def test_the_mean_is_the_ratio_of_two_shares() -> None:
    shares = estimate_shares([420, 330, 250], THREE)
    low, high, _ = shares.shares
    estimate = estimate_answered_mean([420, 330, 250], THREE, -10, 30)
    assert estimate.answered == pytest.approx(low + high)
    assert estimate.mean == pytest.approx(-10 + 40 * high / (low + high))
    # The textbook delta method, with the gradient of high / (low + high).
    gradient = np.array([-high, low, 0]) / (low + high) ** 2
    assert estimate.standard_error == pytest.approx(40 * math.sqrt(gradient @ shares.covariance @ gradient))
    assert not estimate.impossible


def test_levels_of_a_scale_are_equally_spaced() -> None:
    design, counts = k_ary(5, 3.0), [100, 200, 300, 150, 90]
    shares = estimate_shares(counts, design).shares
    estimate = estimate_answered_mean(counts, design, 1, 4)
    assert estimate.mean == pytest.approx(shares[:4] @ np.arange(1, 5) / shares[:4].sum())


def test_wald_is_fiellers_closed_form() -> None:
    """Fieller (1954): the roots of (a - mu b)^2 = z^2 var(a - mu b)."""
    counts = [420, 330, 250]
    shares = estimate_shares(counts, THREE)
    biased = shares.covariance * (999 / 1000)  # Wald's interval here divides by n
    a, b = shares.shares[1], shares.shares[:2].sum()
    rows = np.array([[0, 1, 0], [1, 1, 0]])
    (vaa, vab), (_, vbb) = rows @ biased @ rows.T
    z2 = 1.959963984540054**2
    roots = np.roots([b * b - z2 * vbb, -2 * (a * b - z2 * vab), a * a - z2 * vaa])
    estimate = estimate_answered_mean(counts, THREE, 0, 1, interval="wald")
    assert estimate.interval == pytest.approx(sorted(roots), rel=1e-9)


def _coverage(design: Design, answered: float, mean: float, n: int, interval: str) -> tuple[float, float]:
    """Of the interval, and of the estimate ± z standard errors, over every count of n people; nominal 95 %."""
    shares = np.array([answered * (1 - mean), answered * mean, 1 - answered])
    chances = shares @ design.matrix
    fieller = naive = 0.0
    outcomes = [[low, high, n - low - high] for low in range(n + 1) for high in range(n + 1 - low)]
    estimates = [estimate_answered_mean(counts, design, 0, 1, interval=interval) for counts in outcomes]
    compute_limits(estimates)
    for counts, estimate in zip(outcomes, estimates, strict=True):
        chance = multinomial.pmf(counts, n, chances)
        fieller += chance * (estimate.interval[0] <= mean <= estimate.interval[1])
        if estimate.mean is not None:
            naive += chance * (abs(estimate.mean - mean) <= 1.96 * (estimate.standard_error or 0))
    return fieller, naive


def test_the_interval_covers_where_few_gave_a_number() -> None:
    # All 136 counts of 15 people of whom a fifth gave a number. In 2.2 % the estimate is None.
    covered, naive = _coverage(k_ary(3, 4.0), 0.2, 0.1, 15, "wilson")
    assert covered > 0.93
    assert naive < 0.7, "the broken twin: the ratio taken for normal"


def test_the_exact_interval_always_covers() -> None:
    for answered, mean in product((0.1, 1.0), (0.0, 0.3)):
        assert _coverage(THREE, answered, mean, 9, "exact")[0] >= 0.95


def test_everybody_answering_gives_almost_the_plain_mean() -> None:
    counts = [420, 560, 20]
    estimate = estimate_answered_mean(counts, k_ary(3, 12.0), 0, 10)
    plain = estimate_mean(counts[:2], for_epsilon(12.0), 0, 10)
    assert estimate.mean == pytest.approx(plain.mean, rel=1e-3)
    assert estimate.interval == pytest.approx(plain.interval, rel=1e-3)


def test_nobody_answering_leaves_everything_possible() -> None:
    estimate = estimate_answered_mean([30, 20, 950], THREE, 5, 9)
    assert estimate.answered < 0
    assert (estimate.mean, estimate.standard_error) == (None, None)
    assert (estimate.interval, estimate.impossible) == ((5, 9), True)


@pytest.mark.parametrize("n", [5, 40, 41, 400])
def test_reports_that_are_all_alike_leave_room_on_both_sides_as_their_mirror_image_does(n: int) -> None:
    design = k_ary(5, 2.0)
    lowest, highest = (
        estimate_answered_mean(counts, design, 1, 4) for counts in ([n, 0, 0, 0, 0], [0, 0, 0, n, 0])
    )

    for estimate in (lowest, highest):
        assert estimate.mean is not None
        assert estimate.interval[0] < estimate.mean - 1 / n
        assert estimate.interval[1] > estimate.mean + 1 / n
    assert [5 - limit for limit in highest.interval[::-1]] == pytest.approx(lowest.interval)


def test_one_report_has_no_standard_error() -> None:
    estimate = estimate_answered_mean([1, 0, 0], THREE, 0, 4)
    assert estimate.standard_error == math.inf
    assert estimate.interval == (0, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"design": coin_flip(0.25), "counts": [3, 4]}, "design must have at least 3 truths.*; it has 2"),
        ({"low": 2, "high": 1}, "low < high; they are 2 and 1"),
        ({"counts": [3, 4]}, r"counts must have shape \(3,\)"),
        ({"confidence": 1}, "confidence must be"),
        ({"interval": "fieller"}, "interval must be one of wilson, exact, wald; it is 'fieller'"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    valid: dict[str, Any] = {"counts": [4, 3, 3], "design": THREE, "low": 0, "high": 1}
    with pytest.raises(ValueError, match=message):
        estimate_answered_mean(**{**valid, **arguments})


@given(
    st.lists(st.integers(0, 10**9), min_size=3, max_size=3).filter(any),
    st.floats(1e-4, 20),
    st.floats(-1e100, 1e100),
    st.floats(1e-100, 1e100),
    st.sampled_from(INTERVALS),
)
def test_no_valid_mean_is_nan(
    counts: list[int], epsilon: float, low: float, width: float, interval: str
) -> None:
    if low + width == low:
        return
    estimate = estimate_answered_mean(counts, k_ary(3, epsilon), low, low + width, interval=interval)
    assert estimate.mean is None or math.isfinite(estimate.mean)
    assert estimate.standard_error is None or estimate.standard_error >= 0
    assert estimate.interval[0] <= estimate.interval[1]


def test_control_item_is_an_exact_binomial_test_in_both_directions() -> None:
    # Pr(yes | no) = 1/4: Bin(20, 1/4), from SciPy's own tails.
    for yes in range(21):
        result = control_item_test([20 - yes, yes], coin_flip(0.25))
        assert result.above == pytest.approx(binom.sf(yes - 1, 20, 0.25))
        assert result.below == pytest.approx(binom.cdf(yes, 20, 0.25))
        assert result.share == pytest.approx((yes / 20 - 0.25) / 0.5)


def test_control_item_of_a_design_that_mostly_turns_answers_round() -> None:
    # warner(0.3): a "no" is mostly reported as "yes", so few reports of "yes" speak for a share above 0.
    result = control_item_test([60, 40], warner(0.3))
    assert result.share > 0
    assert result.above == pytest.approx(binom.cdf(40, 100, 0.7))
    assert result.below > 0.99


def test_control_item_alarms_falsely_no_more_often_than_it_says() -> None:
    n, level = 200, 0.05
    chances = binom.pmf(np.arange(n + 1), n, 0.25)
    results = [control_item_test([n - yes, yes], coin_flip(0.25)) for yes in range(n + 1)]
    assert chances @ np.array([result.above <= level for result in results]) <= level
    assert chances @ np.array([result.below <= level for result in results]) <= level
    # The broken twin: tested against Pr(yes | yes) = 0, as if there were no coin.
    assert chances @ np.array([yes > 0 for yes in range(n + 1)]) > 0.99


def test_impossible_shares_of_many_options_are_tested_together() -> None:
    design, n = k_ary(4, math.log(3)), 120  # keeps 1/2, else 1/6
    assert impossible_share_test([20, 20, 40, 40], design) == 1
    p = impossible_share_test([8, 40, 36, 36], design)
    assert p == pytest.approx(4 * binom.cdf(8, n, 1 / 6), rel=1e-6)
    assert impossible_share_test([75, 15, 15, 15], design) == pytest.approx(
        4 * binom.sf(74, n, 1 / 2), rel=1e-6
    )
    assert impossible_share_test([19, 33, 34, 34], design) == 1


def test_impossible_shares_of_a_scale_are_tested_by_the_score_behind_the_interval() -> None:
    design = ordinal(3, 2.0)
    counts = (1000 * (np.array([-0.03, 0.6, 0.43]) @ design.matrix)).round().astype(int)
    p = impossible_share_test(counts, design)
    # An interval of that confidence ends at 0: a third of p is one of its two tails.
    interval = estimate_shares(counts, design, confidence=1 - 2 * p / 3).intervals[0]
    assert 0 < p < 1
    assert interval[1] == pytest.approx(0, abs=1e-7)
    assert impossible_share_test([300, 400, 300], design) == 1
    assert impossible_share_test([1000, 0, 0], design) < 1e-14
