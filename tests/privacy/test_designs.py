"""Designs: exact integers, an honest epsilon, and refusals that say why."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.privacy.designs import TOTAL, Design, coin_flip, draw_coins, round_up

# 2.6e-8 on each side of 1/4: where 32-bit coins still tell neighbours apart.
gammas = st.floats(min_value=2**-31, max_value=0.5, exclude_max=True)


def test_two_fair_coins_have_the_weights_of_three_and_one_quarter() -> None:
    assert coin_flip(0.25).weights.tolist() == [[3 * 2**30, 2**30], [2**30, 3 * 2**30]]


def test_two_fair_coins_lose_ln_3_to_the_last_bit() -> None:
    assert coin_flip(0.25).epsilon == math.log(3) == 1.0986122886681098


@given(gammas)
def test_rows_sum_to_two_to_the_32_and_epsilon_is_never_understated(gamma: float) -> None:
    design = coin_flip(gamma)
    assert design.weights.sum(axis=1).tolist() == [TOTAL, TOTAL]
    with localcontext() as context:
        context.prec = 60
        most, least = int(design.weights[0].max()), int(design.weights[0].min())
        exact = (Decimal(most) / Decimal(least)).ln()
        assert Decimal(design.epsilon) >= exact
        assert Decimal(math.nextafter(design.epsilon, 0)) < exact


@given(gammas)
def test_rounding_to_32_bits_never_costs_privacy(gamma: float) -> None:
    with localcontext() as context:
        context.prec = 60
        nominal = ((1 + 2 * Decimal(gamma)) / (1 - 2 * Decimal(gamma))).ln()
        assert Decimal(coin_flip(gamma).epsilon) <= nominal * (1 + Decimal(2) ** -52)


@pytest.mark.parametrize("gamma", [0, 0.5, -0.25, 0.75, math.nan, math.inf, -math.inf])
def test_gamma_outside_its_range_is_refused_with_the_range(gamma: float) -> None:
    with pytest.raises(ValueError, match=r"gamma must be in the open interval \(0, 1/2\); it is"):
        coin_flip(gamma)


def test_a_gamma_too_small_for_32_bits_is_refused() -> None:
    assert coin_flip(2**-32).weights[0, 0] == 2**31 + 1
    with pytest.raises(ValueError, match=r"at least 2\*\*-32"):
        coin_flip(2**-33)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([[TOTAL, 0], [0, TOTAL]], "report 0 must be possible for every truth or for none"),
        (
            [[TOTAL // 2, TOTAL // 2 + 1], [TOTAL // 2, TOTAL // 2]],
            r"row 0 of the weights must sum to 2\*\*32",
        ),
        ([[TOTAL + 1, -1], [1, TOTAL - 1]], "weights must be in"),
        ([[0.75, 0.25], [0.25, 0.75]], "weights must be whole numbers"),
        ([[TOTAL]], "at least 2 rows and 2 columns"),
        ([], "weights must be whole numbers"),
    ],
)
def test_what_is_not_a_design_is_refused(weights: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Design(weights)  # type: ignore[arg-type]


def test_a_report_that_nobody_sends_costs_nothing() -> None:
    half = TOTAL // 2
    assert Design([[half, half, 0], [half, half, 0]]).epsilon == 0


def test_epsilon_is_the_worst_over_reports_and_not_the_ratio_for_yes() -> None:
    # methods.md section 9: ln(Pr(yes|yes)/Pr(no|yes)) is the loss of symmetric designs only.
    forced = Design([[TOTAL - TOTAL // 8, TOTAL // 8], [TOTAL // 2, TOTAL // 2]])
    assert forced.epsilon == pytest.approx(math.log(4), abs=1e-15)


def test_epsilon_is_rounded_up_for_display() -> None:
    assert round_up(coin_flip(0.25).epsilon) == 1.0987
    assert round_up(coin_flip(0.25).epsilon, 2) == 1.10


@pytest.mark.parametrize(("prior", "expected"), [(0.1, 0.25), (0.5, 0.75), (0.0, 0.0), (1.0, 1.0)])
def test_belief_after_a_yes_under_two_fair_coins(prior: float, expected: float) -> None:
    assert coin_flip(0.25).posterior(prior) == pytest.approx(expected, abs=1e-15)


def test_beliefs_after_every_report_sum_to_one() -> None:
    beliefs = coin_flip(0.1).posterior([0.9, 0.1])
    assert np.asarray(beliefs).sum(axis=0) == pytest.approx([1, 1])


@pytest.mark.parametrize("prior", [-0.1, 1.1, math.nan, [0.5, 0.6], [0.2, 0.3, 0.5]])
def test_a_prior_that_is_not_one_is_refused(prior: object) -> None:
    with pytest.raises(ValueError, match="prior must"):
        coin_flip(0.25).posterior(prior)  # type: ignore[arg-type]


def test_odds_are_counts_of_people() -> None:
    expected = (
        "Of 100 people who enter No, 25 are recorded as Yes. Of 100 who enter Yes, 75 are recorded as Yes."
    )
    assert coin_flip(0.25).odds_label() == expected


def test_a_small_chance_is_not_shown_as_none() -> None:
    odds = coin_flip(0.499).odds
    assert (odds.people, odds.counts[0][1]) == (1000, 1)


@given(gammas)
def test_odds_add_up_and_are_the_nearest_counts(gamma: float) -> None:
    design = coin_flip(gamma)
    for counts, weights in zip(design.odds.counts, design.weights.tolist(), strict=True):
        assert sum(counts) == design.odds.people
        for count, weight in zip(counts, weights, strict=True):
            assert abs(count * TOTAL - design.odds.people * weight) <= TOTAL // 2


def test_reports_out_of_range_truths_and_coins_are_refused() -> None:
    design = coin_flip(0.25)
    with pytest.raises(ValueError, match=r"truths must be in \[0, 1\]; one is 2"):
        design.report([2], [0])
    with pytest.raises(ValueError, match=r"coins must be in \[0, 4294967295\]; one is 4294967296"):
        design.report([0], [2**32])
    with pytest.raises(ValueError, match="two vectors of one length"):
        design.report([0, 1], [0])


def test_coins_come_from_the_whole_range() -> None:
    coins = draw_coins(100_000)
    assert coins.dtype == np.uint32
    # Each of 256 cells holds 390.6 on average; the chance that any is under 250 or over 550 is below 1e-9.
    cells = np.bincount(coins >> 24, minlength=256)
    assert 250 < cells.min() <= cells.max() < 550


def test_designs_with_the_same_weights_are_the_same() -> None:
    assert coin_flip(0.25) == coin_flip(0.25) != coin_flip(0.26)
    assert len({coin_flip(0.25), coin_flip(0.25)}) == 1
    with pytest.raises(ValueError, match="read-only"):
        coin_flip(0.25).weights[0, 0] = 1
