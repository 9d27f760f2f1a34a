"""Limits of many means at once: the score test inverted for a row of reports each.

The inversion is a root for each row, found by Newton's steps of all rows together: for hundreds of strata the
same arithmetic as for one.

References
----------
Wilson, E. B. (1927). Probable inference, the law of succession, and statistical
inference. *JASA* 22, 209-212.
Tango, T. (1998). Equivalence test and confidence interval for the difference in
proportions for the paired-sample design. *Statistics in Medicine* 17, 891-908.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SAME = 1e-9
"""Values of reports closer than this, as a fraction of their range, differ by rounding alone."""

_LOWEST = -660.0
"""e to this is about the smallest number."""

_Rows = NDArray[np.float64]


def score_limits(values: _Rows, counts: NDArray[np.int64], z: _Rows) -> _Rows:
    """Limits for the mean of `values[row, report]`, for each row.

    The means whose distance from the observed one is at most z standard errors, the standard error being
    that of the likeliest distribution of reports with that mean (Wilson 1927 for two values, Tango 1998
    for three).

    Parameters
    ----------
    values : ndarray, shape (rows, m)
        Of all reports that can occur, seen or not; what fills up a row repeats one of its values.
    counts : ndarray of int, shape (rows, m)
        How often each was seen, 0 for what fills up; a positive sum in each row.
    z : ndarray, shape (rows,)
        Positive.

    Returns
    -------
    ndarray, shape (rows, 2)
    """
    bottom, top = values.min(axis=1), values.max(axis=1)
    limits = np.stack([bottom, top], axis=1)
    some = np.flatnonzero(top > bottom)
    if not len(some):
        return limits
    reach, base = (top - bottom)[some, None], bottom[some, None]
    scaled = (values[some] - base) / reach
    scaled[scaled < SAME] = 0
    scaled[scaled > 1 - SAME] = 1
    ends = np.empty((len(some), 2))
    two = ((scaled == 0) | (scaled == 1)).all(axis=1)
    seen, quantiles = counts[some], z[some]
    ends[two] = wilson_limits((seen * (scaled == 1)).sum(axis=1)[two], seen.sum(axis=1)[two], quantiles[two])
    more = ~two
    # A lower limit is the upper one of what is missing to 1. Both at once: a single row takes little more than none.
    turned = np.concatenate([1 - scaled[more], scaled[more]])
    uppers = _uppers(turned, np.tile(seen[more], (2, 1)), np.tile(quantiles[more], 2))
    missing, ends[more, 1] = np.split(uppers, 2)
    ends[more, 0] = 1 - missing
    limits[some] = base + reach * ends
    return limits


def score_errors(values: _Rows, counts: NDArray[np.int64], means: _Rows) -> _Rows:
    """By how many standard errors each observed mean is below another one: the z whose upper limit that is.

    Parameters
    ----------
    values, counts : ndarray, shape (rows, m)
        As in `score_limits`; the values of a row differ.
    means : ndarray, shape (rows,)
        Above the observed ones, and at most the largest value of a row.

    Returns
    -------
    ndarray, shape (rows,)
        Infinite for the largest value.
    """
    bottom, reach = values.min(axis=1), np.ptp(values, axis=1)
    scaled = (values - bottom[:, None]) / reach[:, None]
    scaled[scaled < SAME] = 0
    scaled[scaled > 1 - SAME] = 1
    aim = np.minimum((means - bottom) / reach, 1.0)
    n, seen = counts.sum(axis=1), counts > 0
    value, observed = np.where(seen, scaled, 0.0), counts / n[:, None]
    away = aim - (observed * value).sum(axis=1)
    # Where there is only the unseen report worth 1 to make up the rest: see `_uppers`.
    variance = away * (1 - aim)
    farthest = _tilt(value, observed, np.zeros(len(n)) + (value.max(axis=1) == 1)).centre
    sought = np.flatnonzero((aim < 1) & ((value.max(axis=1) == 1) | (aim < farthest)))
    if len(sought):
        spread = _tilt(value[sought], observed[sought], np.ones(len(sought))).variance

        def lacks(u: _Rows, some: NDArray[np.int64]) -> tuple[_Rows, _Rows]:
            """How far means at ln w are from those aimed at, and how fast that rises."""
            w, rows = np.exp(u), sought[some]
            at = _tilt(value[rows], observed[rows], w)
            return aim[rows] - at.centre, w * at.slope

        found = _newton(lacks, -away[sought] / spread)
        variance[sought] = _tilt(value[sought], observed[sought], np.exp(found)).variance
    with np.errstate(divide="ignore"):
        return np.asarray(np.sqrt(n * away**2 / variance))


def wilson_limits(yes: NDArray[np.float64] | NDArray[np.int64], n: NDArray[np.int64], z: _Rows) -> _Rows:
    """Wilson's score limits for shares of which `yes` of `n` were seen, shape (rows, 2)."""
    n = n.astype(np.float64)  # whose square may be longer than a whole number can be
    share = yes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return np.stack([np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)], axis=1)


