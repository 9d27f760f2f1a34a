"""Composition at a failure probability: against dp-accounting, enumeration, and itself."""

import math
from decimal import Decimal, localcontext
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.privacy.accounting import advanced, best_composition, optimal
from server.privacy.accounting.distribution import randomised_response, smallest_epsilon
from server.privacy.accounting.gridded_losses import convolve_responses
from server.privacy.auditing import exact_loss

LN3 = math.log(3)


def pld(noise: float, k: int, delta: float, grid: float, *, pessimistic: bool) -> float:
    """dp-accounting's figure for k binary responses that are random with chance `noise`."""
    # Here, as it takes long to import: every process that runs tests imports this file, and one of them runs it.
    from dp_accounting.pld.privacy_loss_distribution import from_randomized_response

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
    best = best_composition(0.001, 10**7, 1e-6)
    assert "optimal" not in best.candidates
    assert best.method == "zcdp"
    assert best.epsilon < advanced(0.001, 10**7, 1e-6).epsilon


TENTHS = [tenths / 10 for tenths in range(1, 31)]
"""Thirty different losses: listing all their totals would take 2**30 and more."""


def compose_tenths(k: int, delta: float) -> float:
    """What all of `TENTHS` lose k times: all totals are tenths, and their chances sums of 50 digits."""
    with localcontext(prec=50):
        chances = [Decimal(1)]
        for tenths in [round(10 * loss) for loss in TENTHS] * k:
            truth = 1 / (1 + (-Decimal(tenths) / 10).exp())
            after = [Decimal(0)] * (len(chances) + 2 * tenths)
            for place, chance in enumerate(chances):
                after[place] += chance * (1 - truth)
                after[place + 2 * tenths] += chance * truth
            chances = after
        above, below, total = Decimal(0), Decimal(0), (len(chances) - 1) // 2
        for chance in reversed(chances):
            # A - e^eps B is reached above the next smaller total, or not.
            above, below, total = above + chance, below + chance * (-Decimal(total) / 10).exp(), total - 1
            if above > delta and (found := ((above - Decimal(delta)) / below).ln()) >= Decimal(total) / 10:
                return float(found)
    return 0.0


@pytest.mark.parametrize(("k", "delta"), [(1, 1e-6), (4, 1e-6), (3, 0.1), (2, 1e-12)])
def test_many_different_losses_are_bounded_from_above_and_closely(k: int, delta: float) -> None:
    exact = compose_tenths(k, delta)
    bound = best_composition(TENTHS, k, delta).candidates["optimal"]
    assert exact * (1 - 1e-13) <= bound <= exact * (1 + 1e-4)


def test_a_grid_that_rounds_to_the_nearest_point_is_seen() -> None:
    # The broken twin: what is nearest may be less. Here each loss lies just below the middle between two points.
    step, k = 0.1, 40
    atoms = randomised_response([step * 1.49] * k)
    assert atoms is not None
    nearest = smallest_epsilon(np.round(atoms[0] / k / step) * k * step, atoms[1], 1e-6)
    assert nearest < 0.95 * optimal(step * 1.49, k, 1e-6).epsilon


def test_losses_too_small_for_a_grid_are_added_up() -> None:
    assert (
        "optimal" not in best_composition([1e-300 * (1 + index) for index in range(22)], 1, 1e-6).candidates
    )


def test_thirty_losses_a_hundred_times() -> None:
    # dp-accounting 0.6 finds 3,647 (privacy loss distributions, rounded upwards); the sum is 4,650.
    assert 3_640 < best_composition(TENTHS, 100, 1e-6).epsilon < 3_647


@settings(max_examples=25)
@given(st.lists(st.floats(1e-4, 20), min_size=1, max_size=6), st.integers(1, 4), st.floats(1e-9, 0.5))
def test_the_grid_is_never_below_what_it_approximates(losses: list[float], k: int, delta: float) -> None:
    exact, gridded = randomised_response(losses * k), convolve_responses(losses * k, delta)
    assert exact is not None
    assert gridded is not None
    low, high = smallest_epsilon(*exact, delta), smallest_epsilon(*gridded, delta)
    assert low <= high * (1 + 1e-10) + 1e-10
    assert high <= low + 1e-3 * sum(losses) * k


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
