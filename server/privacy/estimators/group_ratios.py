"""How many times as large a share or mean is in one group as in another, where nobody is in both.

References
----------
Fieller, E. C. (1954). Some problems in interval estimation. *JRSS B* 16, 175-185.
Donner, A. and Zou, G. Y. (2012). Closed-form confidence intervals for functions of the normal mean and standard
deviation. *Statistical Methods in Medical Research* 21, 347-359.
"""

import math

Interval = tuple[float, float]


def divide_estimates(
    first: float, first_limits: Interval, second: float, second_limits: Interval
) -> Interval:
    """Limits of the first of two independent numbers, neither of which is negative, divided by the second.

    Parameters
    ----------
    first, second : float
        Unclipped estimates.
    first_limits, second_limits : tuple of float
        Of each by itself, at the confidence that is wanted of the ratio; the estimate lies in them.

    Returns
    -------
    tuple of float
        In [0, inf]; no upper end where the second number may be 0.

    Notes
    -----
    All ratios r for which `first - r second`, with the squared distances of the limits added, may be 0: Fieller's
    set, with limits of each number in place of its standard errors (Donner and Zou 2012). At r = 1 it is Newcombe's
    interval of the difference: the one holds 1 where the other holds 0.

    Examples
    --------
    >>> low, high = divide_estimates(0.6, (0.55, 0.65), 0.3, (0.26, 0.34))
    >>> round(low, 3), round(high, 3)
    (1.717, 2.356)
    >>> divide_estimates(0.6, (0.55, 0.65), 0.03, (-0.01, 0.07))[1]
    inf
    """
    low, high = 0.0, math.inf
    if second_limits[1] <= 0:  # no possible ratio
        return low, high
    if first_limits[0] > 0:
        low = _divide(first, first - first_limits[0], second, second_limits[1] - second, -1)
    if second_limits[0] > 0:
        high = 0.0
        if first_limits[1] > 0:
            high = _divide(first, first_limits[1] - first, second, second - second_limits[0], 1)
    return low, high


def _divide(first: float, reach: float, second: float, other: float, side: int) -> float:
    """The r with first - r second + side * hypot(reach, r other) = 0."""
    # Squared: r^2 (second^2 - other^2) - 2 r first second + first^2 - reach^2 = 0. Of its roots it is the one in which
    # the term of the root has this sign; written so that nothing is lost where second and other are alike.
    square, product, rest = second**2 - other**2, first * second, first**2 - reach**2
    root = math.sqrt(max(product**2 - square * rest, 0.0))
    if side < 0:
        return rest / (product + root) if product + root > 0 else (product - root) / square
    return (product + root) / square


def divide_intervals(first: Interval, second: Interval) -> Interval:
    """Where the first divided by the second lies if both intervals hold, and neither number is negative."""
    low, high = (max(end, 0.0) for end in first)
    if second[1] <= 0:
        return 0.0, math.inf
    return low / second[1], math.inf if second[0] <= 0 else high / second[0]
