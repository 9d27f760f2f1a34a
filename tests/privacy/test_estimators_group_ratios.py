"""The ratio of two groups' shares: agrees with the interval of the difference, and covers as often as it says."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from server.privacy.designs import coin_flip
from server.privacy.estimators.group_ratios import divide_estimates, divide_intervals
from server.privacy.estimators.parts import checked_parts
from server.privacy.estimators.pooled_shares import pooled_shares_of

reach = st.floats(0.001, 0.4)


@settings(max_examples=400, deadline=None, derandomize=True, database=None)
@given(st.floats(0.01, 1), reach, reach, st.floats(0.01, 1), reach, reach)
def test_a_ratio_of_one_is_left_out_where_a_difference_of_nought_is(
    first: float, below: float, above: float, second: float, under: float, over: float
) -> None:
    low, high = divide_estimates(
        first, (first - below, first + above), second, (second - under, second + over)
    )
    least = first - second - math.hypot(below, over)
    most = first - second + math.hypot(above, under)
    if abs(least) > 1e-9:
        assert (low > 1) == (least > 0)
    if abs(most) > 1e-9:
        assert (high < 1) == (most < 0)
    assert math.isinf(high) == (second <= under)
    # The ends solve Newcombe's equation of first - r second.
    if low > 0:
        assert first - low * second == pytest.approx(math.hypot(below, low * over), abs=1e-9)
    if not math.isinf(high):
        assert high * second - first == pytest.approx(math.hypot(above, high * under), abs=1e-9)


def cover(shares: tuple[float, float], sizes: tuple[int, int], shrink: float) -> float:
    """How likely the interval holds the true ratio, all reports that matter enumerated; `shrink` makes it narrower."""
    design, groups = coin_flip(0.25), []
    for share, n in zip(shares, sizes, strict=True):
        rate = 0.25 + 0.5 * share
        least, most = stats.binom.ppf([1e-5, 1 - 1e-5], n, rate).astype(int).tolist()
        own = []
        for yes in range(least, most + 1):
            parts = checked_parts(np.array([[n - yes, yes]]), (design,), None)
            found = pooled_shares_of(parts, 0.95, "wilson")
            value = float(found.shares[1])
            low, high = (value + shrink * (end - value) for end in found.intervals[1].tolist())
            own.append((float(stats.binom.pmf(yes, n, rate)), value, (low, high)))
        groups.append(own)
    true, held = shares[0] / shares[1], 0.0
    for (chance, first, limits), (other, second, beside) in product(*groups):
        low, high = divide_estimates(first, limits, second, beside)
        held += chance * other * (low <= true <= high)
    return held


@pytest.mark.parametrize(
    ("shares", "sizes"), [((0.6, 0.3), (400, 300)), ((0.3, 0.3), (150, 150)), ((0.4, 0.05), (200, 500))]
)
def test_it_covers_as_often_as_it_says_and_half_as_wide_it_would_not(
    shares: tuple[float, float], sizes: tuple[int, int]
) -> None:
    assert cover(shares, sizes, 1.0) > 0.945
    assert cover(shares, sizes, 0.5) < 0.9


def test_intervals_that_hold_apart_divide_into_one_that_holds() -> None:
    assert divide_intervals((0.2, 0.4), (0.1, 0.5)) == pytest.approx((0.4, 4.0))
    assert divide_intervals((-0.1, 0.4), (0.0, 0.5)) == (0.0, math.inf)
    assert divide_intervals((0.1, 0.4), (-0.3, -0.1)) == (0.0, math.inf)
