"""Choosing one option: exact chances, privacy over all neighbours, utility, refusals."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.privacy.selection import choose_in_gaps, exponential_mechanism, noisy_maximum, selection_error
from server.privacy.selection._exact import happens_with_exp
from tests.privacy.goodness_of_fit import FALSE_ALARMS, p_value_of_choices

DRAWS = 8_000


def exponential_chances(utilities: list[float], rate: float) -> np.ndarray:
    weights = np.exp(rate * (np.array(utilities) - max(utilities)))
    return np.asarray(weights / weights.sum())


def permute_and_flip_chances(utilities: list[float], rate: float) -> np.ndarray:
    """By going through every order in which the options can be visited."""
    taken = np.exp(rate * (np.array(utilities) - max(utilities)))
    chances = np.zeros(len(utilities))
    for order in itertools.permutations(range(len(utilities))):
        reached = 1.0
        for option in order:
            chances[option] += reached * taken[option]
            reached *= 1 - taken[option]
    return chances / math.factorial(len(utilities))


def choices(choose: Callable[[], int], draws: int = DRAWS) -> list[int]:
    return [choose() for _ in range(draws)]


@pytest.mark.parametrize(
    "exponent", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(math.log(2))]
)
def test_coins_have_the_chance_exp_of_minus_the_exponent(exponent: Fraction) -> None:
    coins = choices(lambda: int(happens_with_exp(exponent)), 20_000)
    chance = math.exp(-exponent)
    assert p_value_of_choices(coins, [1 - chance, chance]) > FALSE_ALARMS
    # The twin has the chance of the linear approximation, or of a slightly larger exponent.
    if exponent:
        twin = math.exp(-1.2 * exponent)
        assert p_value_of_choices(coins, [1 - twin, twin]) < FALSE_ALARMS


def test_an_impossible_coin_does_not_take_long_to_say_so() -> None:
    assert not happens_with_exp(Fraction(10**18))


@pytest.mark.parametrize("monotone", [False, True])
def test_the_exponential_mechanism_has_the_exact_chances(monotone: bool) -> None:
    utilities, sensitivity, epsilon = [0.5, 3.0, 2.0, 3.25], 0.75, 1.1
    drawn = choices(lambda: exponential_mechanism(utilities, sensitivity, epsilon, monotone))
    rates = [epsilon / (2 * sensitivity), epsilon / sensitivity]
    assert p_value_of_choices(drawn, exponential_chances(utilities, rates[monotone])) > FALSE_ALARMS
    assert p_value_of_choices(drawn, exponential_chances(utilities, rates[not monotone])) < FALSE_ALARMS


@pytest.mark.parametrize("neighbours", ["unbounded", "bounded"])
def test_the_noisy_maximum_has_the_exact_chances(neighbours: str) -> None:
    counts, epsilon = [4, 6, 3, 6, 0], 0.9
    drawn = choices(lambda: noisy_maximum(counts, epsilon, neighbours))
    rate = epsilon if neighbours == "unbounded" else epsilon / 2
    assert p_value_of_choices(drawn, permute_and_flip_chances(counts, rate)) > FALSE_ALARMS
    # The twin is the exponential mechanism, which is not the same distribution; these three counts tell them apart
    # except with chance 1e-30, the five above only mostly.
    counts = [4, 6, 3]
    drawn = choices(lambda: noisy_maximum(counts, epsilon, neighbours))
    assert p_value_of_choices(drawn, permute_and_flip_chances(counts, rate)) > FALSE_ALARMS
    assert p_value_of_choices(drawn, exponential_chances(counts, rate)) < FALSE_ALARMS


def losses(chances: Callable[[list[float]], np.ndarray], moves: list[tuple[int, ...]]) -> float:
    worst = 0.0
    for counts in itertools.product(range(4), repeat=3):
        for move in moves:
            near = [c + m for c, m in zip(counts, move, strict=True)]
            if min(near) >= 0:
                ratio = np.log(chances(list(counts)) / chances(near))
                worst = max(worst, float(np.abs(ratio).max()))
    return worst


def test_every_pair_of_neighbouring_tallies_stays_within_epsilon() -> None:
    epsilon = 0.8
    added = [move for move in itertools.product((0, 1), repeat=3) if any(move)]
    replaced = [move for move in itertools.product((-1, 0, 1), repeat=3) if any(move)]
    for chances in (exponential_chances, permute_and_flip_chances):
        # Added people raise counts: rate epsilon. Replaced ones move them both ways: half of that.
        assert losses(lambda c, f=chances: f(c, epsilon), added) <= epsilon + 1e-12
        assert losses(lambda c, f=chances: f(c, epsilon / 2), replaced) <= epsilon + 1e-12
        assert losses(lambda c, f=chances: f(c, epsilon), replaced) > 1.2 * epsilon


def test_permute_and_flip_is_nowhere_worse_than_the_exponential_mechanism() -> None:
    for counts in itertools.product(range(5), repeat=4):
        utilities = list(counts)
        ours = permute_and_flip_chances(utilities, 0.7) @ counts
        assert ours >= exponential_chances(utilities, 0.7) @ counts - 1e-12


@pytest.mark.parametrize("failure", [0.5, 0.05, 0.001])
def test_the_chosen_utility_is_within_the_bound(failure: float) -> None:
    # Exact: the chance to fall short by the bound of methods.md section 3 is at most exp(-t) = failure.
    for utilities in itertools.product((0.0, 3.0, 8.0, 20.0), repeat=4):
        short = max(utilities) - selection_error(4, 1.0, 0.9, failure)
        for chances in (exponential_chances, permute_and_flip_chances):
            values = np.array(utilities)
            assert chances(list(utilities), 0.45)[values <= short].sum() <= failure + 1e-12
    assert selection_error(4, 1.0, 0.9, failure, monotone=True) == selection_error(4, 1.0, 1.8, failure)


def test_the_worked_bound() -> None:
    # (2 du / eps) (ln |R| + t) with du = 1, eps = 1, |R| = 10, t = ln 20.
    assert selection_error(10, 1.0, 1.0, 0.05) == pytest.approx(2 * (math.log(10) + math.log(20)))


@settings(deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8),
    st.floats(1e-3, 1e3),
    st.floats(1e-6, 1e3),
    st.booleans(),
)
def test_no_valid_utilities_fail(
    utilities: list[float], sensitivity: float, epsilon: float, monotone: bool
) -> None:
    assert 0 <= exponential_mechanism(utilities, sensitivity, epsilon, monotone) < len(utilities)


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**53), min_size=1, max_size=8), st.floats(1e-6, 1e3))
def test_no_valid_counts_fail(counts: list[int], epsilon: float) -> None:
    for neighbours in ("unbounded", "bounded"):
        assert 0 <= noisy_maximum(counts, epsilon, neighbours) < len(counts)


def test_many_options_are_chosen_from_without_a_table_of_orders() -> None:
    assert noisy_maximum([0] * 5000 + [10_000], 1.0) == 5000
    assert exponential_mechanism([0] * 500 + [10_000], 1.0, 1.0) == 500


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: exponential_mechanism([], 1.0, 1.0), "utilities must have at least one entry"),
        (lambda: exponential_mechanism([[1.0]], 1.0, 1.0), "utilities must be one vector"),
        (lambda: exponential_mechanism([1.0, math.nan], 1.0, 1.0), "utilities must be finite; one is nan"),
        (lambda: exponential_mechanism([1.0, -math.inf], 1.0, 1.0), "utilities must be finite"),
        (lambda: exponential_mechanism([1.0], 0.0, 1.0), "sensitivity must be positive"),
        (lambda: exponential_mechanism([1.0], 1.0, -1.0), "epsilon must be positive and finite; it is -1.0"),
        (lambda: noisy_maximum([], 1.0), "counts must"),
        (lambda: noisy_maximum([-1, 2], 1.0), r"counts must be in \[0, 9007199254740992\]; one is -1"),
        (lambda: noisy_maximum([1.5], 1.0), "counts must be whole numbers"),
        (lambda: noisy_maximum([1], math.inf), "epsilon must be positive"),
        (
            lambda: noisy_maximum([1], 1.0, "near"),
            "neighbours must be one of unbounded, bounded; it is 'near'",
        ),
        (lambda: selection_error(0, 1.0, 1.0, 0.1), "options must be a whole number from 1 up"),
        (lambda: selection_error(3, 1.0, 1.0, 0.0), "failure must be in the open interval"),
    ],
)
def test_bad_arguments_are_refused_by_name(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_options_in_gaps_have_the_exact_chances() -> None:
    """Of each gap, and of each option of the first ones. The twin forgets what the proposals overstate the last by."""
    utilities, sizes = np.array([0.0, -1.0, -14.5]), [1, 2, 2_000_000]
    drawn = [choose_in_gaps(utilities, sizes, 1.0, 2.0) for _ in range(DRAWS)]
    options = [gap + place if gap < 2 else 3 for gap, place in drawn]
    weights = np.exp(utilities) * [1, 1, 2_000_000]
    weights = weights[[0, 1, 1, 2]]
    assert p_value_of_choices(options, weights / weights.sum()) > FALSE_ALARMS
    assert all(0 <= place < sizes[gap] for gap, place in drawn)
    overstated = weights * (3 * math.e / 8) ** np.array([0, 1, 1, 14])
    assert p_value_of_choices(options, overstated / overstated.sum()) < FALSE_ALARMS


def test_a_gap_of_one_option_is_found_among_a_million_far_ones() -> None:
    """Another is chosen with a probability of 10**6 exp(-100) at most; one by one it would take 10**6 draws."""
    assert choose_in_gaps([-200, 0, -1e300], [1_000_000, 1, 1 << 40], 1.0, 1.0) == (1, 0)
    with pytest.raises(ValueError, match="two vectors of one length"):
        choose_in_gaps([1, 2], [1], 1.0, 1.0)
    with pytest.raises(ValueError, match="sizes must be in"):
        choose_in_gaps([1, 2], [1, 0], 1.0, 1.0)
