"""List experiments: how many of some items apply, asked of two groups, one of which has one item more.

References
----------
Miller, J. D. (1984). *A new survey technique for studying deviant behavior*. Dissertation,
George Washington University.
Droitcour, J. et al. (1991). The item count technique as a method of indirect questioning. In
*Measurement Errors in Surveys*, Wiley, 185-210.
Blair, G. and Imai, K. (2012). Statistical analysis of list experiments. *Political
Analysis* 20, 47-77.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import probability
from server.privacy.estimators.design_effects import find_design_effect
from server.privacy.estimators.limits import combined_limits, wilson_limits
from server.privacy.estimators.list_arithmetic import checked_list, subtract_means


@dataclass(frozen=True)
class ItemCountEstimate:
    """The share to whom a sensitive item applies, from two lists of which one has it.

    Attributes
    ----------
    n : tuple of int
        People asked the list without the sensitive item, and with it.
    items : int
        J, of the list without it.
    share : float
        Difference of the two mean counts, unbiased and unclipped.
    standard_error : float
        A fraction; infinite when a group has one person.
    interval : tuple of float
        Lower and upper limit of the share, unclipped.
    types : ndarray, shape (J + 1, 2)
        Unbiased, unclipped shares of people to whom 0 to J of the other items apply, and the
        sensitive one does not (column 0) or does (column 1). They sum to 1, column 1 to
        `share`. `types[0, 1]` have no other item to hide behind, and of `types[J, 1]` the count
        tells everything: floor and ceiling, where some may not count truly.
    type_errors : ndarray, shape (J + 1, 2)
        Standard errors of `types`; infinite when a group has one person.
    type_intervals : ndarray, shape (J + 1, 2, 2)
        Lower and upper limits of each of `types` by itself, unclipped.
    design_effect : float
        p value of "nobody's count of the other items depends on the list": guaranteed, small
        where some share of `types` is below 0 by more than chance explains.
    impossible : bool
        Whether the share is outside [0, 1].
    confidence : float
        Of the interval.
    """

    n: tuple[int, int]
    items: int
    share: float
    standard_error: float
    interval: tuple[float, float]
    types: NDArray[np.float64]
    type_errors: NDArray[np.float64]
    type_intervals: NDArray[np.float64]
    design_effect: float
    impossible: bool
    confidence: float


def estimate_item_count(
    control: ArrayLike, treatment: ArrayLike, confidence: float = 0.95
) -> ItemCountEstimate:
    """Estimate the share of a sensitive item by a list experiment.

    Parameters
    ----------
    control : array_like of int, shape (J + 1,)
        How many people said that 0, 1, ..., J items apply to them.
    treatment : array_like of int, shape (J + 2,)
        The same of the group whose list has the sensitive item too. The groups are random
        samples of one population.
    confidence : float
        In (0, 1).

    Returns
    -------
    ItemCountEstimate

    Raises
    ------
    ValueError
        If the counts are not non-negative whole numbers with sums in [1, 2**53], there is no
        item beside the sensitive one, or `treatment` has not one entry more than `control`.

    Notes
    -----
    The interval adds the squared distances to the score limits of the two means (Zou and
    Donner 2008), so that it has a width where all counts of a group are the same. If everybody
    counts truly and the sensitive item changes no other answer, a person's count with it is
    that without it or one more. So at most y are counted by Pr(Y0 <= y) without and by
    Pr(Y1 <= y) with it, and

        Pr(Y0 <= y - 1) <= Pr(Y1 <= y) <= Pr(Y0 <= y):

    the two distances are the shares of people with y other items, without and with the
    sensitive one (Blair and Imai 2012). The test asks each of these 2 J inequalities by
    Fisher's exact test, one-sided; the smallest p value counts 2 J times (Bonferroni). So its
    error is guaranteed, where theirs, by a likelihood ratio, is asymptotic, and it sees a
    little less.

    Examples
    --------
    >>> estimate = estimate_item_count([50, 200, 180, 70], [40, 160, 190, 90, 20])
    >>> round(estimate.share, 3), round(estimate.standard_error, 3), estimate.design_effect
    (0.24, 0.058, 1.0)
    >>> estimate.types.round(2).tolist()
    [[0.08, 0.02], [0.3, 0.1], [0.28, 0.08], [0.1, 0.04]]
    """
    without, with_it = checked_list("control", control, 2), checked_list("treatment", treatment, 3)
    if len(with_it) != len(without) + 1:
        raise ValueError(
            f"treatment must have one entry more than control, {len(without) + 1}; it has {len(with_it)}"
        )
    confidence = probability("confidence", confidence, open_interval=True)
    n = np.array([without.sum(), with_it.sum()])
    share, error, interval = subtract_means(
        np.arange(len(without)), without, np.arange(len(with_it)), with_it, confidence
    )
    below, below_with = np.cumsum(without) / n[0], np.cumsum(with_it)[:-1] / n[1]
    shifted = np.concatenate([[0.0], below[:-1]])
    spreads = [
        each * (1 - each) / (size - 1) if size > 1 else np.full(len(each), np.inf)
        for each, size in ((below, n[0]), (below_with, n[1]), (shifted, n[0]))
    ]
    return ItemCountEstimate(
        n=(int(n[0]), int(n[1])),
        items=len(without) - 1,
        share=share,
        standard_error=error,
        interval=interval,
        types=np.stack([below_with - shifted, below - below_with], axis=1),
        type_errors=np.sqrt(np.stack([spreads[1] + spreads[2], spreads[0] + spreads[1]], axis=1)),
        type_intervals=_limit_types(np.cumsum(without), np.cumsum(with_it)[:-1], n, confidence),
        design_effect=find_design_effect(without, with_it),
        impossible=not _within(without, with_it),
        confidence=confidence,
    )


def _limit_types(
    below: NDArray[np.int64], below_with: NDArray[np.int64], n: NDArray[np.int64], confidence: float
) -> NDArray[np.float64]:
    """As the limits of the share, of people who counted at most so many without and with the sensitive item."""
    last, apart = len(below) - 1, np.array([-1.0, 1.0])
    limits = np.empty((last + 1, 2, 2))
    for place in range(last + 1):
        low, high = wilson_limits(float(below_with[place]), float(n[1]), confidence)
        limits[place] = (
            (low, high),
            (1 - high, 1 - low),
        )  # where nobody counts fewer, and everybody counts as few
        if place > 0:
            yes = np.array([below[place - 1], below_with[place]])
            limits[place, 0] = combined_limits(apart, yes, n, confidence)
        if place < last:
            yes = np.array([below[place], below_with[place]])
            limits[place, 1] = combined_limits(-apart, yes, n, confidence)
    return limits


def _within(without: NDArray[np.int64], with_it: NDArray[np.int64]) -> bool:
    """Whether the share is in [0, 1], in whole numbers, so that no rounding flags a limit."""
    (n, total), (m, sum_with) = (
        (sum(tally), sum(place * count for place, count in enumerate(tally)))
        for tally in (without.tolist(), with_it.tolist())
    )
    return bool(0 <= sum_with * n - total * m <= n * m)
