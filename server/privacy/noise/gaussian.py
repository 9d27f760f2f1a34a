"""Gaussian noise on whole numbers, for (epsilon, delta).

The standard deviation is the analytic one of Balle and Wang (2018), which belongs to the
continuous Gaussian. The discrete Gaussian on the integers can lose slightly more than its
continuous namesake, so the noise is drawn on a grid 255 times finer and rounded to whole
numbers afterwards, which is post-processing. On the fine grid the two are tied by an
argument that needs no approximation:

- continuous noise of variance s**2 satisfies the claim for every shift of L2 length up to
  the sensitivity, in any number of entries;
- rounding its result at random to the grid, by a discrete Gaussian of t = 3 steps about
  it, is post-processing, commutes with shifts by whole steps, and gives the discrete
  Gaussian of variance s**2 + t**2 up to a factor 1 +- 1e-76 in every probability
  (Poisson summation: the sums of a Gaussian over shifted grids differ by 4 exp(-2 pi**2 t**2));
- the calibration leaves room for that factor in 2**32 entries.

The price is a variance of (3 / 255)**2 for the grid and 1 / 12 for the rounding.
"""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import positive, probability, whole_numbers
from server.privacy.noise._opendp import (
    LARGEST,
    LARGEST_SCALE,
    add_discrete_gaussian,
    limit_around,
    values_to_perturb,
)

_STEPS = 255  # odd, so that the fine values that round to one integer lie symmetrically about it
_SMOOTHING = 3.0
_ROOM = 1e-12  # relative; far above the error of log_ndtr and of the tie between the two Gaussians


