"""Two-sided geometric noise, the default for counts.

Pr(k) = (1 - a) / (1 + a) * a**|k| with a = exp(-epsilon / sensitivity). It is the discrete
Laplace distribution; it is not a random sign times a one-sided geometric, whose double
mass at zero loses epsilon + ln 2.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import flag, probability, whole_numbers
from server.privacy.noise._opendp import (
    add_discrete_laplace,
    exact,
    limit_around,
    scale_of,
    values_to_perturb,
)


def geometric(
    counts: ArrayLike, sensitivity: float | Fraction, epsilon: float | Fraction
) -> NDArray[np.int64]:
    """Add two-sided geometric noise to whole numbers.

    Parameters
    ----------
    counts : array_like of int, any shape
        Each in [-2**62, 2**62]. Negative ones are taken: differences are counts too.
    sensitivity : float
        The most by which one person changes the *whole array*, summed over its entries
        (L1). A histogram: 1 under unbounded neighbours, 2 under bounded ones.
    epsilon : float
        Privacy loss of the whole array, in nats.

    Returns
    -------
    ndarray of int64, the shape of `counts`
        Unbiased, and possibly negative.

    Raises
    ------
    ValueError
        If the counts are not whole numbers, empty or out of range, if sensitivity or
        epsilon is not positive and finite, or if their ratio is above 2**55.

    Notes
    -----
    The scale sensitivity / epsilon is rounded up to a float, so the loss is never above
    epsilon. Drawing time depends on the noise drawn; do not let others time a release.

    References
    ----------
    Ghosh, Roughgarden and Sundararajan (2009); sampler of Canonne, Kamath and Steinke (2020).

    Examples
    --------
    >>> geometric([[7, 9], [11, 0]], sensitivity=1, epsilon=1.0).shape
    (2, 2)
    >>> geometric([120, 80], sensitivity=1, epsilon=1000.0).tolist()
    [120, 80]
    """
    scale = _scale(sensitivity, epsilon)
    return add_discrete_laplace(values_to_perturb("counts", counts), scale)


def geometric_variance(sensitivity: float | Fraction, epsilon: float | Fraction) -> float:
    """Variance of the noise in one entry: 2 a / (1 - a)**2 with a = exp(-epsilon / sensitivity).

    Raises
    ------
    ValueError
        As `geometric`.

    Examples
    --------
    >>> round(geometric_variance(1, 1.0), 6)
    1.841347
    """
    step = 1 / _scale(sensitivity, epsilon)
    return 2 * math.exp(-step) / math.expm1(-step) ** 2


def geometric_mean_error(sensitivity: float | Fraction, epsilon: float | Fraction) -> float:
    """Expected absolute noise in one entry: 2 a / (1 - a**2) with a = exp(-epsilon / sensitivity).

    Examples
    --------
    >>> round(geometric_mean_error(1, 1.0), 6)
    0.850918
    """
    step = 1 / _scale(sensitivity, epsilon)
    return -2 * math.exp(-step) / math.expm1(-2 * step)


def geometric_pmf(
    noise: ArrayLike, sensitivity: float | Fraction, epsilon: float | Fraction
) -> NDArray[np.float64]:
    """Chance of each amount of noise, (1 - a) / (1 + a) * a**|k|.

    Examples
    --------
    >>> geometric_pmf([0, 1], 1, 1.0).round(6).tolist()
    [0.462117, 0.170003]
    """
    step = 1 / _scale(sensitivity, epsilon)
    magnitude = np.abs(whole_numbers("noise", noise).astype(np.float64))
    with np.errstate(over="ignore"):  # far more steps than a float can count have no chance at all
        return np.asarray(math.tanh(step / 2) * np.exp(-magnitude * step))


def geometric_interval(
    noisy: ArrayLike,
    sensitivity: float | Fraction,
    epsilon: float | Fraction,
    confidence: float = 0.95,
    *,
    simultaneous: bool = False,
) -> NDArray[np.int64]:
    """Limits for the counts before noise: the shortest symmetric ones with at least this confidence.

    Parameters
    ----------
    noisy : array_like of int, any shape
        What `geometric` returned.
    sensitivity, epsilon : float
        As given to `geometric`.
    confidence : float
        In (0, 1). Exact for the noise drawn: the chance to hold the count is not below it.
    simultaneous : bool
        Whether all entries are to be held at once with this confidence. Entries' noise is
        independent, so each gets confidence**(1 / m).

    Returns
    -------
    ndarray of int64, shape (..., 2)
        Lower and upper limits, not clipped at 0.

    Raises
    ------
    ValueError
        As `geometric`, or if the confidence is outside (0, 1).

    Examples
    --------
    >>> geometric_interval(100, 1, 1.0).tolist()
    [97, 103]
    >>> geometric_interval([100, 7], 1, 1.0, simultaneous=True).tolist()
    [[96, 104], [3, 11]]
    """
    scale = _scale(sensitivity, epsilon)
    centre = whole_numbers("noisy", noisy)
    half = half_width(scale, confidence, centre.size if flag("simultaneous", simultaneous) else 1)
    return limit_around(centre, half)


def half_width(scale: float, confidence: float, entries: int = 1) -> int:
    """The smallest h with Pr(|noise| <= h) >= confidence in all of `entries` entries."""
    probability("confidence", confidence, open_interval=True)
    step = 1 / scale
    # Pr(|noise| > h) = 2 a**(h + 1) / (1 + a) for one entry.
    miss = -math.expm1(math.log(confidence) / max(entries, 1))
    return max(math.ceil(scale * (math.log(2 / miss) - math.log1p(math.exp(-step)))) - 1, 0)


def _scale(sensitivity: float | Fraction, epsilon: float | Fraction) -> float:
    return scale_of(exact("sensitivity", sensitivity), exact("epsilon", epsilon))
