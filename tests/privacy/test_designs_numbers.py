"""A number between the rows of its two ends."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.privacy.designs import TOTAL, Design, coin_flip, draw_coins, k_ary, report_between, weigh_between

EPSILONS = st.floats(0.01, 8)
PLACES = st.integers(1, 1 << 20).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of)))


@given(EPSILONS, PLACES, st.booleans())
def test_the_row_is_stochastic_rounding_followed_by_the_design(
    epsilon: float, place: tuple[int, int], unanswered: bool
) -> None:
    design = k_ary(3 if unanswered else 2, epsilon)
    steps, of = place
    row = weigh_between(design, steps, of)
    assert row.sum() == TOTAL
    up = Fraction(steps, of)
    for report, weight in enumerate(row.tolist()):
        low, high = (int(weight) for weight in design.weights[:2, report])
        mixture = (1 - up) * low + up * high
        assert abs(weight - mixture) <= len(row) - 1


@given(EPSILONS, PLACES, st.booleans())
def test_no_number_loses_more_than_the_design(
    epsilon: float, place: tuple[int, int], unanswered: bool
) -> None:
    design = k_ary(3 if unanswered else 2, epsilon)
    with_number = Design([*design.weights.tolist(), weigh_between(design, *place).tolist()])
    assert with_number.epsilon == design.epsilon


def test_the_ends_are_the_rows_themselves() -> None:
    design = k_ary(3, 1.0)
    for end in (0, 1):
        assert weigh_between(design, end * 7, 7).tolist() == design.weights[end].tolist()


def test_reports_follow_the_row_and_keep_the_mean() -> None:
    # At a false-alarm rate below 1e-8: 5.8 standard deviations of a share of 400,000.
    n, design = 400_000, coin_flip(0.25)
    reports = report_between(design, np.full(n, 3), 10, draw_coins(n))
    chance = weigh_between(design, 3, 10)[1] / TOTAL
    allowed = 5.8 * (chance * (1 - chance) / n) ** 0.5
    assert chance == pytest.approx(0.25 + 0.3 * 0.5, abs=1e-9)
    assert abs(reports.mean() - chance) < allowed
    # The twin: rounding to the nearer end first is biased.
    nearest = design.report(np.zeros(n, dtype=np.int64), draw_coins(n))
    assert abs(nearest.mean() - chance) > allowed


def test_each_person_has_their_own_number() -> None:
    coins = [1 << 31] * 4
    assert report_between(coin_flip(0.25), [0, 1, 2, 4], 4, coins).tolist() == [0, 0, 1, 1]
    assert report_between(coin_flip(0.25), np.array([], dtype=np.int64), 4, draw_coins(0)).tolist() == []


def test_numbers_off_the_grid_are_refused() -> None:
    with pytest.raises(ValueError, match=r"steps must be in \[0, 4\]; one is 5"):
        report_between(coin_flip(0.25), [5], 4, [0])
    with pytest.raises(ValueError, match=r"of must be .*1048576.*; it is 1048577"):
        weigh_between(coin_flip(0.25), 0, (1 << 20) + 1)
