"""Confidence limits for a share, and for a weighted sum of the shares of several reports.

Every estimate of this package is a sum of values, one per report: a yes/no share has two
values, so that its limits are those of one binomial share, carried along; a share of a
larger design may have more. Both are treated here, and the second becomes the first
exactly when there are two values.

References
----------
Wilson, E. B. (1927). Probable inference, the law of succession, and statistical
inference. *JASA* 22, 209-212.
Tango, T. (1998). Equivalence test and confidence interval for the difference in
proportions for the paired-sample design. *Statistics in Medicine* 17, 891-908.
Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures.
*Statistics in Medicine* 27, 1693-1702.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from server.privacy.estimators import score_limits
from server.privacy.estimators.exact_shares import SeenShares
from server.privacy.estimators.score_limits import SAME
from server.privacy.estimators.together import Means, Steps, compute, find_root

INTERVALS = ("wilson", "exact", "wald")
"""Kinds of interval that the estimators offer."""


def normal_quantile(confidence: float) -> float:
    """The z of a two-sided interval."""
    return -float(scipy.special.ndtri((1 - confidence) / 2))


def split_error(confidence: float, intervals: int) -> float:
    """The confidence of each of so many intervals that are to hold together at `confidence` (Bonferroni)."""
    return 1 - (1 - confidence) / intervals


def wilson_limits(yes: float, n: float, confidence: float) -> tuple[float, float]:
    """Wilson's score limits for a share of which `yes` of `n` were seen."""
    found = score_limits.wilson_limits(
        np.array([yes]), np.array([n]), np.array([normal_quantile(confidence)])
    )
    low, high = found[0].tolist()
    return low, high


def linear_limits(
    values: NDArray[np.float64], counts: NDArray[np.int64], confidence: float, interval: str
) -> tuple[float, float]:
    """Limits for the mean of `values[report]`, given how often each report was seen.

    Parameters
    ----------
    values : ndarray, shape (m,)
        Of all reports that can occur, seen or not.
    counts : ndarray of int, shape (m,)
        Non-negative with a positive sum n.
    confidence : float
        In (0, 1).
    interval : {"wilson", "exact", "wald"}
        "wilson" inverts the score test: the means whose distance from the observed one is
        at most z standard errors, the standard error being that of the likeliest
        distribution of reports with that mean (Wilson 1927 for two values, Tango 1998 for
        three). "exact" writes the mean as a sum of shares "report worth at least v",
        one per step between distinct values, and adds Blaker's limits for them, at
        confidence 1 - (1 - confidence) / steps each (Bonferroni): guaranteed, and wide
        when there are many steps. "wald" is the estimate plus and minus z standard errors.

    Returns
    -------
    tuple of float
    """
    low, high = compute(limits_of_means([values], [counts[None]], confidence, interval))[0].tolist()
    return low, high


def limits_of_means(
    values: Sequence[NDArray[np.float64]],
    counts: Sequence[NDArray[np.int64]],
    confidence: float,
    interval: str,
) -> Steps[NDArray[np.float64]]:
    """As `linear_limits`, of several means: those of each row of values for all of its rows of counts.

    Parameters
    ----------
    values : sequence of ndarray, shapes (m1,), (m2,), ...
    counts : sequence of ndarray of int, shapes (parts1, m1), (parts2, m2), ...

    Returns
    -------
    ndarray, shape (parts1 + parts2 + ..., 2)
    """
    if interval == "wilson":
        found = yield Means(values, counts, normal_quantile(confidence))
        return found
    limits = []
    for row, parts in zip(values, counts, strict=True):
        for seen in parts:
            if interval == "exact":
                limits.append((yield from _layered_limits(row, seen, confidence)))
            else:
                limits.append(_wald_limits(row, seen, confidence))
    return np.array(limits)


def _wald_limits(
    values: NDArray[np.float64], counts: NDArray[np.int64], confidence: float
) -> tuple[float, float]:
    bottom, top = float(values.min()), float(values.max())
    if top == bottom:
        return bottom, top
    n, scaled = int(counts.sum()), _scale_values(values)
    mean = float(counts @ scaled) / n
    half = normal_quantile(confidence) * math.sqrt(float(counts @ (scaled - mean) ** 2) / n / n)
    return bottom + (top - bottom) * (mean - half), bottom + (top - bottom) * (mean + half)


def combined_limits(
    factors: NDArray[np.float64], yes: NDArray[np.int64], n: NDArray[np.int64], confidence: float
) -> tuple[float, float]:
    """Limits for a weighted sum of the shares of independent groups.

    Wilson's limits of each group, added as in `added_limits`; for one group they are Wilson's own.
    """
    limits = score_limits.wilson_limits(yes, n, np.full(len(n), normal_quantile(confidence)))
    return added_limits(factors, yes / n, limits)


def added_limits(
    factors: NDArray[np.float64], values: NDArray[np.float64], limits: NDArray[np.float64]
) -> tuple[float, float]:
    """Limits for a weighted sum of independent estimates, given the limits of each.

    The distances from each estimate to its limits, weighted, squared and added (Zou and
    Donner 2008). The limits of a single estimate with the factor 1 are handed on as they are.

    Parameters
    ----------
    factors, values : ndarray, shape (parts,)
    limits : ndarray, shape (parts, 2)
    """
    if factors.tolist() == [1.0]:
        low, high = limits[0].tolist()
        return low, high
    away = np.sort(factors[:, None] * (limits - values[:, None]), axis=1)
    centre = float(factors @ values)
    below, above = away.T.tolist()
    return centre - math.hypot(*below), centre + math.hypot(*above)


def accepted_end(contains: Callable[[float], Steps[float]], start: float, step: float) -> Steps[float]:
    """Where the accepted positions around `start` end, in the direction of a first step.

    `contains` is negative outside of them. The end is looked for as far as 2**60 steps.
    """
    inside, accepted = start, (yield from contains(start))
    if accepted <= 0:  # a single point, but for rounding
        return start
    for _ in range(60):
        outside = start + step
        refused = yield from contains(outside)
        if refused < 0:
            return (yield from find_root(contains, inside, outside, (accepted, refused)))
        inside, accepted, step = outside, refused, 2 * step
    return inside


def _layered_limits(
    values: NDArray[np.float64], counts: NDArray[np.int64], confidence: float
) -> Steps[tuple[float, float]]:
    """The mean as a sum of shares "report worth at least v", one for each step between distinct values."""
    bottom, top = float(values.min()), float(values.max())
    if top == bottom:
        return bottom, top
    order = np.argsort(values)
    ordered, seen = _scale_values(values)[order], counts[order]
    starts = np.flatnonzero(np.diff(ordered) > SAME) + 1
    step_confidence = split_error(confidence, len(starts))
    if step_confidence == 1:  # more steps than a float can share the error among
        return bottom, top
    n = int(counts.sum())
    yes = n - np.cumsum(seen)[starts - 1]
    limits = yield SeenShares(yes, np.full(len(starts), n), step_confidence)
    low, high = ((ordered[starts] - ordered[starts - 1]) @ limits).tolist()
    return bottom + (top - bottom) * low, bottom + (top - bottom) * high


def _scale_values(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """In [0, 1], from the smallest to the largest; what is near to one of these is that."""
    bottom, top = float(values.min()), float(values.max())
    scaled = (values - bottom) / (top - bottom)
    scaled[scaled < SAME] = 0
    scaled[scaled > 1 - SAME] = 1
    return np.asarray(scaled)
