"""The quotient of two correlated means, its standard error, and its interval.

References
----------
Fieller, E. C. (1954). Some problems in interval estimation. *JRSS B* 16, 175-185.
"""

import math

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators.limits import normal_quantile


def divide_means(
    means: NDArray[np.float64], covariance: NDArray[np.float64], ratio: float
) -> tuple[float, float]:
    """`ratio` times the first of two means over the second, NaN over 0, and its standard error."""
    above, below = means.tolist()
    if below == 0:
        return math.nan, math.inf
    if not np.isfinite(covariance).all():
        return ratio * above / below, math.inf
    slopes = np.array([1.0, -above / below]) * ratio / below
    return ratio * above / below, math.sqrt(max(0.0, float(slopes @ covariance @ slopes)))


def fieller_limits(
    means: NDArray[np.float64], covariance: NDArray[np.float64], ratio: float, confidence: float
) -> tuple[float, float]:
    """Of that quotient: where (ratio * first - quotient * second) is near 0; infinite where the second may be 0."""
    if not np.isfinite(covariance).all():
        return -math.inf, math.inf
    z = normal_quantile(confidence)
    scale = np.array([ratio, 1.0])
    (first, mixed), (_, second) = (
        np.outer(means * scale, means * scale) - z * z * covariance * np.outer(scale, scale)
    ).tolist()
    if second <= 0:
        return -math.inf, math.inf
    half = math.sqrt(max(0.0, mixed * mixed - second * first))
    return (mixed - half) / second, (mixed + half) / second
