"""Laplace noise on a grid and Gaussian noise: distribution, privacy, intervals, refusals."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import laplace as continuous_laplace
from scipy.stats import norm

from server.privacy.auditing.dealing import Path, deal_randomness
from server.privacy.noise import (
    gaussian,
    gaussian_interval,
    gaussian_pmf,
    gaussian_sigma,
    gaussian_variance,
    geometric_pmf,
    laplace,
    laplace_interval,
    laplace_pmf,
    laplace_sensitivity,
    laplace_shared,
    laplace_variance,
)
from tests.privacy.goodness_of_fit import FALSE_ALARMS, p_value, p_value_of_two

DRAWS = 20_000
CLAIMS = [(1.0, 1.0, 1e-6), (math.sqrt(2), 0.3, 1e-5), (1.0, 6.0, 1e-9), (5.0, 0.05, 0.01)]


def round_to_grid(values: Any, granularity: float | Fraction) -> list[float]:
    """What the grid makes of values: noise this small does not occur."""
    return laplace(values, 1, 1e9, granularity).tolist()


def steps_of(noisy: np.ndarray, granularity: float) -> np.ndarray:
    return np.rint(noisy / granularity).astype(int)


def test_laplace_noise_has_the_exact_chances_on_its_grid() -> None:
    noisy = laplace(np.zeros(DRAWS), 1.5, 0.7, 0.25, changed=1)
    steps = steps_of(noisy, 0.25)
    assert np.array_equal(steps * 0.25, noisy)
    assert p_value(steps, lambda k: laplace_pmf(k, 1.5, 0.7, 0.25)) > FALSE_ALARMS
    # The twin forgets that a second changed entry adds a step.
    assert p_value(steps, lambda k: laplace_pmf(k, 1.5, 0.7, 0.25, changed=2)) < FALSE_ALARMS


def test_on_a_fine_grid_it_is_the_continuous_laplace() -> None:
    assert laplace_variance(3, 0.5, 2**-12) == pytest.approx(continuous_laplace(scale=6).var(), rel=1e-3)
    limits = laplace_interval(0.0, 3, 0.5, 2**-12)
    assert limits.tolist() == pytest.approx(continuous_laplace(scale=6).interval(0.95), rel=1e-3)


@pytest.mark.parametrize("granularity", [1, 0.5, Fraction(1, 3), 3, 4])
def test_a_half_goes_up_everywhere_so_that_rounding_commutes_with_whole_steps(granularity: Any) -> None:
    values = [float(Fraction(k, 2) * Fraction(granularity)) for k in range(-6, 7)]
    exact = [math.floor(Fraction(v) / Fraction(granularity) + Fraction(1, 2)) for v in values]
    assert round_to_grid(values, granularity) == pytest.approx([k * float(granularity) for k in exact])


def test_rounding_moves_neighbours_no_further_apart_than_is_accounted_for() -> None:
    # Every pair of values on a grid of sixteenths, rounded to quarters: by distance, the most steps apart.
    values = np.arange(-32, 33) / 16
    steps = steps_of(np.array(round_to_grid(values, 0.25)), 0.25)
    worst: dict[float, int] = {}
    for (a, x), (b, y) in itertools.combinations(zip(values.tolist(), steps.tolist(), strict=True), 2):
        worst[b - a] = max(worst.get(b - a, 0), abs(x - y))
    assert all(worst[d] == laplace_sensitivity(d, 0.25) for d in worst)
    # Two entries whose changes sum to 2/16 can both jump: a step more than either could by itself.
    assert round_to_grid([1 / 16, 1 / 16], 0.25) == [0.0, 0.0]
    assert round_to_grid([2 / 16, 2 / 16], 0.25) == [0.25, 0.25]
    assert laplace_sensitivity(2 / 16, 0.25, changed=2) == 2


def test_the_low_bits_of_the_input_leave_no_trace() -> None:
    # Mironov 2012: with floating-point noise 0.1 + x and x have different sets of results.
    one, two = (set(laplace(np.full(3000, v), 1, 1.0, 2**-4, changed=1).tolist()) for v in (0.1, 0.12))
    assert one | two <= {k / 16 for k in range(-1000, 1000)}


@pytest.mark.parametrize(("sensitivity", "epsilon", "delta"), CLAIMS)
def test_sigma_solves_balle_and_wangs_equation(sensitivity: float, epsilon: float, delta: float) -> None:
    def excess(sigma: float) -> float:
        a, b = sensitivity / (2 * sigma), epsilon * sigma / sensitivity
        return float(norm.cdf(a - b) - math.exp(epsilon) * norm.cdf(-a - b) - delta)

    sigma = gaussian_sigma(sensitivity, epsilon, delta)
    assert sigma == pytest.approx(brentq(excess, sigma / 3, sigma * 3, xtol=1e-12), rel=1e-6)
    # DPpack's "probabilistic" calibration, methods.md section 3, is safe and needs more noise.
    q = norm.ppf(delta / 2)
    assert sigma < sensitivity * (math.sqrt(q**2 + 2 * epsilon) - q) / (2 * epsilon)


@pytest.mark.parametrize(("sensitivity", "epsilon", "delta"), CLAIMS)
def test_the_exact_delta_of_the_whole_numbers_drawn_meets_the_claim(
    sensitivity: float, epsilon: float, delta: float
) -> None:
    def exact_delta(factor: float) -> float:
        k = np.arange(-1500, 1501)
        shift = math.floor(sensitivity)
        chances = gaussian_pmf(k, sensitivity * factor, epsilon, delta)
        moved = gaussian_pmf(k - shift, sensitivity * factor, epsilon, delta)
        return float(np.maximum(chances - math.exp(epsilon) * moved, 0).sum())

    assert exact_delta(1) <= delta
    if sensitivity == math.floor(sensitivity):
        # The twin has a tenth less noise.
        assert exact_delta(0.9) > delta


def test_a_change_of_two_entries_by_one_meets_the_claim_too() -> None:
    k = np.arange(-40, 41)
    one, moved = (gaussian_pmf(k - d, math.sqrt(2), 1.0, 1e-4) for d in (0, 1))
    excess = np.outer(one, one) - math.e * np.outer(moved, moved)
    assert 0.9e-4 < np.maximum(excess, 0).sum() <= 1e-4


@pytest.mark.parametrize(("sensitivity", "epsilon", "delta"), CLAIMS)
def test_gaussian_noise_has_the_exact_chances(sensitivity: float, epsilon: float, delta: float) -> None:
    drawn = gaussian(np.zeros(DRAWS, dtype=int), sensitivity, epsilon, delta)
    assert p_value(drawn, lambda k: gaussian_pmf(k, sensitivity, epsilon, delta)) > FALSE_ALARMS
    assert p_value(drawn, lambda k: gaussian_pmf(k, 1.1 * sensitivity, epsilon, delta)) < FALSE_ALARMS


def test_gaussian_noise_is_the_rounded_noise_of_opendp() -> None:
    variance = gaussian_variance(1.0, 0.2, 1e-6)
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    theirs = dp.m.make_gaussian(*space, scale=math.sqrt(variance))([0] * DRAWS)
    assert p_value_of_two(gaussian(np.zeros(DRAWS, dtype=int), 1.0, 0.2, 1e-6), theirs) > FALSE_ALARMS


@pytest.mark.parametrize(("sensitivity", "epsilon", "delta"), CLAIMS)
def test_gaussian_moments_and_intervals(sensitivity: float, epsilon: float, delta: float) -> None:
    k = np.arange(-3000, 3001)
    chances = gaussian_pmf(k, sensitivity, epsilon, delta)
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    variance = gaussian_variance(sensitivity, epsilon, delta)
    assert variance == pytest.approx(float(k**2 @ chances), rel=1e-9)
    sigma = gaussian_sigma(sensitivity, epsilon, delta)
    assert variance == pytest.approx(sigma**2, rel=0.1, abs=0.09)
    edges = norm(scale=math.hypot(sigma, 3 / 255)).cdf([k - 0.5, k + 0.5])
    assert chances == pytest.approx(edges[1] - edges[0], rel=1e-3, abs=1e-9)
    for confidence in (0.3, 0.9, 0.95, 0.9999):
        high = int(gaussian_interval(0, sensitivity, epsilon, delta, confidence)[1])
        held = [chances[np.abs(k) <= h].sum() for h in (high - 1, high)]
        assert held[1] >= confidence > held[0]


def test_large_gaussians_keep_their_variance() -> None:
    assert gaussian_variance(1.0, 0.05, 1e-6) == pytest.approx(gaussian_sigma(1.0, 0.05, 1e-6) ** 2, rel=1e-4)


@settings(deadline=None)
@given(st.floats(1e-3, 1e3), st.floats(1e-6, 1e4), st.floats(1e-15, 0.999))
def test_no_valid_claim_fails(sensitivity: float, epsilon: float, delta: float) -> None:
    sigma = gaussian_sigma(sensitivity, epsilon, delta)
    assert 0 < sigma < math.inf
    assert 0 <= gaussian_variance(sensitivity, epsilon, delta) < math.inf
    assert gaussian([5, -3], sensitivity, epsilon, delta).shape == (2,)


@settings(deadline=None)
@given(
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=4),
    st.floats(1e-3, 1e3),
    st.floats(1e-3, 1e6),
    st.one_of(st.floats(1e-6, 10), st.integers(-20, 5).map(lambda e: 2.0**e)),
)
def test_no_valid_numbers_fail(
    values: list[float], sensitivity: float, epsilon: float, granularity: float
) -> None:
    noisy = laplace(values, sensitivity, epsilon, granularity)
    limits = laplace_interval(noisy, sensitivity, epsilon, granularity)
    assert np.isfinite(limits).all()
    assert (limits[:, 0] < noisy).all()
    exact = [math.floor(Fraction(v) / Fraction(granularity) + Fraction(1, 2)) for v in values]
    assert laplace(values, granularity / 1e6, 1e9, granularity, changed=1) == pytest.approx(
        np.array(exact) * granularity, rel=1e-12
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: laplace([], 1, 1.0, 1), "values must have at least one entry"),
        (lambda: laplace([math.nan], 1, 1.0, 1), "values must be finite; one is nan"),
        (lambda: laplace([math.inf], 1, 1.0, 1), "values must be finite; one is inf"),
        (lambda: laplace([1.0], 0, 1.0, 1), "sensitivity must be positive"),
        (lambda: laplace([1.0], 1, -1.0, 1), "epsilon must be positive"),
        (lambda: laplace([1.0], 1, 1.0, 0), "granularity must be positive"),
        (lambda: laplace([1e300], 1, 1.0, 1), r"values must be within 2\*\*62 steps"),
        (lambda: laplace([1.0], 1, 1.0, 1e-30), r"at most 2\*\*55 steps"),
        (
            lambda: laplace([1.0], 1, 1.0, 1, changed=0),
            r"changed must be a whole number in \[1, \d+\]; it is 0",
        ),
        (lambda: gaussian([1.5], 1.0, 1.0, 1e-6), "values must be whole numbers"),
        (lambda: gaussian([2**60], 1.0, 1.0, 1e-6), "values must be in"),
        (lambda: gaussian([1], 0.0, 1.0, 1e-6), "l2_sensitivity must be positive"),
        (lambda: gaussian([1], 1.0, math.nan, 1e-6), "epsilon must be positive"),
        (lambda: gaussian([1], 1.0, 1.0, 0.0), r"delta must be in the open interval \(0, 1\)"),
        (lambda: gaussian([1], 1e20, 1.0, 1e-6), r"at most 2\*\*46"),
        (lambda: gaussian_interval([1], 1.0, 1.0, 1e-6, 1.0), "confidence must be in the open interval"),
    ],
)
def test_bad_arguments_are_refused_by_name(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_the_chances_of_one_step_are_those_of_the_geometric() -> None:
    assert laplace_pmf([0, 1], 2, 1.0, 1).tolist() == geometric_pmf([0, 1], 2, 1.0).tolist()


@pytest.mark.parametrize(("proportions", "scales"), [(None, [16, 16, 16]), ([1, 2, 1], [8, 8, 40])])
def test_several_functions_share_a_loss(proportions: list[int] | None, scales: list[float]) -> None:
    """Methods, section 3: sum(d) / eps each, or d_i / (eps w_i / sum(w)); here in steps of a quarter."""
    path = Path(())
    with deal_randomness(path):
        laplace_shared([0.0, 1.0, 2.0], [1, 2, 5], 0.5, 0.25, proportions)
    assert [draw.values for draw in path.draws] == [(0,), (4,), (8,)]
    assert [draw.scale / 4 for draw in path.draws] == pytest.approx(scales)
    with pytest.raises(ValueError, match="sensitivities must have one entry per value"):
        laplace_shared([0.0], [1, 2], 0.5, 0.25)