def _uppers(scaled: _Rows, counts: NDArray[np.int64], z: _Rows) -> _Rows:
    """The largest mean that the score test accepts, for values in [0, 1] with 0 and 1 in each row.

    The likeliest distribution with a mean above the observed one is proportional to
    observed / (1 - value + w value), w in [0, 1]; once w is 0 the rest of the mean comes
    from the unseen report worth 1, and the equation has a closed solution.
    """
    n = counts.sum(axis=1)
    seen = counts > 0
    value, observed = np.where(seen, scaled, 0.0), counts / n[:, None]
    mean = (observed * value).sum(axis=1)
    greatest = value.max(axis=1)
    least = np.where(seen, scaled, 1.0).min(axis=1)

    def tilt_means(w: _Rows, some: NDArray[np.int64]) -> tuple[_Rows, _Rows, _Rows]:
        """The means at w, how far the score test accepts them, and how fast that rises with ln w."""
        size, quantile = n[some], z[some]
        at = _tilt(value[some], observed[some], w)
        away = at.centre - mean[some]
        accepted = quantile * quantile * at.variance - size * away**2
        return at.centre, accepted, w * (2 * size * away * at.slope - quantile * quantile * at.narrowing)

    limits = np.ones(len(n))
    # Values that differ by rounding alone leave nothing to weigh: the rest comes from the unseen report.
    below = greatest < 1
    closed = below & (greatest - least < SAME)
    asked = np.flatnonzero(below & ~closed)
    closed[asked] = tilt_means(np.zeros(len(asked)), asked)[1] >= 0
    limits[closed] = ((mean + z * z / n) / (1 + z * z / n))[closed]
    sought = np.flatnonzero(~closed & (mean < 1))
    if len(sought):
        spread = np.sqrt((observed * (value - mean[:, None]) ** 2).sum(axis=1))[sought]
        # Where the normal approximation ends, at the mean's own slope.
        start = np.where(spread > 0, -z[sought] / np.sqrt(n[sought]) / np.where(spread > 0, spread, 1), -1.0)
        found = _newton(lambda u, some: tilt_means(np.exp(u), sought[some])[1:], start)
        limits[sought] = tilt_means(np.exp(found), sought)[0]
    return limits


class _Likeliest(NamedTuple):
    """The likeliest distributions at some w: their means and variances, and how fast each falls with w."""

    centre: _Rows
    variance: _Rows
    slope: _Rows
    narrowing: _Rows


def _tilt(value: _Rows, observed: _Rows, w: _Rows) -> _Likeliest:
    """Proportional to observed / (1 - value + w value)."""
    tilt = 1 - value + w[:, None] * value
    chances = observed / tilt
    chances /= chances.sum(axis=1, keepdims=True)
    centre = (chances * value).sum(axis=1)
    squares, falls = (value - centre[:, None]) ** 2, value / tilt
    weighed = chances * squares
    variance, fall = weighed.sum(axis=1), (chances * falls).sum(axis=1)
    slope = (chances * value * falls).sum(axis=1) - centre * fall
    return _Likeliest(centre, variance, slope, (weighed * falls).sum(axis=1) - variance * fall)


def _newton(function: Callable[[_Rows, NDArray[np.int64]], tuple[_Rows, _Rows]], start: _Rows) -> _Rows:
    """Where functions, given with their slopes, rise through 0 on the negative numbers.

    Newton's steps, inside brackets that every step narrows; far fewer of them than without slopes.

    Parameters
    ----------
    function : Callable
        Positions, and the numbers of the functions that are asked for: their values and slopes.
    """
    low, high, position = np.full(len(start), _LOWEST), np.zeros(len(start)), np.maximum(start, _LOWEST)
    left = np.arange(len(start))
    for _ in range(100):
        here = position[left]
        value, slope = function(here, left)
        above = value >= 0
        high[left[above]], low[left[~above]] = here[above], here[~above]
        rises = slope > 0
        following = np.where(rises, here - value / np.where(rises, slope, 1), -np.inf)
        bottom, top = low[left], high[left]
        halved = np.where(bottom > _LOWEST, (bottom + top) / 2, np.maximum(2 * here - 1, _LOWEST))
        following = np.where((bottom < following) & (following < top), following, halved)
        position[left] = following
        # The next error is about the square of this.
        left = left[np.abs(following - here) > 1e-11 * np.abs(here)]
        if not len(left):
            break
    return position
