"""Joint tables: margins equal to the separate estimates, unbiased by enumeration, the whole product as oracle."""

import math
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import multinomial

from server.privacy.designs import TOTAL, Design, coin_flip, custom, forced_response, k_ary, ordinal
from server.privacy.estimators import INTERVALS, estimate_joint, estimate_shares

FLIP = coin_flip(0.25)
THREE_BY_FOUR = custom([[0.4, 0.3, 0.2, 0.1], [0.1, 0.4, 0.3, 0.2], [0.2, 0.1, 0.1, 0.6]])


def expect_reports(table: NDArray[np.float64], designs: list[Design]) -> NDArray[np.float64]:
    """What is reported in expectation; the product is formed, as an oracle may."""
    whole: NDArray[np.float64] = reduce(np.kron, [design.matrix for design in designs])
    return (table.ravel() @ whole).reshape([design.weights.shape[1] for design in designs])


def test_a_table_is_found_again_from_its_expected_reports() -> None:
    table = np.array([[0.6, 0.15], [0.1, 0.15]])
    counts = np.rint(expect_reports(table, [FLIP, FLIP]) * 1600).astype(int)
    assert counts.tolist() == [[630, 370], [330, 270]]
    joint = estimate_joint(counts, [FLIP, FLIP])
    assert joint.table == pytest.approx(table, abs=1e-12)
    assert joint.n == 1600
    assert not joint.impossible


@pytest.mark.parametrize(
    "designs",
    [
        [FLIP, FLIP],
        [coin_flip(0.1), coin_flip(0.4), forced_response(0.7, 0.2)],
        [k_ary(4, 1.0), FLIP],
        [THREE_BY_FOUR, ordinal(5, 2.0), FLIP],
    ],
)
def test_margins_and_covariance_equal_the_separate_estimates(designs: list[Design]) -> None:
    sent = [design.weights.shape[1] for design in designs]
    counts = np.arange(1, math.prod(sent) + 1).reshape(sent) ** 2 % 97
    joint = estimate_joint(counts, designs)
    truths = joint.table.shape
    for axis, design in enumerate(designs):
        others = tuple(other for other in range(len(designs)) if other != axis)
        alone = estimate_shares(counts.sum(axis=others), design)
        assert joint.marginals[axis] == pytest.approx(alone.shares, abs=1e-12)
        # Summing the covariance over the cells of each margin gives the separate covariance too.
        sums = np.array([np.indices(truths)[axis].ravel() == truth for truth in range(truths[axis])])
        assert sums @ joint.covariance @ sums.T == pytest.approx(alone.covariance, abs=1e-12)


@pytest.mark.parametrize(
    "designs", [[FLIP, coin_flip(0.1)], [THREE_BY_FOUR, FLIP], [FLIP, FLIP, k_ary(3, 1.0)]]
)
def test_axis_by_axis_equals_the_whole_product(designs: list[Design]) -> None:
    sent = [design.weights.shape[1] for design in designs]
    counts = (np.arange(math.prod(sent)) * 7 % 31).reshape(sent)
    whole = reduce(np.kron, [design.matrix for design in designs])
    uniform = whole.mean(axis=0)
    inverse = np.linalg.solve((whole / uniform) @ whole.T, whole / uniform)
    observed = counts.ravel() / counts.sum()
    joint = estimate_joint(counts, designs)
    spread = inverse @ (np.diag(observed) - np.outer(observed, observed)) @ inverse.T / (counts.sum() - 1)
    assert joint.table.ravel() == pytest.approx(inverse @ observed, abs=1e-10)
    assert joint.covariance == pytest.approx(spread, abs=1e-10)
    assert joint.standard_errors.ravel() == pytest.approx(np.sqrt(np.diag(spread)), abs=1e-8)


def test_tables_and_covariances_are_unbiased_over_every_possible_tally() -> None:
    designs, n = [FLIP, coin_flip(0.4)], 5
    truth = np.array([[0.5, 0.2], [0.1, 0.2]])
    chances = expect_reports(truth, designs).ravel()
    table: NDArray[np.float64] = np.zeros(4)
    second: NDArray[np.float64] = np.zeros((4, 4))
    covariance = second.copy()
    for head in product(range(n + 1), repeat=3):
        if sum(head) > n:
            continue
        counts = np.array([*head, n - sum(head)])
        joint = estimate_joint(counts.reshape(2, 2), designs, interval="wald")
        chance = multinomial.pmf(counts, n, chances)
        table += chance * joint.table.ravel()
        second += chance * np.outer(joint.table, joint.table)
        covariance += chance * joint.covariance
    assert table == pytest.approx(truth.ravel(), abs=1e-9)
    assert covariance == pytest.approx(second - np.outer(table, table), abs=1e-9)
    # The broken twin: dividing by n instead of n - 1 is biased, and this comparison sees it.
    assert covariance * (n - 1) / n != pytest.approx(second - np.outer(table, table), abs=1e-9)


