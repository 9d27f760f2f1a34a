"""How far the shares or means of two groups of respondents are apart, where nobody is in both.

A difference is one more weighted sum over parts: those of the first group count as they do there, those of the
second with the opposite sign. So what holds of limits of sums (`weighted_limits`) holds of it.

References
----------
Newcombe, R. G. (1998). Interval estimation for the difference between independent proportions: comparison of
eleven methods. *Statistics in Medicine* 17, 873-890.
Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures.
*Statistics in Medicine* 27, 1693-1702.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators.mean_estimates import position_rows
from server.privacy.estimators.parts import Parts, Stack
from server.privacy.estimators.together import compute
from server.privacy.estimators.weighted_limits import chosen_interval, limits_of_sums

Row = NDArray[np.float64]
Interval = tuple[float, float]


@dataclass(frozen=True)
class Differences:
    """Estimated differences between two groups, the first less the second.

    Attributes
    ----------
    values : ndarray, shape (sums,)
        Unbiased and unclipped.
    intervals : ndarray, shape (sums, 2)
        Lower and upper limits, unclipped; each has its own, at the confidence that was asked for.
    interval : str
        Kind of the intervals: "wilson" or "exact".
    """

    values: Row
    intervals: Row
    interval: str


def share_differences_of(first: Parts, second: Parts, confidence: float, interval: str) -> Differences:
    """Of the shares of each of the k truths, as fractions.

    Parameters
    ----------
    first, second : Parts
        Checked parts of the two groups, independent of each other, of designs with the same k truths.
    confidence : float
        In (0, 1), of each interval by itself.
    interval : {"wilson", "exact", "by_size"}
        As in `estimate_pooled_shares`: "wilson" adds the squared distances of the parts' limits (Newcombe 1998 for
        two shares), "exact" covers at least `confidence` whatever the true shares, "by_size" is "exact" where a
        part that counts has fewer than 100 reports.

    Returns
    -------
    Differences
        k of them.
    """
    return _subtract(first, second, lambda parts: parts.inverse, confidence, interval)


def mean_difference_of(
    first: Parts, second: Parts, ends: tuple[float, float], confidence: float, interval: str
) -> Differences:
    """Of the means of a number between two ends, in its unit; parameters as in `share_differences_of`.

    Returns
    -------
    Differences
        A single one.
    """
    found, width = _subtract(first, second, position_rows, confidence, interval), ends[1] - ends[0]
    return Differences(width * found.values, width * found.intervals, found.interval)


def _subtract(
    first: Parts, second: Parts, rows_of: Callable[[Stack], Row], confidence: float, interval: str
) -> Differences:
    groups = [(each, sign) for parts, sign in ((first, 1), (second, -1)) for each in parts.counting]
    # Each group counts as half of all, so that weights have the sum 1 as in every other sum.
    stacks = [replace(each, weights=each.weights / 2) for each, _sign in groups]
    rows = [sign * rows_of(each) for each, sign in groups]
    kind = chosen_interval(interval, stacks)
    values = np.sum([each.weights @ each.means(row) for each, row in zip(stacks, rows, strict=True)], axis=0)
    sums = [list(of_stacks) for of_stacks in zip(*rows, strict=True)]
    limits = compute(limits_of_sums(stacks, sums, confidence, kind))
    return Differences(2 * values, 2 * np.array(limits), kind)


def subtract_intervals(first: Interval, second: Interval) -> Interval:
    """Where the first less the second lies, if both intervals hold."""
    return first[0] - second[1], first[1] - second[0]
