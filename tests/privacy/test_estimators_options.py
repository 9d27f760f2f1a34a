"""Shares of questions with more than two answers: unbiased, with intervals, refused when singular."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import multinomial

from server.privacy.designs import TOTAL, Design, coin_flip, custom, k_ary, ordinal
from server.privacy.estimators import INTERVALS, estimate_shares
from server.privacy.estimators.limits import wilson_limits

THREE = custom([[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]])
THREE_BY_FOUR = custom([[0.4, 0.3, 0.2, 0.1], [0.1, 0.4, 0.3, 0.2], [0.2, 0.1, 0.1, 0.6]])
TWO_BY_THREE = custom([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]])


def every_tally(n: int, reports: int) -> Iterator[NDArray[np.int64]]:
    for head in product(range(n + 1), repeat=reports - 1):
        if sum(head) <= n:
            yield np.array([*head, n - sum(head)])


@pytest.mark.parametrize(
    ("design", "n"),
    [(THREE, 7), (THREE_BY_FOUR, 6), (TWO_BY_THREE, 8), (k_ary(3, 1.0), 7), (ordinal(4, 2.0), 5)],
)
def test_shares_and_covariance_are_unbiased_over_every_possible_tally(design: Design, n: int) -> None:
    truth = np.linspace(1, 2, design.weights.shape[0])
    truth /= truth.sum()
    reported = truth @ design.matrix
    shares: NDArray[np.float64] = np.zeros(len(truth))
    second: NDArray[np.float64] = np.zeros((len(truth), len(truth)))
    covariance = second.copy()
    for counts in every_tally(n, len(reported)):
        chance = multinomial.pmf(counts, n, reported)
        estimate = estimate_shares(counts, design, interval="wald")
        assert estimate.shares.sum() == pytest.approx(1, abs=1e-12)
        shares += chance * estimate.shares
        second += chance * np.outer(estimate.shares, estimate.shares)
        covariance += chance * estimate.covariance
    assert shares == pytest.approx(truth, abs=1e-9)
    assert covariance == pytest.approx(second - np.outer(shares, shares), abs=1e-9)
    # The broken twin: dividing by n instead of n - 1 is biased, and this comparison sees it.
    assert covariance * (n - 1) / n != pytest.approx(second - np.outer(shares, shares), abs=1e-9)


def test_square_designs_are_inverted() -> None:
    counts = np.array([200, 500, 300])
    expected = np.linalg.solve(THREE.matrix.T, counts / 1000)
    assert estimate_shares(counts, THREE).shares == pytest.approx(expected, abs=1e-12)


def test_more_reports_than_truths_are_weighted_by_the_multinomial_covariance() -> None:
    # The oracle: generalised least squares with the pseudo-inverse of diag(o) - o o^T at equal shares,
    # under the constraint that the shares sum to 1, by Lagrange.
    counts = np.array([300, 250, 200, 250])
    reported = np.full(3, 1 / 3) @ THREE_BY_FOUR.matrix
    weights = np.linalg.pinv(np.diag(reported) - np.outer(reported, reported))
    design = THREE_BY_FOUR.matrix.T
    system = np.block([[design.T @ weights @ design, np.ones((3, 1))], [np.ones((1, 3)), np.zeros((1, 1))]])
    expected = np.linalg.solve(system, [*(design.T @ weights @ counts / 1000), 1])[:3]
    assert estimate_shares(counts, THREE_BY_FOUR).shares == pytest.approx(expected, abs=1e-10)


def test_weighting_beats_a_plain_pseudo_inverse() -> None:
    reported = np.full(3, 1 / 3) @ THREE_BY_FOUR.matrix
    counts = np.round(reported * 10**6).astype(int)
    plain = np.linalg.pinv(THREE_BY_FOUR.matrix.T)
    unweighted = plain @ (np.diag(reported) - np.outer(reported, reported)) @ plain.T / 10**6
    estimate = estimate_shares(counts, THREE_BY_FOUR)
    assert np.trace(estimate.covariance) < np.trace(unweighted)


def test_k_ary_shares_have_the_intervals_of_their_own_report() -> None:
    design = k_ary(4, 1.5)
    counts = [40, 30, 20, 10]
    keep, other = design.matrix[0, 0], design.matrix[0, 1]
    for count, interval in zip(counts, estimate_shares(counts, design).intervals, strict=True):
        expected = [(limit - other) / (keep - other) for limit in wilson_limits(count, 100, 0.95)]
        assert interval == pytest.approx(expected, abs=1e-8)


def test_a_report_that_nobody_can_send_changes_nothing_and_is_refused_when_counted() -> None:
    flip = coin_flip(0.25)
    wide = Design(np.insert(flip.weights, 1, 0, axis=1))
    narrow, estimate = estimate_shares([600, 400], flip), estimate_shares([600, 0, 400], wide)
    assert estimate.shares == pytest.approx(narrow.shares, abs=1e-12)
    assert estimate.intervals == pytest.approx(narrow.intervals, abs=1e-12)
    with pytest.raises(ValueError, match="no truth can send; report 1 has 3"):
        estimate_shares([600, 3, 400], wide)


@pytest.mark.parametrize(
    ("weights", "rank"),
    [
        ([[TOTAL // 2, TOTAL // 4, TOTAL // 4]] * 2 + [[TOTAL // 4, TOTAL // 4, TOTAL // 2]], 2),
        ([[TOTAL // 2, TOTAL // 2], [TOTAL // 4, TOTAL // 4 * 3], [TOTAL // 4 * 3, TOTAL // 4]], 2),
    ],
)
def test_singular_designs_are_refused(weights: list[list[int]], rank: int) -> None:
    counts = [5] * len(weights[0])
    with pytest.raises(ValueError, match=f"3 truths apart .* its rank is {rank}"):
        estimate_shares(counts, Design(weights))


def test_impossible_means_a_share_outside_0_and_1() -> None:
    truth = np.array([0.0, 0.4, 0.6])
    counts = np.round(truth @ THREE.matrix * 10**6).astype(int)
    few = np.array([50, 0, 0])
    assert not estimate_shares(counts + few, THREE).impossible
    assert estimate_shares(counts - few, THREE).impossible
    # On the limit itself: the reports are exactly those of the first row.
    edge = custom([[0.75, 0.125, 0.125], [0.125, 0.125, 0.75]])
    assert not estimate_shares([3_000_000, 500_000, 500_000], edge).impossible


@st.composite
def questions(draw: st.DrawFn) -> tuple[Design, list[int]]:
    truths = draw(st.integers(2, 5))
    reports = truths + draw(st.integers(0, 2))
    weights = draw(
        st.lists(
            st.lists(st.integers(1, 100), min_size=reports, max_size=reports),
            min_size=truths,
            max_size=truths,
        )
    )
    rows = np.array(weights) + 40 * np.eye(truths, reports, dtype=int)
    scaled = rows * TOTAL // (2 * rows.sum(axis=1, keepdims=True))
    scaled[:, 0] += TOTAL - scaled.sum(axis=1)
    counts = draw(st.lists(st.integers(0, 10**6), min_size=reports, max_size=reports).filter(any))
    return Design(scaled), counts


@given(questions(), st.floats(0.01, 0.9999), st.sampled_from(INTERVALS))
def test_no_valid_question_raises_or_gives_nan(
    question: tuple[Design, list[int]], confidence: float, interval: str
) -> None:
    design, counts = question
    if np.linalg.matrix_rank(design.matrix) < design.weights.shape[0]:
        with pytest.raises(ValueError, match="rank"):
            estimate_shares(counts, design)
        return
    estimate = estimate_shares(counts, design, confidence, interval)
    scale = 1e-9 * max(1.0, float(np.abs(estimate.intervals).max()))
    for value in (estimate.shares, estimate.standard_errors, estimate.intervals, estimate.covariance):
        assert not np.isnan(value).any()
    assert (estimate.intervals[:, 0] <= estimate.shares + scale).all()
    assert (estimate.shares <= estimate.intervals[:, 1] + scale).all()