def test_bytes_tuples_and_arrays_say_the_same() -> None:
    array = np.array([[5, 0, 2], [1, 7, 3]])
    designs = [FLIP, k_ary(3, 1.0)]
    by_bytes = {bytes([a, b]): int(array[a, b]) for a in range(2) for b in range(3)}
    by_tuple = {(a, b): int(array[a, b]) for a in range(2) for b in range(3) if array[a, b]}
    expected = estimate_joint(array, designs).table.tolist()
    assert estimate_joint(by_bytes, designs).table.tolist() == expected
    assert estimate_joint(by_tuple, designs).table.tolist() == expected


def test_ten_questions_at_once() -> None:
    counts = (np.arange(1024) % 13).reshape([2] * 10)
    joint = estimate_joint(counts, [coin_flip(0.4)] * 10)
    assert joint.covariance.shape == (1024, 1024)
    alone = estimate_shares(counts.sum(axis=tuple(range(1, 10))), coin_flip(0.4))
    assert joint.marginals[0] == pytest.approx(alone.shares, abs=1e-12)


@pytest.mark.parametrize("interval", INTERVALS)
def test_every_cell_has_an_interval_around_its_estimate(interval: str) -> None:
    joint = estimate_joint([[630, 370], [330, 270]], [FLIP, FLIP], interval=interval)
    assert joint.intervals.shape == (2, 2, 2)
    assert (joint.intervals[..., 0] < joint.table).all()
    assert (joint.table < joint.intervals[..., 1]).all()
    half = np.diff(joint.intervals)[..., 0] / 2
    if interval == "exact":
        assert (half > 1.96 * joint.standard_errors).all()
    else:
        assert half == pytest.approx(1.96 * joint.standard_errors, rel=0.01)


def test_a_negative_cell_is_flagged_and_not_clipped() -> None:
    joint = estimate_joint([[700, 250], [50, 0]], [FLIP, FLIP])
    assert joint.table.min() < 0
    assert joint.table.sum() == pytest.approx(1, abs=1e-12)
    assert joint.impossible


@pytest.mark.parametrize(
    ("tally", "designs", "message"),
    [
        ({}, [FLIP, FLIP], "tally must have a positive sum; it is empty"),
        ({b"\0\0": 0}, [FLIP, FLIP], "tally must have a positive sum"),
        ({b"\0\0": -1}, [FLIP, FLIP], "tally must not have negative counts"),
        ({b"\0\0": 1.5}, [FLIP, FLIP], "tally must be whole numbers"),
        ({b"\0\0": math.nan}, [FLIP, FLIP], "tally must be whole numbers"),
        ({b"\0": 1}, [FLIP, FLIP], "tally must have 2 reports in every pattern"),
        ({b"\0\2": 1}, [FLIP, FLIP], r"reports in \[0, 1\] for question 1; one is 2"),
        ({(0, -1): 1}, [FLIP, FLIP], r"reports in \[0, 1\] for question 1; one is -1"),
        ({(0, True): 1}, [FLIP, FLIP], "whole numbers as reports"),
        ({(0, 0.5): 1}, [FLIP, FLIP], "whole numbers as reports"),
        ({7: 1}, [FLIP, FLIP], "tally must have 2 reports in every pattern; one is 7"),
        (np.full((2, 2), 2**62), [FLIP, FLIP], r"sum in \[1, 2\*\*53\]"),
        ([[1, 2]], [FLIP, FLIP], r"tally must have shape \(2, 2\)"),
        ([[1, -2], [3, 4]], [FLIP, FLIP], "tally must not be negative"),
        ([1, 2], [FLIP], "designs must be two or more; there are 1"),
        ([], [], "designs must be two or more; there are 0"),
        (np.ones([2] * 11, int), [FLIP] * 11, "at most 1024 cells; they give 2048"),
        ([[1, 2], [3, 4]], [FLIP, Design([[TOTAL // 2] * 2] * 2)], "tell the two answers apart"),
    ],
)
def test_bad_tallies_and_designs_are_refused(tally: Any, designs: list[Design], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        estimate_joint(tally, designs)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"confidence": 1.0}, r"confidence must be in the open interval \(0, 1\)"),
        ({"interval": "bayes"}, "interval must be one of wilson, exact, wald"),
    ],
)
def test_bad_options_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        estimate_joint([[1, 2], [3, 4]], [FLIP, FLIP], **arguments)


@given(
    st.lists(st.integers(0, 10**6), min_size=6, max_size=6).filter(any),
    st.floats(0.001, 0.499),
    st.sampled_from(INTERVALS),
)
def test_no_valid_tally_raises_or_gives_nan(counts: list[int], gamma: float, interval: str) -> None:
    joint = estimate_joint(np.reshape(counts, (2, 3)), [coin_flip(gamma), k_ary(3, 1.0)], interval=interval)
    for value in (joint.table, joint.standard_errors, joint.intervals, joint.covariance):
        assert not np.isnan(value).any()
