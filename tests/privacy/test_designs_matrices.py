"""Designs from matrices: rounding that adds up, joint designs, and what the labels say."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from server.privacy.designs import TOTAL, Design, coin_flip, custom, k_ary, kronecker, kuk, ordinal, unary

shapes = st.tuples(st.integers(2, 6), st.integers(2, 6))
positive_matrices = shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=st.floats(1e-12, 1)))


@given(positive_matrices)
def test_every_matrix_of_positive_probabilities_is_a_design_next_to_it(matrix: np.ndarray) -> None:
    shares = matrix / matrix.sum(axis=1, keepdims=True)
    design = custom(shares)
    assert (design.weights > 0).all()
    # Largest remainders move an entry by less than one unit; what was below one unit costs the largest entry.
    below = int((shares < 2.0**-32).sum())
    assert np.abs(design.matrix - shares).max() <= (1 + below) * 2.0**-32


@given(positive_matrices)
def test_a_design_comes_back_from_its_own_matrix(matrix: np.ndarray) -> None:
    design = custom(matrix / matrix.sum(axis=1, keepdims=True))
    assert custom(design.matrix) == design


def test_thirds_round_to_the_nearest_integers_and_the_first_takes_the_rest() -> None:
    third = TOTAL // 3
    design = custom([[Fraction(1, 3)] * 3, [1 / 3] * 3, [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]])
    assert design.weights[:2].tolist() == [[third + 1, third, third]] * 2


def test_a_report_that_nobody_sends_is_kept() -> None:
    assert custom([[0.5, 0.5, 0], [0.25, 0.75, 0]]).weights[:, 2].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.5, 0.5], [0.5, 0.6]], r"row 1 of the matrix must sum to 1 within 1e-9; it sums to 1\.1"),
        ([[0.5, 0.5], [0.5, 0.5 + 2e-9]], r"row 1 of the matrix must sum to 1 within 1e-9"),
        ([[1, 0], [0.5, 0.5]], "column 1 of the matrix must be 0 for every truth or for none"),
        ([[1.5, -0.5], [0.5, 0.5]], r"matrix must hold numbers in \[0, 1\]; one is 1.5"),
        ([[math.nan, 1], [0.5, 0.5]], r"matrix must hold numbers in \[0, 1\]; one is nan"),
        ([[math.inf, 1], [0.5, 0.5]], r"matrix must hold numbers in \[0, 1\]; one is inf"),
        ([["a", "b"], ["c", "d"]], r"matrix must hold numbers in \[0, 1\]; its type is"),
        ([[None, 1], [0.5, 0.5]], r"matrix must hold numbers in \[0, 1\]; its type is"),
        ([[0.5, 0.5], [1]], "matrix must have rows of one length"),
        ([[0.5, 0.5]], r"matrix must have at least 2 rows and 2 columns; its shape is \(1, 2\)"),
        ([[1], [1]], r"matrix must have at least 2 rows and 2 columns; its shape is \(2, 1\)"),
        ([0.5, 0.5], r"its shape is \(2,\)"),
        ([], r"its shape is \(0,\)"),
    ],
)
def test_what_is_not_a_matrix_of_probabilities_is_refused(matrix: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        custom(matrix)  # type: ignore[arg-type]


@given(st.floats(0.01, 0.49), st.integers(2, 6), st.floats(0.1, 5))
@settings(deadline=None)
def test_a_joint_design_is_the_product_with_the_second_question_varying_fastest(
    gamma: float, options: int, epsilon: float
) -> None:
    a, b = coin_flip(gamma), k_ary(options, epsilon)
    joint = kronecker(a, b)
    for x_a in range(2):
        for x_b in range(options):
            product = np.outer(a.matrix[x_a], b.matrix[x_b]).ravel()
            assert joint.matrix[x_a * options + x_b] == pytest.approx(product, abs=2.0**-32)
    smallest = joint.matrix.min()
    assert joint.epsilon == pytest.approx(a.epsilon + b.epsilon, abs=2.0**-31 / smallest)


def test_a_joint_design_of_exact_products_is_exact() -> None:
    joint = kronecker(coin_flip(0.25), coin_flip(0.25))
    assert (joint.matrix * 16).tolist() == [[9, 3, 3, 1], [3, 9, 1, 3], [3, 1, 9, 3], [1, 3, 3, 9]]
    # The exact loss is twice ln 3.
    assert joint.epsilon == math.nextafter(math.log(9), math.inf) or joint.epsilon == math.log(9)


def test_a_report_that_is_certain_survives_the_product() -> None:
    certain = Design([[TOTAL, 0], [TOTAL, 0]])
    assert kronecker(certain, certain).weights.tolist() == [[TOTAL, 0, 0, 0]] * 4


def test_a_pair_of_reports_that_is_possible_stays_possible() -> None:
    rare = kuk(2**-32, 0.5)
    joint = kronecker(rare, rare)
    assert (joint.weights > 0).all()


def test_a_joint_design_too_large_to_hold_is_refused() -> None:
    with pytest.raises(ValueError, match=r"must have at most 2\*\*20 = 1048576 entries.*make 4294967296"):
        kronecker(k_ary(256, 2.0), k_ary(256, 2.0))


def test_labels_of_designs_that_treat_options_alike_are_one_sentence() -> None:
    assert k_ary(10, 2.0).odds_label() == (
        "Of 100 people who choose an option, 45 are recorded with it, 55 with one of the other 9, "
        "equally often."
    )


def test_labels_of_other_designs_have_a_sentence_for_each_truth() -> None:
    assert ordinal(3, 2.0).odds_label() == (
        "Of 100 people who enter 1, 67 are recorded as 1, 24 are recorded as 2, 9 are recorded as 3. "
        "Of 100 people who enter 2, 21 are recorded as 1, 58 are recorded as 2, 21 are recorded as 3. "
        "Of 100 people who enter 3, 9 are recorded as 1, 24 are recorded as 2, 67 are recorded as 3."
    )
    assert unary(math.log(3)).odds_label() == (
        "Of 100 people who enter No, 25 are recorded as Yes. Of 100 who enter Yes, 50 are recorded as Yes."
    )
