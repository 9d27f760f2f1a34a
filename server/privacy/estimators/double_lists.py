"""Double lists: everybody counts two lists of items, one of which has a sensitive item more.

References
----------
Droitcour, J. et al. (1991). The item count technique as a method of indirect questioning. In
*Measurement Errors in Surveys*, Wiley, 185-210.
Glynn, A. N. (2013). What can we learn with statistical truth serum? *Public Opinion Quarterly*
77, 159-172.
"""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from server.privacy._checks import probability
from server.privacy.estimators.list_arithmetic import checked_table, subtract_means


@dataclass(frozen=True)
class DoubleListEstimate:
    """The share to whom a sensitive item applies, from two lists that everybody counted.

    Attributes
    ----------
    n : tuple of int
        People who had the sensitive item in the first list, and in the second.
    share : float
        Mean of the two lists' estimates, unbiased and unclipped.
    standard_error : float
        A fraction; infinite when a group has one person.
    interval : tuple of float
        Lower and upper limit of the share, unclipped.
    list_shares : tuple of float
        What each list by itself gives, unbiased and unclipped.
    difference_error : float
        Standard error of the first less the second of them.
    p_value : float or None
        Of "both lists measure the same", by a normal distribution; None where no spread is known.
    impossible : bool
        Whether the share is outside [0, 1].
    confidence : float
        Of the interval.
    """

    n: tuple[int, int]
    share: float
    standard_error: float
    interval: tuple[float, float]
    list_shares: tuple[float, float]
    difference_error: float
    p_value: float | None
    impossible: bool
    confidence: float


def estimate_double_list(first: ArrayLike, second: ArrayLike, confidence: float = 0.95) -> DoubleListEstimate:
    """Estimate the share of a sensitive item that each group had in one of two lists.

    Parameters
    ----------
    first : array_like of int, shape (J + 2, K + 1)
        People who had the item in the first list, of J others: how many said that so many items of
        the first (rows) and of the second list (columns) apply to them.
    second : array_like of int, shape (J + 1, K + 2)
        The same of those who had it in the second list. The groups are random samples of one population.
    confidence : float
        In (0, 1).

    Returns
    -------
    DoubleListEstimate

    Raises
    ------
    ValueError
        If the counts are not such tables of non-negative whole numbers with sums in [1, 2**53].

    Notes
    -----
    With d a person's count of the first list less that of the second, the mean of the two lists'
    estimates is half the difference between the groups' means of d: everybody is used for both
    lists, and what a person's two counts have in common drops out.

    Examples
    --------
    >>> first = [[20, 20, 5], [60, 70, 25], [30, 60, 40], [5, 25, 40]]
    >>> second = [[25, 25, 10, 1], [55, 90, 35, 9], [20, 60, 55, 15]]
    >>> estimate = estimate_double_list(first, second)
    >>> round(estimate.share, 3), [round(share, 3) for share in estimate.list_shares]
    (0.239, [0.34, 0.138])
    """
    early, late = checked_table("first", first, (3, 2)), checked_table("second", second, (2, 3))
    expected = (early.shape[0] - 1, early.shape[1] + 1)
    if late.shape != expected:
        raise ValueError(
            f"second must have a row less and a column more than first, shape {expected}; "
            f"its shape is {late.shape}"
        )
    confidence = probability("confidence", confidence, open_interval=True)
    halves = [
        np.subtract.outer(*(np.arange(length) for length in table.shape)) / 2 for table in (early, late)
    ]
    sums = [np.add.outer(*(np.arange(length) for length in table.shape)) for table in (early, late)]
    share, error, interval = subtract_means(
        halves[1].ravel(), late.ravel(), halves[0].ravel(), early.ravel(), confidence
    )
    apart, apart_error, _ = subtract_means(
        sums[1].ravel(), late.ravel(), sums[0].ravel(), early.ravel(), confidence
    )
    return DoubleListEstimate(
        n=(int(early.sum()), int(late.sum())),
        share=share,
        standard_error=error,
        interval=interval,
        list_shares=(share + apart / 2, share - apart / 2),
        difference_error=apart_error,
        p_value=float(scipy.special.chdtrc(1, (apart / apart_error) ** 2))
        if 0 < apart_error < np.inf
        else None,
        impossible=not -1e-12 <= share <= 1 + 1e-12,
        confidence=confidence,
    )
