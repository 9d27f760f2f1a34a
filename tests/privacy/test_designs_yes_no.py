"""Named yes/no designs: what their papers say, how they round, and what they refuse."""

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.privacy.designs import (
    TOTAL,
    Design,
    coin_flip,
    crosswise,
    for_epsilon,
    forced_response,
    gamma_of,
    kuk,
    unrelated_question,
    warner,
)

HALF_UNIT = Fraction(1, 2 * TOTAL)
chances = st.floats(0, 1, exclude_min=True, exclude_max=True)
epsilons = st.floats(min_value=2**-29, max_value=1e308)


def chances_of_yes(design: Design) -> tuple[Fraction, Fraction]:
    (_, if_no), (_, if_yes) = design.weights.tolist()
    return Fraction(if_yes, TOTAL), Fraction(if_no, TOTAL)


# methods.md section 1: each pair is [Pr(yes | yes), Pr(yes | no)].
@pytest.mark.parametrize(
    ("design", "if_yes", "if_no"),
    [
        (warner(0.7), Fraction(0.7), 1 - Fraction(0.7)),
        (crosswise(0.25), Fraction(1, 4), Fraction(3, 4)),
        (crosswise(Fraction(1, 12)), Fraction(1, 12), Fraction(11, 12)),
        (forced_response(0.75, 0.125), Fraction(7, 8), Fraction(1, 8)),
        (forced_response(Fraction(2, 3), Fraction(1, 6)), Fraction(5, 6), Fraction(1, 6)),
        (unrelated_question(0.7, 0.25), Fraction(0.7) + (1 - Fraction(0.7)) / 4, (1 - Fraction(0.7)) / 4),
        (kuk(0.8, 0.2), Fraction(0.8), Fraction(0.2)),
        (kuk(0.1, 0.6), Fraction(0.1), Fraction(0.6)),
    ],
)
def test_designs_have_the_chances_of_their_papers(design: Design, if_yes: Fraction, if_no: Fraction) -> None:
    yes, no = chances_of_yes(design)
    assert abs(yes - if_yes) <= 2 * HALF_UNIT
    assert abs(no - if_no) <= 2 * HALF_UNIT


def test_two_fair_coins_are_five_designs_in_one() -> None:
    same = [warner(0.75), crosswise(0.75), forced_response(0.5, 0.25), unrelated_question(0.5, 0.5)]
    assert {coin_flip(0.25), kuk(0.75, 0.25), for_epsilon(math.log(3)), *same} == {coin_flip(0.25)}


@given(st.floats(min_value=2**-31, max_value=0.5, exclude_max=True))
def test_warner_is_a_coin_flip_by_another_name(gamma: float) -> None:
    assert warner(Fraction(1, 2) + Fraction(gamma)) == coin_flip(gamma)
    mirrored = warner(Fraction(1, 2) - Fraction(gamma))
    assert np.array_equal(mirrored.weights, coin_flip(gamma).weights[::-1])


@given(chances)
def test_warner_stays_symmetric_and_never_loses_more_than_its_chance(truth: float) -> None:
    if abs(Fraction(truth) - Fraction(1, 2)) < Fraction(1, TOTAL):
        with pytest.raises(ValueError, match="away from 1/2"):
            warner(truth)
        return
    design = warner(truth)
    assert design.weights[0, 0] == design.weights[1, 1]
    yes, no = chances_of_yes(design)
    exact = Fraction(truth)
    assert max(yes / no, no / yes) <= max(exact / (1 - exact), (1 - exact) / exact)


@given(chances, chances)
def test_decks_of_cards_are_rounded_to_the_nearest_and_never_become_certain(
    if_yes: float, if_no: float
) -> None:
    if abs(Fraction(if_yes) - Fraction(if_no)) <= Fraction(1, TOTAL):
        return
    for got, asked in zip(chances_of_yes(kuk(if_yes, if_no)), (if_yes, if_no), strict=True):
        assert 0 < got < 1
        inside = Fraction(1, TOTAL) <= Fraction(asked) <= 1 - Fraction(1, TOTAL)
        assert abs(got - Fraction(asked)) <= (HALF_UNIT if inside else 2 * HALF_UNIT)


