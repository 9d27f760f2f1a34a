"""Estimates from released cells: as the others without noise, and covering with it."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from server.privacy._sums import bound_deviation, compute_excess, laplace_scales, quantile
from server.privacy.designs import Design, coin_flip, k_ary, ordinal
from server.privacy.estimators import (
    ReleasedRatio,
    answered_mean_coefficients,
    estimate_answered_mean,
    estimate_mean,
    estimate_shares,
    joint_coefficients,
    mean_coefficients,
    released_ratio,
    share_coefficients,
)
from server.privacy.noise import gaussian, gaussian_variance, geometric, geometric_pmf, geometric_variance

RUNS = 300


def fewest(chance: float = 0.94, runs: int = RUNS) -> int:
    """Of so many intervals that each hold the truth with this chance, fewer do with a chance below 1e-7."""
    return int(binom.ppf(1e-7, runs, chance))


Intervals = Callable[..., ReleasedRatio]


def test_without_noise_value_and_error_are_those_of_the_estimators_and_the_interval_is_wilsons() -> None:
    for design in (coin_flip(0.25), k_ary(4, 1.5)):
        counts = [600, 400] if len(design.weights) == 2 else [300, 250, 150, 300]
        found, estimate = share_coefficients([design]), estimate_shares(counts, design)
        for truth, row in enumerate(found.numerators):
            alone = released_ratio(counts, row, found.denominator, 0.0)
            assert alone.value == pytest.approx(estimate.shares[truth], abs=1e-12)
            assert alone.standard_error == pytest.approx(estimate.standard_errors[truth], rel=1e-9)
            wide = 1 + 2 * 0.25 / (1.96 * math.sqrt(1000 * 0.2))  # a quarter of a count on either side
            width = float(np.ptp(estimate.intervals[truth]))
            assert width < np.ptp(alone.interval) < width * wide


def test_a_wider_scale_is_wilsons_score_interval_too() -> None:
    design, counts = ordinal(5, 2.0), [120, 230, 310, 240, 100]
    found = mean_coefficients([design], 1, 5)
    alone = released_ratio(counts, found.numerators[0], found.denominator, 0.0, reach=(1, 5))
    estimate = estimate_mean(counts, design, 1, 5)
    assert alone.value == pytest.approx(estimate.mean, abs=1e-12)
    assert alone.standard_error == pytest.approx(estimate.standard_error, rel=1e-9)
    assert alone.interval == pytest.approx(estimate.interval, abs=0.002)
    # Even where an end of the scale was not seen, and most are there.
    unseen = [0, 2, 3, 5, 90]
    found_interval = released_ratio(unseen, found.numerators[0], found.denominator, 0.0).interval
    assert found_interval == pytest.approx(estimate_mean(unseen, design, 1, 5).interval, abs=0.03)


def test_the_mean_of_those_who_gave_a_number_has_fiellers_interval() -> None:
    design, counts = k_ary(3, 2.0), [420, 330, 250]
    found = answered_mean_coefficients([design], 0, 40)
    alone = released_ratio(counts, found.numerators[0], found.denominator, 0.0, reach=(0, 40))
    estimate = estimate_answered_mean(counts, design, 0, 40)
    assert estimate.mean is not None
    assert alone.value == pytest.approx(estimate.mean, abs=1e-10)
    assert alone.standard_error == pytest.approx(estimate.standard_error, rel=1e-9)
    assert alone.interval == pytest.approx(estimate.interval, abs=0.06)


def truly(
    design: Design, truths: list[float], n: int, rng: np.random.Generator
) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.asarray(rng.multinomial(n, np.array(truths) @ design.matrix), dtype=np.int64)


def survey(gamma: float, share: float, n: int, epsilon: float, neighbours: str, intervals: Intervals) -> int:
    """How many of 300 surveys have intervals that hold the true share."""
    rng = np.random.default_rng([n, int(1000 * gamma), int(1000 * share), int(1000 * epsilon)])
    design = coin_flip(gamma)
    found, changes = share_coefficients([design]), 2 if neighbours == "bounded" else 1
    held = 0
    for _ in range(RUNS):
        cells = geometric(truly(design, [1 - share, share], n, rng), changes, epsilon)
        total = n if neighbours == "bounded" else None
        released = intervals(
            cells, found.numerators[1], found.denominator, geometric_variance(changes, epsilon), total=total
        )
        low, high = released.interval
        held += low <= share <= high
    return held


@pytest.mark.parametrize(
    ("gamma", "share", "n", "epsilon", "neighbours"),
    [
        (0.1, 0.0, 100, 0.05, "unbounded"),
        (0.4, 0.05, 100, 0.2, "bounded"),
        (0.25, 1.0, 100, 5.0, "unbounded"),
        (0.4, 0.5, 1000, 0.1, "unbounded"),
        (0.1, 0.3, 1000, 1.0, "bounded"),
    ],
)
def test_intervals_hold_the_true_share(
    gamma: float, share: float, n: int, epsilon: float, neighbours: str
) -> None:
    assert survey(gamma, share, n, epsilon, neighbours, released_ratio) >= fewest()


def test_intervals_without_the_noise_or_without_the_coins_do_not() -> None:
    def deaf(cells: Any, top: Any, bottom: Any, variances: float, **options: Any) -> ReleasedRatio:
        return released_ratio(cells, top, bottom, 0.0, **options)

    def estimate_unsampled(
        cells: Any, top: Any, bottom: Any, variances: float, **options: Any
    ) -> ReleasedRatio:
        return released_ratio(cells, top, bottom, variances, sampled=False, **options)

    assert survey(0.4, 0.05, 100, 0.2, "bounded", deaf) < fewest()
    assert survey(0.25, 0.3, 1000, 1.0, "unbounded", estimate_unsampled) < fewest()
    assert survey(0.25, 0.3, 1000, 1.0, "unbounded", released_ratio) >= fewest()


def test_intervals_of_other_estimates_hold_the_truth() -> None:
    epsilon = 0.3
    rng = np.random.default_rng(5)
    pair, scale, number = (coin_flip(0.25), coin_flip(0.4)), ordinal(5, 3.0), k_ary(3, 2.0)
    joint, means = joint_coefficients([pair]), mean_coefficients([scale], 0, 10)
    answered = answered_mean_coefficients([number], 0, 10)
    both = np.array([[0.5, 0.1], [0.1, 0.3]])
    reports = np.einsum("ab,ax,by->xy", both, pair[0].matrix, pair[1].matrix).ravel()
    shares, variance = [0.02, 0.08, 0.2, 0.3, 0.4], geometric_variance(1, epsilon)
    held = np.zeros(4)
    for _ in range(RUNS // 2):
        cells = geometric(rng.multinomial(400, reports), 1, epsilon)
        scaled = geometric(truly(scale, shares, 400, rng), 1, epsilon)
        numbers = geometric(truly(number, [0.3, 0.5, 0.2], 400, rng), 1, epsilon)
        for place, (noisy, found, row, truth) in enumerate(
            [
                (cells, joint, 3, 0.3),
                (cells, joint, 1, 0.1),
                (scaled, means, 0, float(np.linspace(0, 10, 5) @ shares)),
                (numbers, answered, 0, 6.25),
            ]
        ):
            low, high = released_ratio(
                noisy, found.numerators[row], found.denominator, variance, reach=(0, 10)
            ).interval
            held[place] += low <= truth <= high
    assert held.min() >= fewest(runs=RUNS // 2)


@pytest.mark.parametrize("epsilon", [0.1, 2.0])
def test_of_an_exact_table_the_interval_holds_its_own_ratio_whatever_the_noise(epsilon: float) -> None:
    rows, ones = np.eye(3), np.ones(3)
    for counts, share in (([50, 30, 20], 0.2), ([0, 100, 0], 0.0)):
        held = 0
        for _ in range(RUNS // 2):
            noisy = geometric(counts, 1, epsilon)
            low, high = released_ratio(
                noisy, rows[2], ones, geometric_variance(1, epsilon), sampled=False
            ).interval
            held += low <= share <= high
        assert held >= fewest(0.95, RUNS // 2)


def test_gaussian_noise_is_as_good() -> None:
    rng, design = np.random.default_rng(3), coin_flip(0.25)
    found, variance = share_coefficients([design]), gaussian_variance(1.0, 0.2, 1e-6)
    held = 0
    for _ in range(RUNS // 2):
        cells = gaussian(truly(design, [0.7, 0.3], 400, rng), 1.0, 0.2, 1e-6)
        low, high = released_ratio(
            cells, found.numerators[1], found.denominator, variance, noise="gaussian"
        ).interval
        held += low <= 0.3 <= high
    assert held >= fewest(runs=RUNS // 2)
    # Laplace tails are longer, from 95 % on.
    one, other = (
        np.ptp(released_ratio([700, 300], [0, 1], [1, 1], 900.0, 0.99, noise=noise).interval)
        for noise in ("gaussian", "laplace")
    )
    assert one < 0.95 * other


@pytest.mark.parametrize("epsilon", [0.02, 0.3])
def test_a_known_total_makes_intervals_narrower_and_no_wider_than_chance_needs(epsilon: float) -> None:
    # In the one regime noise is nearly all, in the other nearly nothing.
    rng, design, n = np.random.default_rng(11), coin_flip(0.25), 3000
    found, variance = share_coefficients([design]), geometric_variance(2, epsilon)
    widths, unknown = [], []
    for _ in range(60):
        cells = geometric(truly(design, [0.7, 0.3], n, rng), 2, epsilon)
        released = released_ratio(cells, found.numerators[1], found.denominator, variance, total=n)
        widths.append(np.ptp(released.interval) / 2)
        unknown.append(
            np.ptp(released_ratio(cells, found.numerators[1], found.denominator, variance).interval) / 2
        )
    # The best linear estimate when the number of people is known: half the difference of the cells. What it
    # needs is drawn from a fixed seed, noise as the difference of two geometric draws, so that no run is unlucky.
    runs, stop = 200_000, 1 - math.exp(-epsilon / 2)
    noise = rng.geometric(stop, (runs, 2)) - rng.geometric(stop, (runs, 2))
    drawn = rng.multinomial(n, np.array([0.7, 0.3]) @ design.matrix, runs) + noise
    values = (drawn[:, 1] - drawn[:, 0]) / n + 0.5
    needed = float(np.quantile(np.abs(values - 0.3), 0.95))
    assert np.mean(widths) < 1.08 * needed + 0.25 * 4 / n
    assert np.mean(widths) <= np.mean(unknown)
    assert released.value == pytest.approx((cells[1] - cells[0]) / n + 0.5, abs=1e-12)


def test_of_nobody_nothing_is_said() -> None:
    shares = share_coefficients([coin_flip(0.25)])
    top, bottom = shares.numerators[1], shares.denominator
    for cells in ([-5, 3], [0, 0]):
        assert released_ratio(cells, top, bottom, 8.0) == ReleasedRatio(None, None, (0.0, 1.0), 0.95)
    one = released_ratio([0, 1], top, bottom, 8.0, reach=(0, 1))
    assert (one.standard_error, one.interval) == (None, (0.0, 1.0))
    few = released_ratio([3, 4], top, bottom, 800.0)
    assert few.interval == (0.0, 1.0)
    assert few.value is not None
    assert few.standard_error is not None
    assert released_ratio([0, 0], top, bottom, 8.0, total=0).value is None


def test_cells_may_be_split_merged_and_reordered() -> None:
    shares = share_coefficients([k_ary(3, 1.0), k_ary(3, 2.0)])
    cells, order = np.array([30, 44, 51, 19, -2, 7]), [3, 5, 0, 1, 4, 2]
    top, bottom = shares.numerators[0], shares.denominator
    found = [
        released_ratio(cells, top, bottom, 4.0),
        released_ratio(cells[order], top[order], bottom[order], np.full(6, 4.0)),
    ]
    assert found[0].value == pytest.approx(found[1].value)
    assert found[0].interval == pytest.approx(found[1].interval, rel=1e-9)


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.integers(-50, 10**6), min_size=3, max_size=3),
    st.floats(0, 1e6),
    st.floats(1e-6, 1 - 1e-12),
    st.booleans(),
    st.sampled_from(["laplace", "gaussian"]),
    st.none() | st.integers(0, 10**6),
)
def test_no_released_cells_fail(
    cells: list[int], variance: float, confidence: float, sampled: bool, noise: str, total: int | None
) -> None:
    found = answered_mean_coefficients([k_ary(3, 1.0)], -5, 5)
    released = released_ratio(
        cells,
        found.numerators[0],
        found.denominator,
        variance,
        confidence,
        total=total,
        sampled=sampled,
        noise=noise,
        reach=(-5, 5),
    )
    low, high = released.interval
    assert low <= high
    if released.value is not None:
        assert low <= released.value <= high or (low, high) == (-5, 5)
        assert released.standard_error is None or released.standard_error >= 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"cells": [1.5, 2]}, "cells must be whole numbers"),
        ({"cells": []}, "cells must be"),
        ({"numerator": [1]}, r"numerator must have shape \(2,\), as cells; their shape is \(1,\)"),
        ({"denominator": [1, math.inf]}, "denominator must be finite"),
        ({"variances": [1, -1]}, "variances must not be negative; one is -1.0"),
        ({"confidence": 1.0}, "confidence must be in the open interval"),
        ({"total": -1}, "total must be a whole number in"),
        ({"sampled": 1}, "sampled must be True or False"),
        ({"noise": "none"}, "noise must be one of laplace, gaussian"),
        ({"reach": (1, 0)}, "reach must be two numbers"),
    ],
)
def test_bad_arguments_are_refused_by_name(changed: dict[str, Any], message: str) -> None:
    valid = {"cells": [5, 6], "numerator": [0, 1], "denominator": [1, 1], "variances": 1.0}
    released_ratio(**valid)
    with pytest.raises(ValueError, match=message):
        released_ratio(**{**valid, **changed})


def test_chances_of_sums_of_errors_are_those_of_the_noise() -> None:
    # Twenty-one noisy counts, one of them five times as heavy: the convolution of their exact chances.
    k = np.arange(-3000, 3001)
    one = geometric_pmf(k, 1, 0.05)
    heavy = np.zeros(k.size)
    heavy[(k % 5) == 0] = geometric_pmf(k[(k % 5) == 0] // 5, 1, 0.05)
    transform = np.fft.rfft(np.fft.ifftshift(heavy))
    exact = np.fft.fftshift(np.fft.irfft(transform * np.fft.rfft(np.fft.ifftshift(one)) ** 20, k.size))
    (scale,) = laplace_scales(np.array([geometric_variance(1, 0.05)]))
    assert scale == pytest.approx(20)
    weighted, numbers = np.array([5 * scale, scale]), np.array([1.0, 20.0])
    for confidence in (0.5, 0.9, 0.95, 0.999):
        half = quantile(weighted, numbers, confidence)
        assert exact[np.abs(k) <= half].sum() == pytest.approx(confidence, abs=3e-3)
        assert compute_excess(half, weighted, numbers, 0.0, confidence) == pytest.approx(0, abs=1e-6)
        assert half <= bound_deviation(confidence) * math.sqrt(2 * float(weighted**2 @ numbers))
    # The quantile of a normal sum would be too small.
    normal = 3.29 * math.sqrt(2 * float(weighted**2 @ numbers))
    assert exact[np.abs(k) <= normal].sum() < 0.9985


def test_a_normal_error_and_a_laplace_error_alone_have_their_own_quantiles() -> None:
    none = np.zeros(1)
    for confidence, z in ((0.9, 1.6448536), (0.95, 1.9599640), (0.999, 3.2905267), (0.9999999, 5.3267239)):
        assert compute_excess(2 * z, none, none, 4.0, confidence) == pytest.approx(
            0, abs=1e-3 * (1 - confidence) + 1e-8
        )
        assert quantile(np.ones(1), np.ones(1), confidence) == pytest.approx(
            -math.log(1 - confidence), rel=2e-3
        )
    # Beyond what can be summed, the reach that every such error has.
    assert quantile(np.ones(1), np.ones(1), 1 - 1e-12) == pytest.approx(
        bound_deviation(1 - 1e-12) * math.sqrt(2)
    )