def gaussian(values: ArrayLike, l2_sensitivity: float, epsilon: float, delta: float) -> NDArray[np.int64]:
    """Add Gaussian noise to whole numbers.

    Parameters
    ----------
    values : array_like of int, any shape
        Each in [-2**53, 2**53].
    l2_sensitivity : float
        The most by which one person changes the whole array: the root of the summed
        squares. A histogram: 1 under unbounded neighbours, sqrt(2) under bounded ones.
    epsilon : float
        Privacy loss of the whole array in nats, above 0. Not limited to 1.
    delta : float
        In (0, 1); well below one over the number of people.

    Returns
    -------
    ndarray of int64, the shape of `values`

    Raises
    ------
    ValueError
        If an argument is out of its range, or the standard deviation is above 2**46.

    References
    ----------
    Balle, B. and Wang, Y.-X. (2018). Improving the Gaussian mechanism for differential
    privacy: analytical calibration and optimal denoising. *ICML*.
    Canonne, Kamath and Steinke (2020).

    Examples
    --------
    >>> gaussian([120, 80], l2_sensitivity=1.0, epsilon=1.0, delta=1e-6).shape
    (2,)
    """
    fine = _fine_sigma(gaussian_sigma(l2_sensitivity, epsilon, delta))
    counts = values_to_perturb("values", values, largest=1 << 53)
    noisy = add_discrete_gaussian(counts * _STEPS, fine)
    return np.asarray((np.minimum(noisy, LARGEST) + _STEPS // 2) // _STEPS)


def gaussian_sigma(l2_sensitivity: float, epsilon: float, delta: float) -> float:
    """The smallest standard deviation for which continuous Gaussian noise is (epsilon, delta)-private.

    Solves Phi(d / 2s - epsilon s / d) - e**epsilon Phi(-d / 2s - epsilon s / d) <= delta for
    s, by bisection from the safe side.

    Raises
    ------
    ValueError
        As `gaussian`.

    Examples
    --------
    >>> round(gaussian_sigma(1.0, 1.0, 1e-6), 4)
    4.2247
    """
    return _sigma(
        positive("l2_sensitivity", l2_sensitivity),
        positive("epsilon", epsilon),
        probability("delta", delta, open_interval=True),
    )


@lru_cache(maxsize=256)
def _sigma(sensitivity: float, epsilon: float, delta: float) -> float:
    low, high = 0.0, 1.0
    while not _private(high, epsilon, delta):
        low, high = high, 2 * high
        if high * sensitivity > 2.0**47:
            break
    while (middle := (low + high) / 2) not in (low, high) and high - low > 1e-13 * high:
        low, high = (low, middle) if _private(middle, epsilon, delta) else (middle, high)
    sigma = high * sensitivity * (1 + _ROOM)
    if not sigma <= LARGEST_SCALE / 2**9:
        raise ValueError(
            "l2_sensitivity, epsilon and delta must need a standard deviation of at most 2**46; "
            f"for {sensitivity!r}, {epsilon!r} and {delta!r} it is larger"
        )
    return sigma


def gaussian_variance(l2_sensitivity: float, epsilon: float, delta: float) -> float:
    """Variance of the noise that `gaussian` adds to one entry, grid and rounding included.

    Examples
    --------
    >>> round(gaussian_variance(1.0, 1.0, 1e-6), 4)
    17.9314
    """
    fine = _fine_sigma(gaussian_sigma(l2_sensitivity, epsilon, delta))
    if fine > 50 * _STEPS:
        # Sheppard's correction; its error is exp(-2 pi**2 50**2) here.
        return (fine / _STEPS) ** 2 + (1 - 1 / _STEPS**2) / 12
    noise = np.arange(-2000, 2001)
    return float(noise.astype(np.float64) ** 2 @ gaussian_pmf(noise, l2_sensitivity, epsilon, delta))


def gaussian_pmf(
    noise: ArrayLike, l2_sensitivity: float, epsilon: float, delta: float
) -> NDArray[np.float64]:
    """Chance of each amount of noise: the 255 chances on the fine grid that round to it, summed.

    Examples
    --------
    >>> gaussian_pmf([0, 1], 1.0, 1.0, 1e-6).round(6).tolist()
    [0.094211, 0.09162]
    """
    fine = _fine_sigma(gaussian_sigma(l2_sensitivity, epsilon, delta))
    whole = whole_numbers("noise", noise).astype(np.float64)[..., None] * _STEPS
    grid = (whole + np.arange(-(_STEPS // 2), _STEPS // 2 + 1)) / fine
    # The chances on the whole grid sum to 1: fine * sqrt(2 pi) is their sum up to exp(-2 pi**2 fine**2).
    return np.asarray(np.exp(-(grid**2) / 2).sum(axis=-1) / (fine * math.sqrt(2 * math.pi)))


def gaussian_interval(
    noisy: ArrayLike, l2_sensitivity: float, epsilon: float, delta: float, confidence: float = 0.95
) -> NDArray[np.int64]:
    """Limits for the numbers before noise, with at least this confidence each.

    Parameters
    ----------
    noisy : array_like of int, any shape
        What `gaussian` returned.
    l2_sensitivity, epsilon, delta : float
        As given to `gaussian`.
    confidence : float
        In (0, 1).

    Returns
    -------
    ndarray of int64, shape (..., 2)

    Raises
    ------
    ValueError
        As `gaussian`, or if the confidence is outside (0, 1).

    Examples
    --------
    >>> gaussian_interval(100, 1.0, 1.0, 1e-6).tolist()
    [92, 108]
    """
    probability("confidence", confidence, open_interval=True)
    fine = _fine_sigma(gaussian_sigma(l2_sensitivity, epsilon, delta))
    centre = whole_numbers("noisy", noisy)
    # Where a density is convex its sum over a grid is below the integral from half a step earlier; the
    # tails of a Gaussian are, and nearer to the centre the two differ by less than the margin taken.
    reach = -float(scipy.special.ndtri((1 - confidence) / 2)) * fine * (1 + 1e-6)
    half = max(math.ceil((reach - _STEPS / 2) / _STEPS), 0)
    return limit_around(centre, half)


def _private(sigma: float, epsilon: float, delta: float) -> bool:
    """Whether noise of `sigma` per unit of sensitivity meets the claim with a little to spare."""
    first = math.exp(scipy.special.log_ndtr(1 / (2 * sigma) - epsilon * sigma))
    log_second = epsilon + float(scipy.special.log_ndtr(-1 / (2 * sigma) - epsilon * sigma))
    # The two nearly cancel for small losses; what cancelling can cost is added, never taken off.
    return first - math.exp(min(log_second, 0.0)) + 2 * _ROOM * first <= delta * (1 - _ROOM)


def _fine_sigma(sigma: float) -> float:
    """Standard deviation on the fine grid, in its steps, rounded up."""
    square = Fraction(sigma) ** 2 * _STEPS**2 + Fraction(_SMOOTHING) ** 2
    return math.nextafter(math.sqrt(square), math.inf)
