"""The trend over surveys: that of NumPy's weighted line, and covers as often as it says under whatever coins."""

import math

import numpy as np
import pytest

from server.privacy.designs import Design, coin_flip
from server.privacy.estimators.limits import wilson_limits
from server.privacy.estimators.trends import add_distances, add_intervals, weigh_trend


@pytest.mark.parametrize("errors", [[0.05, 0.02, 0.1], [0.03, 0.03, 0.03, 0.2], [0.1, 0.01]])
def test_the_slope_is_that_of_numpys_weighted_line(errors: list[float]) -> None:
    values = np.array([0.2, 0.35, 0.3, 0.5][: len(errors)])
    coefficients = weigh_trend(errors)
    steps = np.arange(len(errors))
    slope, _start = np.polyfit(steps, values, 1, w=1 / np.array(errors))
    assert coefficients @ values == pytest.approx(slope, rel=1e-9)
    assert coefficients.sum() == pytest.approx(0, abs=1e-12)
    # With symmetric limits the interval is the slope and its standard error, by the usual matrix.
    matrix = np.vander(steps, 2) / np.array(errors)[:, None]
    error = math.sqrt(np.linalg.inv(matrix.T @ matrix)[0, 0])
    limits = [(value - 2 * own, value + 2 * own) for value, own in zip(values.tolist(), errors, strict=True)]
    low, high = add_distances(coefficients.tolist(), values.tolist(), limits)
    assert (low, high) == (pytest.approx(slope - 2 * error), pytest.approx(slope + 2 * error))
    least, most = add_intervals(coefficients.tolist(), limits)
    assert least <= low <= high <= most


@pytest.mark.parametrize("errors", [[0.1], [0.1, 0.0], [0.1, math.inf], [0.1, math.nan]])
def test_an_estimate_without_an_error_has_no_place_on_a_line(errors: list[float]) -> None:
    with pytest.raises(ValueError, match="standard_errors must be at least two numbers above 0"):
        weigh_trend(errors)


SHARES, SIZES = (0.1, 0.3, 0.35, 0.5), (400, 250, 300, 500)
COINS = [coin_flip(gamma) for gamma in (0.25, 0.4, 0.1, 0.25)]
ROUNDS = 4_000


def cover(forgotten: int | None) -> float:
    """How often the interval holds the step that the true shares have on the line with the same weights.

    Of one survey the coins are forgotten, if any: it is as sure of its share as if the reports were true answers.
    """
    rng = np.random.default_rng(12)
    held = 0
    for _ in range(ROUNDS):
        errors, values, limits = [], [], []
        for place, (share, n, design) in enumerate(zip(SHARES, SIZES, COINS, strict=True)):
            if_no, slope = read_line(design)
            yes = int(rng.binomial(n, if_no + slope * share))
            value = (yes / n - if_no) / slope
            divisor = 1.0 if place == forgotten else slope
            low, high = wilson_limits(yes, n, 0.95)
            errors.append(math.sqrt(yes / n * (1 - yes / n) / (n - 1)) / divisor)
            values.append(value)
            limits.append((value - (yes / n - low) / divisor, value + (high - yes / n) / divisor))
        coefficients = weigh_trend(errors).tolist()
        low, high = add_distances(coefficients, values, limits)
        held += low <= float(np.dot(coefficients, SHARES)) <= high
    return held / ROUNDS


def read_line(design: Design) -> tuple[float, float]:
    """How likely a No is recorded as Yes, and how much more likely a Yes is."""
    if_no, if_yes = design.matrix[:, 1].tolist()
    return if_no, if_yes - if_no


def test_it_covers_as_often_as_it_says_under_every_surveys_own_coins() -> None:
    # Of 4,000 rounds that hold with a chance of 0.95, fewer than 3,726 do in one of a million runs.
    assert cover(None) > 0.9315


@pytest.mark.parametrize("forgotten", [0, 2, 3])
def test_an_interval_that_forgets_the_coins_of_one_survey_covers_too_seldom(forgotten: int) -> None:
    assert cover(forgotten) < 0.9315
