"""Selections by estimates: what one person can change, and whether the mechanisms keep their loss with it."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from server.privacy.designs import coin_flip, custom, forced_response, k_ary, ordinal
from server.privacy.estimators import Coefficients, share_coefficients
from server.privacy.selection import (
    WholeWeights,
    estimate_utilities,
    excess_weights,
    exponential_mechanism,
    sparse_vector,
)

UNEVEN = custom([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.3, 0.2, 0.5]])
DESIGNS = {
    "3 of 3": share_coefficients([k_ary(3, 1.0)]),
    "scale": share_coefficients([ordinal(4, 2.0)]),
    "uneven": share_coefficients([UNEVEN]),
    "two versions": share_coefficients([k_ary(3, 1.0), UNEVEN]),
    "exact": Coefficients(np.eye(3), np.ones(3)),
}


def changes(cells: int, neighbours: str) -> list[np.ndarray]:
    """Every change of counts between neighbours, one way; a replaced person may also leave for elsewhere."""
    rows = list(np.eye(cells, dtype=np.int64))
    if neighbours == "unbounded":
        return rows
    return rows + [one - other for one, other in itertools.permutations(rows, 2)]


def loss(weights: WholeWeights, epsilon: float, neighbours: str) -> float:
    """The largest loss of the exponential mechanism over many data and all their neighbours, from its chances."""
    rng = np.random.default_rng(0)
    cells = weights.weights.shape[1]
    rate, worst = epsilon / (2 * weights.sensitivity), 0.0
    # Data where one option is far ahead are the worst: the normaliser then moves with it.
    ahead = [10**5 * row for row in np.eye(cells, dtype=np.int64)]
    for counts in [*rng.integers(0, 30, (20, cells)), *ahead]:
        for change in changes(cells, neighbours):
            both = [rate * (weights.weights @ data).astype(float) for data in (counts, counts + change)]
            logs = [u - u.max() - math.log(np.exp(u - u.max()).sum()) for u in both]
            worst = max(worst, float(np.abs(logs[0] - logs[1]).max()))
    return worst


@pytest.mark.parametrize("neighbours", ["unbounded", "bounded"])
@pytest.mark.parametrize("name", DESIGNS)
def test_the_choice_of_the_most_common_answer_loses_what_it_says(name: str, neighbours: str) -> None:
    weights = estimate_utilities(DESIGNS[name].numerators, neighbours)
    # Attained: no smaller sensitivity would do, and the twin with nine tenths of it loses more.
    assert 0.95 < loss(weights, 1.0, neighbours) <= 1 + 1e-9
    twin = WholeWeights(weights.weights, 0.9 * weights.sensitivity, weights.unit)
    assert loss(twin, 1.0, neighbours) > 1


def test_for_exact_counts_they_are_those_of_a_noisy_maximum() -> None:
    for neighbours, people in (("unbounded", 0.5), ("bounded", 1.0)):
        weights = estimate_utilities(np.eye(4), neighbours)
        assert weights.sensitivity * weights.unit == people


def test_the_chosen_answer_is_the_one_that_is_estimated_to_be_the_most_common() -> None:
    # Reports are the most frequent where chance favours them, not where the answers are.
    design = custom([[0.4, 0.5, 0.1], [0.1, 0.8, 0.1], [0.1, 0.6, 0.3]])
    truths = np.array([0.5, 0.2, 0.3])
    counts = np.rint(10**6 * truths @ design.matrix).astype(np.int64)
    weights = estimate_utilities(share_coefficients([design]).numerators)
    utilities = weights.weights @ counts
    assert counts.argmax() == 1
    assert exponential_mechanism(utilities, weights.sensitivity, 1.0) == 0
    people = (utilities - utilities[0]) * weights.unit
    assert people == pytest.approx(10**6 * (truths - truths[0]), rel=1e-4)


@pytest.mark.parametrize("neighbours", ["unbounded", "bounded"])
@pytest.mark.parametrize("name", DESIGNS)
def test_no_person_changes_a_comparison_with_a_share_by_more_than_the_sensitivity(
    name: str, neighbours: str
) -> None:
    found = DESIGNS[name]
    for row, share in itertools.product(found.numerators, (0.001, 0.3, 0.999)):
        query = excess_weights(row, found.denominator, share, neighbours)
        moved = [abs(int(query.weights @ change)) for change in changes(len(row), neighbours)]
        assert query.sensitivity == 1 << 20
        assert (1 << 20) - 4 <= max(moved) <= 1 << 20
        exact = row - share * found.denominator
        assert query.weights * query.unit == pytest.approx(exact, abs=2e-6 * np.abs(exact).max())


def test_questions_under_different_designs_are_asked_together() -> None:
    designs = [coin_flip(0.25), forced_response(0.7, 0.2), coin_flip(0.1), coin_flip(0.4)]
    shares, n = [0.1, 0.5, 0.05, 0.4], 400_000
    answers = []
    for design, share in zip(designs, shares, strict=True):
        found = share_coefficients([design])
        query = excess_weights(found.numerators[1], found.denominator, 0.3)
        counts = np.rint(n * np.array([1 - share, share]) @ design.matrix).astype(np.int64)
        answers.append(float(query.weights @ counts))
        assert query.weights @ counts * query.unit == pytest.approx(n * (share - 0.3), abs=2)
    found_above = sparse_vector(answers, 0, 1 << 20, positives=4, epsilon=1.0)
    assert found_above.above.tolist() == [False, True, False, True]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: estimate_utilities([[1, 2]]), "numerators must have a row for each option"),
        (lambda: estimate_utilities([[1, 2], [1, 2]]), "numerators must tell options apart"),
        (lambda: estimate_utilities(np.eye(2), "near"), "neighbours must be one of"),
        (lambda: excess_weights([0, 1], [1], 0.5), "numerator and denominator must be two vectors"),
        (lambda: excess_weights([0.5, 0.5], [1, 1], 0.5), "numerator must differ from share"),
        (lambda: excess_weights([0, 1], [1, 1], 1.0), "share must be in the open interval"),
    ],
)
def test_bad_arguments_are_refused_by_name(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
