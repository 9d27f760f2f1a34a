"""Designs thrown by hand: the shares of a plan are those of the design, and no more throws than three."""

import math
from fractions import Fraction

import pytest

from server.privacy.designs import (
    TOTAL,
    Design,
    Throws,
    coin_flip,
    forced_response,
    k_ary,
    kuk,
    ordinal,
    plan_throws,
    round_up,
    unary,
    warner,
)
from server.privacy.designs.throws import FACES

SLIDER = [Fraction(place, 100) for place in range(1, 50)]
"""What the editor's slider sets gamma to."""


def shares_of(throws: Throws) -> list[list[Fraction]]:
    """The matrix that a plan throws, all outcomes counted."""
    outcomes = FACES[throws.device] ** throws.times
    assert throws.own + sum(throws.chance) == outcomes
    options = range(len(throws.chance))
    return [[Fraction(throws.chance[y] + throws.own * (x == y), outcomes) for y in options] for x in options]


@pytest.mark.parametrize("gamma", SLIDER, ids=str)
def test_every_place_of_the_slider_can_be_thrown_exactly(gamma: Fraction) -> None:
    design = coin_flip(float(gamma))
    throws = plan_throws(design)
    assert throws is not None
    truth = Fraction(1, 2) + gamma
    assert shares_of(throws) == [[truth, 1 - truth], [1 - truth, truth]]
    # What is thrown loses no more than is stated of the design.
    assert math.log(truth / (1 - truth)) <= round_up(design.epsilon)


def test_of_three_answers_few_places_of_the_slider_can_be_thrown() -> None:
    """The guide and the chapter on paper say how many."""
    thrown = [gamma for gamma in SLIDER if plan_throws(k_ary(3, coin_flip(float(gamma)).epsilon)) is not None]
    assert (len(thrown), len(SLIDER)) == (5, 49)
    assert Fraction(1, 4) in thrown


@pytest.mark.parametrize("eighths", [5, 6, 7])
def test_what_coins_throw_is_the_published_weight(eighths: int) -> None:
    throws = plan_throws(warner(eighths / 8))
    assert throws is not None
    assert throws.device == "coin"
    assert shares_of(throws) == [
        [Fraction(w, TOTAL) for w in row] for row in warner(eighths / 8).weights.tolist()
    ]


@pytest.mark.parametrize(
    ("design", "device", "times"),
    [
        (coin_flip(0.25), "coin", 2),
        (coin_flip(0.125), "coin", 3),
        (k_ary(4, coin_flip(0.25).epsilon), "die", 1),
        (forced_response(Fraction(27, 36), Fraction(6, 36)), "die", 2),
        (coin_flip(0.2), "disc", 1),
        (coin_flip(0.01), "disc", 2),
        (coin_flip(0.001), "disc", 3),
        (k_ary(3, coin_flip(0.25).epsilon), "disc", 1),
    ],
)
def test_the_fewest_throws_are_planned(design: Design, device: str, times: int) -> None:
    throws = plan_throws(design)
    assert throws is not None
    assert (throws.device, throws.times) == (device, times)


@pytest.mark.parametrize(
    "design",
    [
        coin_flip(0.0005),  # needs four spins
        coin_flip(0.2 + 2**-30),  # four weights beside the share that a spin has
        warner(0.25),  # the opposite is likelier than the answer
        kuk(0.3, 0.8),
        k_ary(3, 1.5),
        unary(1.0, optimised=True),
        ordinal(3, 1.0),
    ],
)
def test_what_cannot_be_thrown_has_no_plan(design: Design) -> None:
    assert plan_throws(design) is None


def test_what_is_no_design_is_refused() -> None:
    with pytest.raises(ValueError, match="design must be a Design"):
        plan_throws([[0.75, 0.25], [0.25, 0.75]])  # type: ignore[arg-type]