@given(st.floats(2**-31, 1, exclude_max=True), chances)
def test_dice_and_unrelated_questions_are_valid_wherever_their_ranges_say_so(
    truth: float, other: float
) -> None:
    for design in [
        unrelated_question(truth, other),
        forced_response(truth, Fraction(other) * (1 - Fraction(truth))),
    ]:
        yes, no = chances_of_yes(design)
        assert yes > no
        assert 0 < design.epsilon < 22.2


def test_epsilon_of_forced_response_is_the_worse_of_its_two_reports() -> None:
    # methods.md section 9: ln(Pr(yes|yes)/Pr(no|yes)) is the loss of symmetric designs only.
    design = forced_response(0.5, 0.125)
    assert design.epsilon == pytest.approx(math.log(5), abs=1e-15)
    assert design.epsilon != pytest.approx(math.log(0.625 / 0.375), abs=0.1)


@given(epsilons)
def test_a_coin_flip_for_epsilon_loses_at_most_that_and_one_more_coin_would_exceed_it(epsilon: float) -> None:
    design = for_epsilon(epsilon)
    assert design.epsilon <= epsilon
    truth = int(design.weights[0, 0])
    if truth < TOTAL - 1:
        with localcontext(prec=60):
            better = (Decimal(truth + 1) / Decimal(TOTAL - truth - 1)).ln()
        assert better > Decimal(epsilon)


@given(st.floats(min_value=2**-31, max_value=0.5, exclude_max=True))
def test_epsilon_and_gamma_lead_back_to_the_same_design(gamma: float) -> None:
    design = coin_flip(gamma)
    assert for_epsilon(design.epsilon) == design
    assert coin_flip(gamma_of(design.epsilon)) == design


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, math.log(3), 4.0])
def test_gamma_is_half_the_hyperbolic_tangent_of_half_of_epsilon(epsilon: float) -> None:
    # methods.md section 1: gamma = (e^eps - 1) / (2 (e^eps + 1)).
    assert gamma_of(epsilon) == pytest.approx(math.tanh(epsilon / 2) / 2, abs=2**-32)
    assert gamma_of(epsilon) <= math.tanh(epsilon / 2) / 2 + 1e-16


OUTSIDE = [0, 1, -0.1, 1.1, math.nan, math.inf, -math.inf, "0.5", None]


@pytest.mark.parametrize("value", OUTSIDE)
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("truth", warner),
        ("prevalence", crosswise),
        ("truth", lambda value: forced_response(value, 0.1)),
        ("yes", lambda value: forced_response(0.5, value)),
        ("truth", lambda value: unrelated_question(value, 0.5)),
        ("prevalence", lambda value: unrelated_question(0.5, value)),
        ("if_yes", lambda value: kuk(value, 0.5)),
        ("if_no", lambda value: kuk(0.5, value)),
    ],
)
def test_chances_outside_the_open_interval_are_refused_by_name(
    name: str, make: Callable[[Any], Design], value: object
) -> None:
    with pytest.raises(ValueError, match=rf"^{name} must be in the open interval \(0, 1\); it is "):
        make(value)


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, -math.inf, "1", None])
@pytest.mark.parametrize("make", [for_epsilon, gamma_of])
def test_an_epsilon_that_is_not_positive_is_refused(make: Callable[[Any], object], epsilon: object) -> None:
    with pytest.raises(ValueError, match=r"^epsilon must be positive and finite; it is "):
        make(epsilon)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: warner(0.5), r"truth must be in \(0, 1\) and at least 2\*\*-32 away from 1/2.*it is 0.5"),
        (lambda: crosswise(0.5), r"prevalence must be in \(0, 1\).*away from 1/2.*it is 0.5"),
        (lambda: kuk(0.3, 0.3), "if_yes and if_no must be .* differ by at least .*they are 0.3 and 0.3"),
        (
            lambda: forced_response(0.75, 0.25),
            r"yes must be in \(0, 1 - truth\).*it is 0.25 and truth is 0.75",
        ),
        (lambda: forced_response(0.75, 0.5), r"yes must be in \(0, 1 - truth\)"),
        (lambda: forced_response(2**-40, 0.5), r"truth must be in \(0, 1\) and at least 2\*\*-32"),
        (lambda: unrelated_question(2**-40, 0.5), r"truth must be in \(0, 1\) and at least 2\*\*-32"),
        (lambda: for_epsilon(2**-31), r"epsilon must be above 2\*\*-30"),
    ],
)
def test_designs_that_say_nothing_or_everything_are_refused(make: Callable[[], Design], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
