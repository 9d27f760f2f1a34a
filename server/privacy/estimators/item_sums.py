"""Item sums: the total of some numbers, asked of two groups, one of which has one number more.

References
----------
Trappmann, M., Krumpal, I., Kirchner, A. and Jann, B. (2014). Item sum: a new technique for
asking quantitative sensitive questions. *Journal of Survey Statistics and Methodology* 2, 58-77.
Welch, B. L. (1947). The generalization of "Student's" problem when several different
population variances are involved. *Biometrika* 34, 28-35.
"""

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from server.privacy._checks import any_array, probability, real_numbers

_LARGEST = 1e100


@dataclass(frozen=True)
class ItemSumEstimate:
    """The mean of a sensitive number, from two groups' totals of which one has it in.

    Attributes
    ----------
    n : tuple of int
        People whose total is without the sensitive number, and with it.
    mean : float
        Difference of the two mean totals, unbiased, in the unit of the numbers. A number that
        cannot be negative may have a mean below 0 by chance.
    standard_error : float
        In the unit of the numbers; infinite when a group has one person.
    interval : tuple of float
        Lower and upper limit of the mean; infinite where no spread of the totals is known.
    degrees_of_freedom : float
        Of Student's t; 0 where no spread is known.
    confidence : float
        Of the interval.
    """

    n: tuple[int, int]
    mean: float
    standard_error: float
    interval: tuple[float, float]
    degrees_of_freedom: float
    confidence: float


def estimate_item_sum(control: ArrayLike, treatment: ArrayLike, confidence: float = 0.95) -> ItemSumEstimate:
    """Estimate the mean of a sensitive number that one group added to its total.

    Parameters
    ----------
    control : array_like of float, shape (n,)
        Totals of the numbers that are not sensitive, one a person, each in [-1e100, 1e100].
    treatment : array_like of float, shape (m,)
        Totals of the group that added the sensitive number too. The groups are random samples
        of one population.
    confidence : float
        In (0, 1).

    Returns
    -------
    ItemSumEstimate

    Raises
    ------
    ValueError
        If the totals are not rows of finite numbers.

    Notes
    -----
    Difference of means; Student's t with Welch's degrees of freedom. Approximate: of few people
    whose numbers have a long tail, intervals hold less often than they say.

    Examples
    --------
    >>> estimate = estimate_item_sum([10, 14, 9, 11, 16, 12], [15, 12, 19, 14, 22, 11])
    >>> round(estimate.mean, 2), round(estimate.standard_error, 2), round(estimate.degrees_of_freedom, 1)
    (3.5, 2.03, 8.3)
    >>> [round(limit, 1) for limit in estimate.interval]
    [-1.1, 8.1]
    """
    groups = [_checked_totals("control", control), _checked_totals("treatment", treatment)]
    confidence = probability("confidence", confidence, open_interval=True)
    n = [len(group) for group in groups]
    mean = float(groups[1].mean() - groups[0].mean())
    parts = [float(group.var(ddof=1)) / len(group) if len(group) > 1 else math.inf for group in groups]
    variance, freedom = sum(parts), 0.0
    if 0 < variance < math.inf:
        freedom = 1 / sum((part / variance) ** 2 / (size - 1) for part, size in zip(parts, n, strict=True))
    error = math.sqrt(variance)
    away = float(scipy.special.stdtrit(freedom, (1 + confidence) / 2)) * error if freedom else math.inf
    return ItemSumEstimate(
        n=(n[0], n[1]),
        mean=mean,
        standard_error=error,
        interval=(mean - away, mean + away),
        degrees_of_freedom=freedom,
        confidence=confidence,
    )


def _checked_totals(name: str, values: ArrayLike) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    found = any_array(name, values)
    if found.ndim != 1:
        raise ValueError(f"{name} must be a row of numbers, one a person; its shape is {found.shape}")
    return real_numbers(name, found, largest=_LARGEST)
