"""Central noise on counts: its distribution, its privacy, what is said about it, refusals."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import dlaplace

from server.privacy.noise import (
    LARGEST,
    allocate,
    geometric,
    geometric_interval,
    geometric_mean_error,
    geometric_pmf,
    geometric_variance,
    largest_error,
)
from tests.privacy.goodness_of_fit import FALSE_ALARMS, p_value, p_value_of_two

DRAWS = 20_000
LOSSES = [(1, 1.0), (2, 0.3), (1, 3.0), (3, math.log(3))]


def noise(sensitivity: float, epsilon: float, draws: int = DRAWS) -> np.ndarray:
    return geometric(np.zeros(draws, dtype=np.int64), sensitivity, epsilon)


@pytest.mark.parametrize(("sensitivity", "epsilon"), LOSSES)
def test_noise_has_the_exact_chances(sensitivity: float, epsilon: float) -> None:
    drawn = noise(sensitivity, epsilon)
    assert p_value(drawn, lambda k: geometric_pmf(k, sensitivity, epsilon)) > FALSE_ALARMS


def test_a_sign_times_a_one_sided_geometric_is_told_apart() -> None:
    # The broken twin of methods.md section 9: zero gets double mass, and the loss is epsilon + ln 2.
    stop = 1 - math.exp(-1)
    one_sided = np.random.default_rng(1).geometric(stop, DRAWS) - 1
    signed = one_sided * np.random.default_rng(2).choice([-1, 1], DRAWS)
    assert p_value(signed, lambda k: geometric_pmf(k, 1, 1.0)) < FALSE_ALARMS
    chances = {k: stop * math.exp(-abs(k)) * (1 if k == 0 else 0.5) for k in range(-9, 10)}
    loss = max(math.log(chances[k] / chances[k + 1]) for k in range(-9, 9))
    assert loss == pytest.approx(1.6931, abs=5e-5)


@pytest.mark.parametrize(("sensitivity", "epsilon"), LOSSES)
def test_chances_and_moments_are_scipys(sensitivity: float, epsilon: float) -> None:
    oracle = dlaplace(epsilon / sensitivity)
    k = np.arange(-40, 41)
    assert geometric_pmf(k, sensitivity, epsilon) == pytest.approx(oracle.pmf(k), rel=1e-12)
    assert geometric_variance(sensitivity, epsilon) == pytest.approx(oracle.var(), rel=1e-9)
    wide = np.arange(-2000, 2001)
    mean_error = np.abs(wide) @ oracle.pmf(wide)
    assert geometric_mean_error(sensitivity, epsilon) == pytest.approx(mean_error, rel=1e-9)


def test_noise_is_that_of_opendps_own_measurement() -> None:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    theirs = dp.m.make_geometric(*space, scale=2.0)([0] * DRAWS)
    assert p_value_of_two(noise(2, 1.0), theirs) > FALSE_ALARMS
    assert p_value_of_two(noise(2.3, 1.0), theirs) < FALSE_ALARMS


@settings(deadline=None)
@given(st.integers(1, 1000), st.floats(1e-6, 50))
def test_the_loss_of_neighbouring_counts_never_exceeds_epsilon(sensitivity: int, epsilon: float) -> None:
    # Pr(k) / Pr(k + d) is at most exp(d / scale); the scale is a float, so the claim is checked exactly.
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    step = -math.log(geometric_pmf(1, sensitivity, epsilon) / geometric_pmf(0, sensitivity, epsilon))
    assert step * sensitivity == pytest.approx(epsilon, rel=1e-6)
    scale = sensitivity / epsilon
    scale = scale if Fraction(scale) * Fraction(epsilon) >= sensitivity else math.nextafter(scale, math.inf)
    assert dp.m.make_geometric(*space, scale=scale).map(sensitivity) <= epsilon * (1 + 1e-15)


def test_a_seed_set_elsewhere_changes_nothing() -> None:
    drawn = []
    for _ in range(2):
        np.random.seed(7)
        drawn.append(noise(1, 0.1, 200).tolist())
    assert drawn[0] != drawn[1]


def test_entries_keep_their_shape_and_their_places() -> None:
    counts = np.arange(12).reshape(3, 4) * 1000
    assert np.array_equal(geometric(counts, 1, 100.0), counts)
    assert geometric(7, 1, 100.0).shape == ()


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize(("sensitivity", "epsilon"), LOSSES)
def test_intervals_are_the_shortest_that_hold(sensitivity: float, epsilon: float, confidence: float) -> None:
    low, high = geometric_interval(0, sensitivity, epsilon, confidence).tolist()
    assert low == -high
    held = geometric_pmf(np.arange(low, high + 1), sensitivity, epsilon).sum()
    assert held >= confidence - 1e-12
    if high > 0:
        assert geometric_pmf(np.arange(low + 1, high), sensitivity, epsilon).sum() < confidence


def test_simultaneous_intervals_hold_all_entries_at_once() -> None:
    high = int(geometric_interval(np.zeros(100, dtype=int), 1, 1.0, simultaneous=True)[0, 1])
    held = [geometric_pmf(np.arange(-h, h + 1), 1, 1.0).sum() ** 100 for h in (high - 1, high)]
    assert held[0] < 0.95 <= held[1]


def test_the_largest_of_ten_thousand_errors_is_the_worked_one() -> None:
    # methods.md section 3, and section 9: ln(10000 / 0.5) was published as 12.2 and is 9.903.
    assert largest_error(10_000, 1.0, 0.95) == pytest.approx(12.206, abs=5e-4)
    assert math.log(10_000 / 0.5) == pytest.approx(9.903, abs=5e-4)
    assert largest_error(10_000, 1.0, 0.5) == pytest.approx(9.903, abs=5e-4)


def test_allocation_is_that_of_methods_section_3() -> None:
    assert allocate(0.5, [1, 2, 5]).scales == pytest.approx([16, 16, 16])
    given_shares = allocate(0.5, [1, 2, 5], proportions=[1, 2, 1])
    assert given_shares.epsilons == pytest.approx([0.125, 0.25, 0.125])
    assert given_shares.scales == pytest.approx([8, 8, 40])


@settings(deadline=None)
@given(st.floats(1e-6, 100), st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=20))
def test_allocated_losses_never_sum_to_more_than_the_whole(
    epsilon: float, sensitivities: list[float]
) -> None:
    for proportions in (None, sensitivities[::-1]):
        shares = allocate(epsilon, sensitivities, proportions)
        assert sum(map(Fraction, shares.epsilons.tolist())) <= Fraction(epsilon)
        assert shares.epsilons.sum() == pytest.approx(epsilon)


def test_counts_at_the_limit_are_taken_and_those_beyond_refused() -> None:
    assert abs(int(geometric(LARGEST, 1, 1.0)) - LARGEST) < 200
    assert abs(int(geometric(-LARGEST, 1, 1.0)) + LARGEST) < 200
    with pytest.raises(ValueError, match="counts must be in"):
        geometric(LARGEST + 1, 1, 1.0)
    limits = geometric_interval([2**63 - 1, -(2**63)], 1, 0.1)
    assert limits[0, 1] == 2**63 - 1
    assert limits[1, 0] == -(2**63)


@settings(deadline=None)
@given(
    st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=5),
    st.floats(1e-3, 1e3),
    st.floats(1e-6, 1e6),
    st.floats(1e-6, 1 - 1e-6),
)
def test_no_valid_input_fails(
    counts: list[int], sensitivity: float, epsilon: float, confidence: float
) -> None:
    noisy = geometric(counts, sensitivity, epsilon)
    limits = geometric_interval(noisy, sensitivity, epsilon, confidence)
    assert (limits[:, 0] <= noisy).all()
    assert (noisy <= limits[:, 1]).all()
    assert 0 <= geometric_variance(sensitivity, epsilon) < math.inf


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"counts": []}, "counts must have at least one entry"),
        ({"counts": [1.5]}, "counts must be whole numbers"),
        ({"counts": [math.nan]}, "counts must be whole numbers"),
        ({"counts": [True]}, "counts must be whole numbers"),
        ({"counts": [2**64 - 1]}, "counts must be at most"),
        *[({"sensitivity": bad}, "sensitivity must be positive") for bad in (0, -1, math.inf, math.nan)],
        *[({"epsilon": bad}, "epsilon must be positive") for bad in (0, -1, math.inf, math.nan)],
        ({"epsilon": 1e-20}, r"sensitivity / epsilon must be at most 2\*\*55"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        geometric(**{"counts": [1], "sensitivity": 1, "epsilon": 1.0, **arguments})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: geometric_interval(1, 1, 1.0, 1.0), r"confidence must be in the open interval"),
        (lambda: geometric_interval(1, 1, 1.0, math.nan), r"confidence must be in the open interval"),
        (lambda: largest_error(0, 1.0), "entries must be a whole number from 1 up; it is 0"),
        (lambda: largest_error(5, 0.0), "scale must be positive"),
        (lambda: allocate(1.0, []), "sensitivities must have at least one entry"),
        (lambda: allocate(1.0, [1, 0]), "sensitivities must be positive"),
        (
            lambda: allocate(1.0, [1, 1], [1]),
            "proportions must have one entry per sensitivity, 2; they have 1",
        ),
        (lambda: allocate(1.0, [1, 1], [1, 0]), "proportions must be positive"),
        (lambda: allocate(1.0, [[1, 1]]), "sensitivities must be one vector"),
    ],
)
def test_bad_arguments_of_what_is_said_about_noise_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
