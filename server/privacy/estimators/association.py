"""How strongly two yes/no questions go together, from their estimated joint table.

References
----------
Agresti, A. (2013). *Categorical Data Analysis*, 3rd ed., section 16.1 (delta method).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators.limits import normal_quantile

_ZERO = 1e-12
"""Estimated shares up to here are taken to be 0: they come from rounding."""


@dataclass(frozen=True)
class Measure:
    """One measure of association.

    Attributes
    ----------
    value : float or None
        None when the estimated table does not define it (see `Association`).
    standard_error : float or None
        By the delta method; infinite when n, or that of a part, is 1; None when `value` is.
    interval : tuple of float
        Lower and upper limit; every value the measure can have when `value` is None.
    """

    value: float | None
    standard_error: float | None
    interval: tuple[float, float]


@dataclass(frozen=True)
class Association:
    """Measures of association of two yes/no questions.

    Attributes
    ----------
    odds_ratio : Measure
        Odds of "yes" to the second question among the "yes" to the first, over those among
        the "no". Its interval is symmetric on the log scale. Not defined unless all four
        estimated cells are positive: value and standard error None, interval (0, inf).
    difference : Measure
        Pr(second yes | first yes) - Pr(second yes | first no), a fraction. Not defined
        unless both shares of the first question are positive: interval (-1, 1).
    phi : Measure
        The correlation of the two answers. Not defined unless all four shares are
        positive: interval (-1, 1).

    Notes
    -----
    Estimated tables are not clipped, so that difference and phi can leave [-1, 1]. The
    delta method needs cells several standard errors away from 0.
    """

    odds_ratio: Measure
    difference: Measure
    phi: Measure


def associate(
    table: NDArray[np.float64],
    covariance: NDArray[np.float64],
    confidence: float,
    quantile: float | None = None,
) -> Association:
    """Odds ratio, difference and phi of a 2 x 2 table of shares with its covariance.

    Parameters
    ----------
    table : ndarray, shape (2, 2)
        Shares, the first question in the rows, ordered (no, yes).
    covariance : ndarray, shape (4, 4)
        Of `table.ravel()`; where it is infinite, for want of a second respondent, so is
        every standard error.
    confidence : float
        In (0, 1).
    quantile : float or None
        How many standard errors intervals reach; those of a normal distribution unless given.

    Returns
    -------
    Association
    """
    z = normal_quantile(confidence) if quantile is None else quantile
    known = bool(np.isfinite(covariance).all())

    def spread(gradient: NDArray[np.float64]) -> float:
        if not known:
            return math.inf
        with np.errstate(over="ignore"):
            variance = float(gradient @ covariance @ gradient)
        return math.sqrt(max(variance, 0.0))

    def around(value: float, gradient: NDArray[np.float64]) -> Measure:
        error = spread(gradient)
        reach = z * error if math.isfinite(error) else math.inf
        return Measure(value, error, (value - reach, value + reach))

    first, second = table.sum(axis=1), table.sum(axis=0)
    odds_ratio = Measure(None, None, (0.0, math.inf))
    difference = phi = Measure(None, None, (-1.0, 1.0))
    if table.min() > _ZERO:
        odds = float(table[1, 1] * table[0, 0] / (table[0, 1] * table[1, 0]))
        error = spread(np.array([1, -1, -1, 1]) / table.ravel())
        odds_ratio = Measure(odds, odds * error, _log_limits(odds, z, error))
    if first.min() > _ZERO:
        among = table[:, 1] / first
        steps = np.stack([-among, 1 - among], axis=1) / first[:, None]
        difference = around(float(among[1] - among[0]), np.concatenate([-steps[0], steps[1]]))
        if second.min() > _ZERO:
            root = math.sqrt(math.prod([*first.tolist(), *second.tolist()]))
            value = float(table[1, 1] * table[0, 0] - table[0, 1] * table[1, 0]) / root
            # d phi = d(determinant) / root - phi / 2 * d log(product of the four margins)
            determinant = np.array([[table[1, 1], -table[1, 0]], [-table[0, 1], table[0, 0]]])
            margins = 1 / first[:, None] + 1 / second[None, :]
            phi = around(value, (determinant / root - value / 2 * margins).ravel())
    return Association(odds_ratio, difference, phi)


def _log_limits(value: float, z: float, error: float) -> tuple[float, float]:
    """Limits value * exp(-+ z error), infinite instead of overflowing."""
    reach = z * error if math.isfinite(error) else math.inf
    return value * math.exp(-reach), value * math.exp(reach) if reach < 700 else math.inf
