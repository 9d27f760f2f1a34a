"""How much an estimate changes from one survey to the next, where nobody is taken to be in two of them.

The slope of the line that fits independent estimates best is a sum of them, each times a coefficient. So its limits
follow from those of each estimate, as the limits of a difference do, which is the slope over two.

References
----------
Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures.
*Statistics in Medicine* 27, 1693-1702.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Interval = tuple[float, float]


def weigh_trend(standard_errors: Sequence[float]) -> NDArray[np.float64]:
    """What each estimate is multiplied by in the slope of the line through all (weighted least squares).

    Parameters
    ----------
    standard_errors : sequence of float
        Of at least two estimates in their order, one step apart; above 0 and finite. An estimate under coins that
        change more answers has a larger one, and counts less: its weight is one over the square.

    Returns
    -------
    ndarray
        Coefficients, one for each estimate, whose sum is 0. They are taken as known in what is said of the slope.

    Raises
    ------
    ValueError
        If there are fewer than two, or one is not above 0 and finite.

    Examples
    --------
    >>> [round(each, 6) for each in weigh_trend([0.1, 0.1, 0.1]).tolist()]
    [-0.5, 0.0, 0.5]
    >>> [round(each, 6) for each in weigh_trend([0.1, 0.3]).tolist()]
    [-1.0, 1.0]
    """
    errors = np.array(standard_errors, dtype=float)
    if len(errors) < 2 or not (np.isfinite(errors).all() and (errors > 0).all()):
        raise ValueError(
            f"standard_errors must be at least two numbers above 0, finite; they are {list(standard_errors)}"
        )
    weights = (errors.min() / errors) ** 2
    steps = np.arange(len(errors)) - np.average(np.arange(len(errors)), weights=weights)
    found: NDArray[np.float64] = weights * steps / (weights @ steps**2)
    return found


def add_distances(
    coefficients: Sequence[float], values: Sequence[float], limits: Sequence[Interval]
) -> Interval:
    """Limits of a sum of independent numbers, each times its coefficient, in the unit of the values.

    Parameters
    ----------
    coefficients, values : sequence of float
        Of each number; the values are unclipped estimates.
    limits : sequence of tuple of float
        Of each number by itself, at the confidence that is wanted of the sum; its estimate lies in them.

    Returns
    -------
    tuple of float
        The squared distances of the limits are added (Zou and Donner 2008).

    Examples
    --------
    >>> low, high = add_distances([-1, 1], [0.1, 0.3], [(0.07, 0.14), (0.26, 0.33)])
    >>> round(low, 4), round(high, 4)
    (0.1434, 0.2424)
    """
    middle = sum(each * value for each, value in zip(coefficients, values, strict=True))
    down, up = [], []
    for factor, value, (low, high) in zip(coefficients, values, limits, strict=True):
        below, above = factor * (value - low), factor * (high - value)
        down.append(below if factor > 0 else above)
        up.append(above if factor > 0 else below)
    return middle - math.hypot(*down), middle + math.hypot(*up)


def add_intervals(coefficients: Sequence[float], limits: Sequence[Interval]) -> Interval:
    """Where a sum of numbers, each times its coefficient, lies if all intervals hold.

    Examples
    --------
    >>> low, high = add_intervals([-1, 1], [(0.07, 0.14), (0.26, 0.33)])
    >>> round(low, 4), round(high, 4)
    (0.12, 0.26)
    """
    pairs = [
        sorted((each * low, each * high)) for each, (low, high) in zip(coefficients, limits, strict=True)
    ]
    return math.fsum(low for low, _high in pairs), math.fsum(high for _low, high in pairs)
