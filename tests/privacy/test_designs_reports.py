"""Reports drawn from designs: the rule of the browser, every kind of array, and refusals."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from server.privacy.designs import (
    TOTAL,
    Design,
    coin_flip,
    custom,
    draw_coins,
    forced_response,
    k_ary,
    kronecker,
    kuk,
    ordinal,
    unary,
)

UNSENT = TOTAL // 4
DESIGNS = [
    coin_flip(0.25),
    forced_response(0.5, 0.1),
    kuk(0.2, 0.9),
    unary(1.0),
    k_ary(5, 1.0),
    ordinal(4, 2.0),
    custom([[0.25, 0.25, 0.5], [0.5, 0.25, 0.25]]),
    Design([[TOTAL, 0], [TOTAL, 0]]),
    Design([[0, TOTAL], [0, TOTAL]]),
    Design([[0, UNSENT, TOTAL - UNSENT, 0], [0, TOTAL - UNSENT, UNSENT, 0]]),
]


def first_row(value: object) -> str | None:
    return f"{value.weights[0].tolist()}" if isinstance(value, Design) else None


def by_the_rule(design: Design, truth: int, coin: int) -> int:
    """The first report whose cumulated weight exceeds the coin, in Python's integers."""
    cumulated = 0
    for report, weight in enumerate(design.weights[truth].tolist()):
        cumulated += weight
        if coin < cumulated:
            return report
    raise AssertionError("a coin is below 2**32")


def edges(design: Design) -> list[int]:
    thresholds = design.weights.cumsum(axis=1).ravel().tolist()
    near = {threshold + step for threshold in thresholds for step in (-1, 0, 1)}
    return sorted(coin for coin in near | {0, TOTAL - 1} if 0 <= coin < TOTAL)


@pytest.mark.parametrize("design", DESIGNS, ids=first_row)
@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.int64, np.uint64])
def test_reports_follow_the_rule_on_both_sides_of_every_threshold(
    design: Design, kind: type[np.integer]
) -> None:
    pairs = [(truth, coin) for truth in range(len(design.weights)) for coin in edges(design)]
    truths, coins = (np.array(values) for values in zip(*pairs, strict=True))
    expected = [by_the_rule(design, truth, coin) for truth, coin in pairs]
    for drawn in (coins.astype(np.uint32), coins.astype(np.int64), coins.astype(np.uint64)):
        reports = design.report(truths.astype(kind), drawn)
        assert reports.dtype == np.uint8
        assert reports.tolist() == expected
    assert design.report(truths.tolist(), coins.tolist()).tolist() == expected


@given(st.sampled_from(DESIGNS), st.data())
def test_reports_follow_the_rule_for_any_coin(design: Design, data: st.DataObject) -> None:
    truth = data.draw(st.integers(0, len(design.weights) - 1))
    coin = data.draw(st.integers(0, TOTAL - 1))
    assert design.report([truth], [coin]).tolist() == [by_the_rule(design, truth, coin)]


def goodness_of_fit(design: Design, weights: np.ndarray) -> float:
    """Smallest p value over the truths, of 200,000 reports each against these weights."""
    n = 200_000
    p_values = []
    for truth, row in enumerate(weights):
        reports = design.report(np.full(n, truth), draw_coins(n))
        observed = np.bincount(reports, minlength=len(row))
        p_values.append(chisquare(observed, n * row / TOTAL).pvalue)
    return float(min(p_values))


@pytest.mark.parametrize(
    "design",
    [coin_flip(0.25), kuk(0.2, 0.9), k_ary(5, 1.0), ordinal(4, 2.0)],
    ids=lambda design: f"{design.weights.tolist()[0]}",
)
def test_reports_come_with_the_chances_of_the_design(design: Design) -> None:
    # False alarms: 1e-6 over all truths. The broken twin moves 2 % of the coins and is caught.
    threshold = 1e-6 / len(design.weights)
    assert goodness_of_fit(design, design.weights) > threshold
    broken = design.weights.copy()
    broken[:, 0] += TOTAL // 50
    broken[:, -1] -= TOTAL // 50
    assert goodness_of_fit(design, broken) < threshold


def test_no_people_send_no_reports() -> None:
    nobody = np.array([], dtype=np.int64)
    assert coin_flip(0.25).report(nobody, draw_coins(0)).tolist() == []
    assert k_ary(3, 1.0).report(nobody, draw_coins(0)).tolist() == []


def test_the_arguments_are_left_as_they_are() -> None:
    truths, coins = np.array([0, 1, 1], dtype=np.uint8), draw_coins(3)
    before = coins.copy()
    coin_flip(0.25).report(truths, coins)
    assert truths.tolist() == [0, 1, 1]
    assert np.array_equal(coins, before)


@pytest.mark.parametrize("design", [coin_flip(0.25), k_ary(3, 1.0)], ids=["yes_no", "k_ary"])
@pytest.mark.parametrize(
    ("truths", "coins", "message"),
    [
        ([3], [0], r"truths must be in \[0, [12]\]; one is 3"),
        (np.array([0, 255], dtype=np.uint8), [0, 0], r"truths must be in \[0, [12]\]; one is 255"),
        ([-1], [0], "truths must be in .* one is -1"),
        ([0], [-1], r"coins must be in \[0, 4294967295\]; one is -1"),
        ([0], [TOTAL], r"coins must be in \[0, 4294967295\]; one is 4294967296"),
        ([0.0], [0], "truths must be whole numbers"),
        ([True], [0], "truths must be whole numbers"),
        ([0], [0.5], "coins must be whole numbers"),
        ([0], [float("nan")], "coins must be whole numbers"),
        ([0, 1], [0], "two vectors of one length"),
        ([[0]], [[0]], "two vectors of one length"),
        (0, 0, "two vectors of one length"),
        ([[0], [0, 1]], [0], "truths must have rows of one length"),
    ],
)
def test_truths_and_coins_out_of_range_are_refused(
    design: Design, truths: Any, coins: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        design.report(truths, coins)


def test_a_report_must_fit_one_byte() -> None:
    wide = kronecker(k_ary(20, 2.0), k_ary(20, 2.0))
    with pytest.raises(ValueError, match="at most 256 reports; it has 400"):
        wide.report([0], [0])
    widest = kronecker(k_ary(16, 2.0), k_ary(16, 2.0))
    assert widest.report([0, 255], [TOTAL - 1, 0]).tolist() == [255, 0]


@pytest.mark.parametrize("n", [-1, 1.5, float("nan"), None, True, 2**28 + 1, 2**63])
def test_a_number_of_coins_that_is_none_is_refused(n: Any) -> None:
    with pytest.raises(ValueError, match=r"n must be a whole number in \[0, 268435456\]; it is"):
        draw_coins(n)
