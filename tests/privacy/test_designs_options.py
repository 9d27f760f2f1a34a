"""Designs for a choice among options: exact losses, the better mechanism, and refusals."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.privacy.designs import (
    TOTAL,
    Design,
    best_choice,
    for_epsilon,
    k_ary,
    one_hot_epsilon,
    ordinal,
    unary,
)

options = st.integers(2, 256)
epsilons = st.floats(1e-4, 40)


def exponential_mechanism(points: int, t: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    places = np.arange(points)
    likelihood = np.exp(-t * abs(places[:, None] - places))
    return np.asarray(likelihood / likelihood.sum(axis=1, keepdims=True))


@given(options, epsilons)
@settings(max_examples=50, deadline=None)
def test_k_ary_response_loses_at_most_epsilon_and_keeps_as_often_as_that_allows(
    k: int, epsilon: float
) -> None:
    design = k_ary(k, epsilon)
    assert design.epsilon <= epsilon
    keep, lie = int(design.weights[0, 0]), int(design.weights[0, 1])
    keeps = np.eye(k, dtype=bool)
    assert (design.weights[keeps] == keep).all()
    assert (design.weights[~keeps] == lie).all()
    if lie > 1:  # a lie that is one coin rarer would lose more
        assert math.log((keep + k - 1) / (lie - 1)) > epsilon * (1 - 1e-12)


@pytest.mark.parametrize(("k", "epsilon"), [(2, 1.0), (5, 1.0), (10, 3.0), (256, 2.0)])
def test_k_ary_response_keeps_with_the_chance_of_the_textbook(k: int, epsilon: float) -> None:
    # methods.md section 1: keep = e^eps / (e^eps + k - 1).
    keep = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
    assert k_ary(k, epsilon).matrix[0, 0] == pytest.approx(keep, abs=k * 2**-32)


@given(st.floats(1e-8, 60))
def test_a_unary_answer_loses_at_most_epsilon_in_its_two_boxes(epsilon: float) -> None:
    for optimised in (True, False):
        design = unary(epsilon, optimised)
        (empty_no, empty_yes), (ticked_no, ticked_yes) = design.weights.tolist()
        pair = Fraction(ticked_yes, empty_yes) * Fraction(empty_no, ticked_no)
        assert one_hot_epsilon(design) <= epsilon
        assert one_hot_epsilon(design) == pytest.approx(math.log(pair), abs=1e-14)
        assert design.epsilon <= one_hot_epsilon(design)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_unary_encodings_have_the_chances_of_their_papers(epsilon: float) -> None:
    # Wang et al. 2017: OUE has p = 1/2, q = 1 / (e^eps + 1); SUE p = e^(eps/2) / (e^(eps/2) + 1), q = 1 - p.
    optimised, symmetric = unary(epsilon), unary(epsilon, optimised=False)
    assert optimised.weights[1].tolist() == [TOTAL // 2, TOTAL // 2]
    assert optimised.matrix[0, 1] == pytest.approx(1 / (math.exp(epsilon) + 1), abs=2**-32)
    p = math.exp(epsilon / 2) / (math.exp(epsilon / 2) + 1)
    assert symmetric.matrix == pytest.approx(np.array([[p, 1 - p], [1 - p, p]]), abs=2**-32)
    assert symmetric.epsilon == pytest.approx(epsilon / 2, abs=1e-8)
    assert optimised.epsilon == pytest.approx(math.log((math.exp(epsilon) + 1) / 2), abs=1e-8)


@given(options, st.floats(0.1, 8))
@settings(max_examples=100, deadline=None)
def test_the_best_choice_has_the_smaller_variance_and_the_textbooks_two_variances(
    k: int, epsilon: float
) -> None:
    choice = best_choice(k, epsilon)
    e = math.exp(epsilon)
    assert choice.k_ary_variance == pytest.approx((e + k - 2) / (e - 1) ** 2, rel=1e-3)
    assert choice.unary_variance == pytest.approx(4 * e / (e - 1) ** 2, rel=1e-3)
    smaller = {"k_ary": choice.k_ary_variance, "unary": choice.unary_variance}
    assert smaller[choice.mechanism] <= min(smaller.values()) * (1 + 1e-3)
    assert (choice.mechanism == "k_ary") == (k < 3 * e + 2)
    assert choice.design == (k_ary(k, epsilon) if choice.mechanism == "k_ary" else unary(epsilon))


def test_the_best_choice_says_why() -> None:
    assert best_choice(10, 1.0).reason == (
        "10 options are fewer than 3 e^epsilon + 2 = 10.15, so k-ary response has the smaller variance."
    )
    assert best_choice(11, 1.0).reason.startswith("11 options are not fewer than")


def test_variance_of_a_rare_option_is_what_enumeration_gives() -> None:
    # Two reports of people who did not choose the option, all four outcomes, against k_ary_variance / n.
    choice = best_choice(5, 1.0)
    chance, slope = choice.design.matrix[1, 0], choice.design.matrix[0, 0] - choice.design.matrix[1, 0]
    estimates = [((a + b) / 2 - chance) / slope for a in (0, 1) for b in (0, 1)]
    weights = [(chance if a else 1 - chance) * (chance if b else 1 - chance) for a in (0, 1) for b in (0, 1)]
    assert np.dot(weights, estimates) == pytest.approx(0, abs=1e-12)
    assert np.dot(weights, np.square(estimates)) == pytest.approx(choice.k_ary_variance / 2, rel=1e-12)


@given(options, st.floats(1e-7, 60))
@settings(max_examples=60, deadline=None)
def test_a_scale_loses_at_most_epsilon_and_reads_the_same_from_both_ends(k: int, epsilon: float) -> None:
    if epsilon < k**3 / 2**31:
        with pytest.raises(ValueError, match=r"epsilon must be at least .* points apart; it is"):
            ordinal(k, epsilon)
        return
    design = ordinal(k, epsilon)
    assert design.epsilon <= epsilon
    if k > 2 and epsilon <= 10:
        assert design.epsilon >= epsilon - 1.001 * k * 2.0**-32 - 1e-14
    assert np.array_equal(design.weights, design.weights[::-1, ::-1])


@pytest.mark.parametrize(("k", "epsilon"), [(3, 2.0), (5, 1.0), (7, 4.0), (11, 3.0), (100, 2.0)])
def test_a_scale_is_the_exponential_mechanism_in_the_distance(k: int, epsilon: float) -> None:
    matrix = exponential_mechanism(k, epsilon / (k - 1))
    assert ordinal(k, epsilon).matrix == pytest.approx(matrix, abs=k * 2.0**-32 + 1e-7)
    # t is as large as the loss allows: the ratios of the float matrix reach epsilon and no more.
    assert np.log(matrix.max(axis=0) / matrix.min(axis=0)).max() == pytest.approx(epsilon, abs=1e-12)
    # The broken twin: the general theorem's exp(-t |x - y|), t = eps / (2 (k - 1)), wastes half of epsilon.
    wasteful = exponential_mechanism(k, epsilon / (2 * (k - 1)))
    assert np.log(wasteful.max(axis=0) / wasteful.min(axis=0)).max() == pytest.approx(epsilon / 2, abs=1e-12)


def test_a_scale_of_two_points_is_a_coin_flip() -> None:
    assert ordinal(2, 1.0) == for_epsilon(1.0) == k_ary(2, 1.0)


@pytest.mark.parametrize("value", [1, 0, -3, 257, 2.0, True, math.nan, "3", None])
@pytest.mark.parametrize("make", [k_ary, best_choice, ordinal])
def test_a_number_of_options_out_of_range_is_refused(make: Callable[..., object], value: object) -> None:
    with pytest.raises(ValueError, match=r"^options must be a whole number in \[2, 256\]; it is "):
        make(value, 1.0)


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, -math.inf, "1", None])
@pytest.mark.parametrize(
    "make",
    [
        lambda e: k_ary(3, e),
        lambda e: best_choice(3, e),
        lambda e: ordinal(3, e),
        unary,
        lambda e: unary(e, False),
    ],
)
def test_an_epsilon_that_is_not_positive_is_refused(make: Callable[[Any], object], epsilon: object) -> None:
    with pytest.raises(ValueError, match=r"^epsilon must be positive and finite; it is "):
        make(epsilon)


@pytest.mark.parametrize("k", [2, 3, 10, 255, 256])
def test_the_least_epsilon_that_is_named_works_and_less_does_not(k: int) -> None:
    with pytest.raises(ValueError, match=r"epsilon must be at least .* for 32-bit coins") as refusal:
        k_ary(k, 1e-12)
    least = float(str(refusal.value).split()[5])
    k_ary(k, least * 1.01)
    with pytest.raises(ValueError, match="32-bit coins"):
        k_ary(k, least * 0.98)


@pytest.mark.parametrize(("optimised", "least"), [(True, 2**-30), (False, 2**-29)])
def test_a_unary_epsilon_too_small_for_32_bits_is_refused(optimised: bool, least: float) -> None:
    with pytest.raises(ValueError, match="epsilon must be above"):
        unary(least, optimised)
    assert unary(least * 1.001, optimised).epsilon > 0


def test_the_loss_of_boxes_needs_a_design_of_one_box() -> None:
    with pytest.raises(ValueError, match="design must have 2 rows"):
        one_hot_epsilon(Design(k_ary(3, 1.0).weights))
