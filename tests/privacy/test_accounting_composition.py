"""Composition at a failure probability: against dp-accounting, enumeration, and itself."""

import math
from itertools import product

import numpy as np
import pytest
from dp_accounting.pld.privacy_loss_distribution import from_randomized_response
from hypothesis import given, settings
from hypothesis import strategies as st

from server.privacy.accounting import advanced, best_composition, optimal
from server.privacy.auditing import exact_loss

LN3 = math.log(3)


def pld(noise: float, k: int, delta: float, grid: float, *, pessimistic: bool) -> float:
    """dp-accounting's figure for k binary responses that are random with chance `noise`."""
    single = from_randomized_response(
        noise, 2, pessimistic_estimate=pessimistic, value_discretization_interval=grid
    )
    return float(single.self_compose(k).get_epsilon_for_delta(delta))


@pytest.mark.parametrize(
    ("k", "delta"), [(1, 1e-6), (2, 0.1), (10, 1e-3), (100, 1e-6), (100, 1e-10), (200, 1e-5)]
)
def test_the_optimum_lies_between_the_bounds_of_privacy_loss_distributions(k: int, delta: float) -> None:
    # dp-accounting rounds losses to a grid, up or down; the truth is between.
    low, high = (pld(0.5, k, delta, 1e-4, pessimistic=side) for side in (False, True))
    assert low - 1e-6 <= optimal(LN3, k, delta).epsilon <= high + 1e-6
    assert high - low < 2e-4 * k + 1e-6


def test_one_hundred_fair_coin_flips_lose_94_3() -> None:
    # ../shared/design.md section 4; the sum is 109.9.
    assert optimal(LN3, 100, 1e-6).epsilon == pytest.approx(94.3, abs=0.05)


@pytest.mark.parametrize("losses", [[1.0] * 6, [0.3, 0.5, 1.1, 1.1, 2.0], [0.01, 3.0]])
@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.2])
def test_the_optimum_is_that_of_every_sequence_of_reports(losses: list[float], delta: float) -> None:
    # Every sequence of truths and lies, with its probability under either answer.
    first, second = [], []
    for truths in product([True, False], repeat=len(losses)):
        chances = [
            1 / (1 + math.exp(-loss if truth else loss)) for truth, loss in zip(truths, losses, strict=True)
        ]
        first.append(math.prod(chances))
        second.append(math.prod(1 - chance for chance in chances))
    best = best_composition(losses, delta=delta)
    assert best.candidates["optimal"] == pytest.approx(exact_loss(first, second, delta=delta), abs=1e-9)
    mass = np.maximum(np.array(first) - math.exp(best.candidates["optimal"]) * np.array(second), 0).sum()
    assert mass <= delta * (1 + 1e-9)
    if best.candidates["optimal"] > 0:
        assert mass == pytest.approx(delta, rel=1e-6)


def test_a_round_repeated_is_its_losses_repeated() -> None:
    assert best_composition([0.5, 1.0], 4, 1e-4).epsilon == pytest.approx(
        best_composition([0.5, 1.0] * 4, 1, 1e-4).epsilon, abs=1e-12
    )


@pytest.mark.parametrize(
    ("epsilon", "k", "delta", "method"),
    [(1.0, 1, 0.0, "basic"), (1.0, 50, 0.0, "basic"), (0.1, 100, 1e-6, "optimal")],
)
def test_the_best_bound_is_named(epsilon: float, k: int, delta: float, method: str) -> None:
    best = best_composition(epsilon, k, delta)
    assert best.method == method
    assert best.epsilon == best.candidates[method] == min(best.candidates.values())


def test_bounds_without_the_optimum_are_still_compared() -> None:
    # Twenty-two different losses have 2**22 sums: too many to enumerate.
    losses = [0.1 + 0.001 * index for index in range(22)]
    best = best_composition(losses, 1, 1e-6)
    assert "optimal" not in best.candidates
    assert best.method == min(best.candidates, key=lambda name: best.candidates[name])
    million = best_composition(0.001, 10**7, 1e-6)
    assert million.method == "zcdp"
    assert million.epsilon < advanced(0.001, 10**7, 1e-6).epsilon


def test_zcdp_is_the_best_order_of_renyi_divergence() -> None:
    # Canonne, Kamath and Steinke (2020), proposition 7, on a fine grid of orders.
    rho, delta = 100 * 0.1**2 / 2, 1e-6
    orders = 1 + np.exp(np.linspace(-8, 8, 2_000_001))
    bounds = rho * orders + (math.log(1 / delta) - np.log(orders)) / (orders - 1) + np.log1p(-1 / orders)
    assert best_composition(0.1, 100, delta).candidates["zcdp"] == pytest.approx(bounds.min(), abs=1e-6)


@settings(max_examples=60)
@given(st.floats(1e-6, 50), st.integers(1, 3000), st.floats(1e-200, 0.9))
def test_the_optimum_is_never_above_another_bound(epsilon: float, k: int, delta: float) -> None:
    best = best_composition(epsilon, k, delta)
    assert best.epsilon >= 0
    for bound in best.candidates.values():
        assert best.candidates["optimal"] <= bound * (1 + 1e-9)


@settings(max_examples=60)
@given(st.floats(1e-3, 5), st.integers(1, 200), st.floats(1e-12, 0.4))
def test_more_releases_and_less_failure_cost_more(epsilon: float, k: int, delta: float) -> None:
    once = optimal(epsilon, k, delta).epsilon
    assert once <= optimal(epsilon, k + 1, delta).epsilon + 1e-9
    assert once <= optimal(epsilon, k, delta / 2).epsilon + 1e-9
    assert once <= optimal(epsilon * 1.01, k, delta).epsilon + 1e-9


def test_a_composition_that_forgets_the_repetitions_is_seen() -> None:
    # The known defect of dp-accounting 0.6's compose(RandomizedResponseDpEvent, n), as a broken twin.
    assert optimal(LN3, 1, 1e-6).epsilon < pld(0.5, 100, 1e-6, 1e-4, pessimistic=False) / 80
