"""Coefficients of estimates: applied to counts they give what the estimators give, by other code."""

from typing import Any

import numpy as np
import pytest

from server.privacy.designs import Design, coin_flip, custom, forced_response, k_ary, ordinal
from server.privacy.estimators import (
    Coefficients,
    answered_mean_coefficients,
    estimate_pooled_answered_mean,
    estimate_pooled_joint,
    estimate_pooled_mean,
    estimate_pooled_shares,
    joint_coefficients,
    mean_coefficients,
    released_ratio,
    share_coefficients,
)

WIDE = custom([[0.5, 0.3, 0.1, 0.1, 0], [0.1, 0.2, 0.3, 0.4, 0]])
"""More reports than truths, and one that nobody can send."""
PARTS: list[tuple[list[Design], list[list[int]]]] = [
    ([coin_flip(0.25)], [[600, 400]]),
    ([coin_flip(0.1), forced_response(0.7, 0.2)], [[61, 39], [270, 30]]),
    ([WIDE], [[50, 40, 30, 20, 0]]),
    ([k_ary(3, 1.0), ordinal(3, 2.0)], [[30, 40, 50], [7, 0, 9]]),
]


def apply_coefficients(found: Coefficients, cells: Any) -> np.ndarray:
    counts = np.concatenate([np.ravel(part) for part in cells])
    return np.asarray(found.numerators @ counts / (found.denominator @ counts))


@pytest.mark.parametrize(("designs", "counts"), PARTS)
def test_shares_and_means_are_those_of_the_estimators(designs: list[Design], counts: list[list[int]]) -> None:
    shares = estimate_pooled_shares(counts, designs)
    assert apply_coefficients(share_coefficients(designs), counts) == pytest.approx(shares.shares, abs=1e-12)
    mean = estimate_pooled_mean(counts, designs, -3, 40).mean
    assert apply_coefficients(mean_coefficients(designs, -3, 40), counts) == pytest.approx([mean], abs=1e-10)


def test_the_mean_of_those_who_gave_a_number_is_that_of_the_estimator() -> None:
    designs, counts = [k_ary(4, 2.0), k_ary(4, 4.0)], [[420, 330, 100, 150], [90, 200, 10, 40]]
    estimate = estimate_pooled_answered_mean(counts, designs, low=10, high=40)
    found = answered_mean_coefficients(designs, low=10, high=40)
    assert apply_coefficients(found, counts) == pytest.approx([estimate.mean], abs=1e-10)
    people = share_coefficients(designs).denominator
    both = found.denominator @ np.ravel(counts), people @ np.ravel(counts)
    assert both[0] / both[1] == pytest.approx(estimate.answered, abs=1e-12)


def test_cells_of_a_joint_table_are_those_of_the_estimator() -> None:
    designs = [[coin_flip(0.25), k_ary(3, 1.0)], [coin_flip(0.4), ordinal(3, 2.0)]]
    tallies = [np.arange(10, 16).reshape(2, 3), np.array([[5, 0, 2], [8, 1, 1]])]
    joint = estimate_pooled_joint(tallies, designs)
    assert apply_coefficients(joint_coefficients(designs), tallies).reshape(2, 3) == pytest.approx(
        joint.table, abs=1e-12
    )
    three = [[coin_flip(0.25), WIDE, coin_flip(0.1)]]
    tally = np.zeros((2, 5, 2), dtype=np.int64)
    tally[:, :4] = np.arange(16).reshape(2, 4, 2)
    table = estimate_pooled_joint([tally], three).table.ravel()
    assert apply_coefficients(joint_coefficients(three), [tally]) == pytest.approx(table, abs=1e-12)


def test_reports_that_nobody_can_send_add_nothing() -> None:
    found = share_coefficients([WIDE, coin_flip(0.25)])
    assert found.denominator.tolist() == [1, 1, 1, 1, 0, 1, 1]
    assert not found.numerators[:, 4].any()
    joint = joint_coefficients([[coin_flip(0.25), WIDE]])
    assert joint.denominator.tolist() == [1, 1, 1, 1, 0] * 2
    # Noise on such a cell does not move the estimate.
    cells = [50, 40, 30, 20, 0, 6, 4]
    moved = [50, 40, 30, 20, 77, 6, 4]
    values = [
        released_ratio(noisy, found.numerators[1], found.denominator, 1.0).value for noisy in (cells, moved)
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: share_coefficients([]), "designs must have one entry per part"),
        (lambda: share_coefficients([coin_flip(0.1), k_ary(3, 1.0)]), "same number of truths"),
        (lambda: mean_coefficients([coin_flip(0.1)], 3, 3), "low and high must be finite with low < high"),
        (lambda: answered_mean_coefficients([coin_flip(0.1)], 0, 1), r"designs\[0\] must have at least 3"),
        (lambda: joint_coefficients([]), "designs must have one entry per part"),
        (lambda: joint_coefficients([[coin_flip(0.1)]]), r"designs\[0\] must be two or more"),
        (
            lambda: joint_coefficients([[coin_flip(0.1)] * 2, [coin_flip(0.1), k_ary(3, 1.0)]]),
            "same numbers of truths in every part",
        ),
    ],
)
def test_designs_that_do_not_go_together_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
