"""How far from 0 a sum of independent errors can be: two-sided geometric ones, and a normal one."""

import math

import numpy as np
import scipy
from numpy.typing import NDArray

_KEPT = 16
"""Errors whose shape is kept; a sum of more is normal but for the largest."""
_STEP = 0.2
"""Of the integral below, in units of the inverse standard deviation: the sum repeats itself after 31 of them."""


def bound_deviation(confidence: float) -> float:
    """Standard deviations that an estimate's error stays within, with at least this confidence.

    The error is a weighted sum of independent two-sided geometric noise: symmetric, with a
    log-concave tail G(t) = Pr(|error| > t), up to the step of whole numbers. Then G(t) is
    at least exp(-c t) as far as the t at which it is exp(-c t) = 1 - confidence =: m, so
    the variance is at least the integral of 2 t exp(-c t) up to there,
    2 (1 - m (1 + ln(1/m))) / c**2. Solve for t. 95 %: 2.37 (a Gaussian has 1.96).
    """
    miss = 1 - confidence
    logarithm = -math.log1p(-confidence)
    if confidence < 1e-100:
        return 1.0  # what it tends to, where squares leave the range of floats
    # Nearly nothing is left of the difference for a confidence near 0, where it tends to confidence**2 / 2.
    missing = max(1 - miss * (1 + logarithm), confidence**2 / 2)
    return logarithm / math.sqrt(2 * missing)


def laplace_scales(variances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scales of two-sided geometric noise with these variances, 1 / (2 sinh(1 / (2 scale))**2)."""
    with np.errstate(divide="ignore"):
        return np.asarray(1 / (2 * np.arcsinh(1 / np.sqrt(2 * variances))))


def compute_excess(
    distance: float,
    scales: NDArray[np.float64],
    numbers: NDArray[np.float64],
    normal_variance: float,
    confidence: float,
) -> float:
    """By how much the chance that a sum of errors stays within a distance exceeds the confidence.

    Parameters
    ----------
    distance : float
        Not negative.
    scales, numbers : ndarray, shape (errors,)
        Scales of Laplace errors, and how many there are of each.
    normal_variance : float
        Of a normal error.
    confidence : float
        In (0, 1).

    Notes
    -----
    Pr(|error| <= d) is the integral of 2 sin(d t) / (pi t) times the characteristic function,
    exp(-v t**2 / 2) / prod(1 + s**2 t**2), from 0 on: a sum over midpoints, cut where the rest
    is small beside 1 - confidence. For a confidence within 1e-9 of 1, where it would be lost in
    rounding, the sign is that of a distance beyond the log-concave reach.
    """
    spread = 2 * scales**2 * numbers
    whole = math.sqrt(normal_variance + float(spread.sum()))
    if not whole:
        return (1.0 if distance else 0.0) - confidence
    away, miss = distance / whole, 1 - confidence
    if miss < 1e-9:
        return away - bound_deviation(confidence)
    if away > 20 - math.log(miss):  # no log-concave error goes that far
        return miss
    largest = np.argsort(-(scales**2))[:_KEPT]
    normal = max(whole**2 - float(spread[largest].sum()), 0.0) / whole**2
    end = 60 * max((1e-4 / miss) ** (1 / 3), 1.0)
    if normal > (9 / end) ** 2:
        end = 9 / math.sqrt(normal)
    step = _STEP if away < 10 else _STEP / 4
    nodes = step * (np.arange(math.ceil(end / step)) + 0.5)
    logs = -normal * nodes**2 / 2
    for scale, number in zip((scales[largest] / whole).tolist(), numbers[largest].tolist(), strict=True):
        logs -= number * np.log1p((scale * nodes) ** 2)
    return float(step * 2 / math.pi * (np.sin(away * nodes) / nodes) @ np.exp(logs)) - confidence


def quantile(scales: NDArray[np.float64], numbers: NDArray[np.float64], confidence: float) -> float:
    """The distance that a sum of Laplace errors stays within, with this confidence."""
    whole = math.sqrt(float((2 * scales**2) @ numbers))
    far = bound_deviation(confidence) * whole
    if not whole or 1 - confidence < 1e-9:
        return far
    return float(
        scipy.optimize.brentq(
            lambda away: compute_excess(away, scales, numbers, 0.0, confidence), 0.0, far, xtol=1e-9 * whole
        )
    )
