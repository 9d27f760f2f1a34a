"""Odds ratio, difference and phi of two yes/no questions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from server.privacy.designs import coin_flip, k_ary
from server.privacy.estimators import Association, estimate_joint
from server.privacy.estimators.association import associate

FLIP = coin_flip(0.25)


def of(counts: list[list[int]], gamma: float = 0.25, confidence: float = 0.95) -> Association:
    association = estimate_joint(counts, [coin_flip(gamma)] * 2, confidence, "wald").association
    assert association is not None
    return association


def test_worked_measures() -> None:
    # The table [[0.60, 0.15], [0.10, 0.15]]: 0.09 / 0.015; 0.6 - 0.2; 0.075 / sqrt(0.75 * 0.25 * 0.7 * 0.3).
    association = of([[630, 370], [330, 270]])
    assert association.odds_ratio.value == pytest.approx(6)
    assert association.difference.value == pytest.approx(0.4)
    assert association.phi.value == pytest.approx(0.075 / math.sqrt(0.039375))


def test_standard_errors_are_those_of_textbooks_when_there_are_no_coins() -> None:
    # Agresti, section 3.1: log odds ratio sqrt(sum 1/n_ij); difference of two shares, both with the total fixed.
    counts = np.array([[40, 60], [30, 170]])
    n = int(counts.sum())
    shares = counts / n
    covariance = (np.diag(shares.ravel()) - np.outer(shares, shares)) / n
    association = associate(shares, covariance, 0.95)
    odds_error = association.odds_ratio.standard_error
    assert association.odds_ratio.value is not None
    assert odds_error is not None
    log_error = math.sqrt((1 / counts).sum())
    assert odds_error / association.odds_ratio.value == pytest.approx(log_error)
    low, high = association.odds_ratio.interval
    assert (math.log(high) - math.log(low)) / 2 == pytest.approx(1.959964 * log_error)
    rows = counts.sum(axis=1)
    chances = counts[:, 1] / rows
    expected = math.sqrt((chances * (1 - chances) / rows).sum())
    assert association.difference.standard_error == pytest.approx(expected)


def numerical(measure: str, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Gradient by central differences, the oracle of the delta method."""

    def value(cells: NDArray[np.float64]) -> float:
        (a, b), (c, d) = cells.reshape(2, 2)
        if measure == "odds_ratio":
            return float(a * d / b / c)
        if measure == "difference":
            return float(d / (c + d) - b / (a + b))
        return float((a * d - b * c) / math.sqrt((a + b) * (c + d) * (a + c) * (b + d)))

    steps = 1e-6 * np.eye(4)
    cells = table.ravel()
    return np.array([(value(cells + step) - value(cells - step)) / 2e-6 for step in steps])


@pytest.mark.parametrize("measure", ["odds_ratio", "difference", "phi"])
@pytest.mark.parametrize("counts", [[[630, 370], [330, 270]], [[400, 320], [310, 600]], [[52, 40], [38, 31]]])
def test_standard_errors_are_the_delta_methods(measure: str, counts: list[list[int]]) -> None:
    joint = estimate_joint(counts, [FLIP, FLIP])
    gradient = numerical(measure, joint.table)
    expected = math.sqrt(gradient @ joint.covariance @ gradient)
    found = getattr(joint.association, measure)
    assert found.standard_error == pytest.approx(expected, rel=1e-5)
    assert found.interval[0] < found.value < found.interval[1]


def test_intervals_cover_at_their_rate() -> None:
    # 1,500 tallies at a fixed seed; each rate is within 0.95 +- 0.0281, five standard errors (1e-6), or above.
    # The broken twin: intervals of half the width are far below.
    truth = np.array([[0.5, 0.2], [0.1, 0.2]])
    chances = (np.kron(FLIP.matrix, FLIP.matrix).T @ truth.ravel()).tolist()
    draws = np.random.default_rng(20261121).multinomial(40_000, chances, size=1500)
    targets = {"odds_ratio": 5.0, "difference": 2 / 3 - 2 / 7, "phi": 0.08 / math.sqrt(0.7 * 0.3 * 0.6 * 0.4)}
    covered = dict.fromkeys(targets, 0)
    narrow = 0
    for counts in draws:
        association = of(counts.reshape(2, 2).tolist())
        for measure, target in targets.items():
            low, high = getattr(association, measure).interval
            covered[measure] += low <= target <= high
        value, error = association.difference.value, association.difference.standard_error
        assert value is not None
        assert error is not None
        narrow += abs(value - targets["difference"]) <= 0.98 * error
    assert min(covered.values()) / 1500 > 0.95 - 0.0281
    assert narrow / 1500 < 0.95 - 0.0281


def test_a_cell_that_is_not_positive_leaves_the_odds_ratio_open() -> None:
    association = of([[700, 250], [50, 0]])
    assert association.odds_ratio.value is None
    assert association.odds_ratio.standard_error is None
    assert association.odds_ratio.interval == (0, math.inf)


def test_a_share_that_is_not_positive_leaves_all_of_them_open() -> None:
    association = of([[60, 40], [0, 0]])
    assert association.difference.value is None
    assert association.difference.interval == (-1, 1)
    assert association.phi.value is None
    assert association.phi.interval == (-1, 1)


def test_larger_questions_have_no_measures() -> None:
    assert estimate_joint(np.ones((2, 3), int), [FLIP, k_ary(3, 1.0)]).association is None


@given(
    st.lists(st.integers(0, 10**6), min_size=4, max_size=4).filter(any),
    st.floats(0.001, 0.499),
    st.floats(0.001, 0.999999),
)
def test_no_measure_is_nan(counts: list[int], gamma: float, confidence: float) -> None:
    association = of(np.reshape(counts, (2, 2)).tolist(), gamma, confidence)
    for measure in (association.odds_ratio, association.difference, association.phi):
        assert measure.value is None or math.isfinite(measure.value)
        assert measure.standard_error is None or measure.standard_error >= 0
        assert measure.interval[0] <= measure.interval[1]
