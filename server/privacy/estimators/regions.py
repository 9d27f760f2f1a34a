"""The largest weighted sum of shares of reports over an anytime-valid region of them.

The region holds all chances p of the reports, of one part or of several, whose log-likelihood is
above a bound. The largest sum of values * p over it is found from the dual side: for every t > 0
and every xi that keeps r = 1 + (xi - value) t / n non-negative (positive where reports were seen),

    sum of xi over the parts + (drop - sum of count * log(r)) / t

is not below that largest sum, drop being how far the log-likelihood may fall from its maximum. So
whatever t and xi an iteration ends with, the limit errs on the wide side; at the best of them,
where the chances count / n / r sum to 1 and the log-likelihood is at the bound, it is exact.

References
----------
Owen, A. B. (2001). *Empirical Likelihood*. Chapman & Hall, chapter 2.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

_ROUNDING = 1e-12
"""Limits are moved outwards by this fraction of their distance, more than floats lose."""


def pad_rows(blocks: Sequence[NDArray[Any]], filler: float | None = None) -> NDArray[Any]:
    """Blocks of rows under each other; shorter rows end with the filler, or with their last entry."""
    longest = max(block.shape[1] for block in blocks)
    wide = []
    for block in blocks:
        rest = len(block), longest - block.shape[1]
        ends = np.broadcast_to(block[:, -1:] if filler is None else np.array(filler, block.dtype), rest)
        wide.append(np.concatenate([block, ends], axis=1))
    return np.concatenate(wide)


def allowed_drop(
    counts: NDArray[np.int64], cells: NDArray[np.int64], confidence: float
) -> NDArray[np.float64]:
    """How far below its maximum the log-likelihood of the true chances ever falls, but for 1 - confidence.

    The ratio of the Dirichlet(1/2, ..., 1/2) mixture of likelihoods of each part, multiplied over
    the parts, to the likelihood of the true chances is a non-negative martingale with mean 1, so
    that it ever exceeds 1 / (1 - confidence) with probability at most 1 - confidence (Ville).

    Parameters
    ----------
    counts : ndarray of int, shape (..., parts, cells)
        Of the reports, 0 beyond those of a part.
    cells : ndarray of int, shape (..., parts)
        How many different reports each part has.
    confidence : float
        In (0, 1).

    Returns
    -------
    ndarray, shape (...)
    """
    n = counts.sum(axis=-1)
    terms = [
        np.where(counts > 0, counts * np.log(np.maximum(counts, 1) / np.maximum(n, 1)[..., None]), 0).sum(-1),
        -scipy.special.gammaln(cells / 2),
        scipy.special.gammaln(n + cells / 2),
        -(scipy.special.gammaln(counts + 0.5) - scipy.special.gammaln(0.5)).sum(axis=-1),
    ]
    lost = 1e-15 * sum(np.abs(term) for term in terms)  # by rounding, of counts beyond a thousand million
    exceeded = -math.log1p(-confidence)
    return np.asarray(np.maximum((sum(terms) + lost).sum(axis=-1), 0) + exceeded)


def maximise_over_region(
    values: NDArray[np.float64], counts: NDArray[np.int64], drop: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The largest sum of values * chances over the region, or slightly more, and chances that give it.

    Parameters
    ----------
    values : ndarray, shape (rows, parts, cells)
        What a part's share of a report adds, the part's weight included; every value of a
        part occurs, or may occur, among its reports.
    counts : ndarray of int, shape (rows, parts, cells)
        Every part has a positive sum.
    drop : ndarray, shape (rows,)
        Positive, see `allowed_drop`.

    Returns
    -------
    tuple of ndarray, shapes (rows,) and (rows, parts, cells)
    """
    n = counts.sum(axis=-1)
    observed = counts / n[..., None]
    seen = counts > 0
    centres = (observed * values).sum(axis=-1)
    moved = values - centres[..., None]
    tops = moved.max(axis=-1)
    scale = (tops - moved.min(axis=-1)).sum(axis=-1)
    scale = np.where(scale > 0, scale, 1)
    moved, tops = moved / scale[:, None, None], tops / scale[:, None]
    stretch = _start(moved, tops, observed, n, drop)
    best = np.full(len(values), np.inf)
    chances = observed
    for _ in range(60):
        excess, ratio = _tilt_parts(moved, tops, observed, seen, stretch[:, None] / n)
        room = drop - (counts * np.log(ratio)).sum(axis=(-1, -2))
        reach = (n * excess).sum(axis=-1) / stretch + room / stretch
        chances = np.where((reach < best)[:, None, None], observed / ratio, chances)
        best = np.minimum(best, reach)
        # Newton's step for the logarithm of the stretch; the fall in log-likelihood is convex in it.
        odds = observed / ratio**2
        inner = n * (odds * (ratio - 1) ** 2).sum(axis=-1) / odds.sum(axis=-1)
        rest = 1 - (observed / ratio).sum(axis=-1) > 1e-9  # on an unseen report
        slope = np.where(rest, n, inner).sum(axis=-1)
        step = np.clip(room / np.maximum(slope, 1e-300), -4, 4)
        active = (np.abs(room) > 1e-8 * drop) & (slope > 1e-300)
        if not active.any():
            break
        stretch = np.where(active, stretch * np.exp(step), stretch)
    at_top = moved == tops[..., None]
    missing = np.maximum(1 - chances.sum(axis=-1), 0)[..., None]
    chances = chances + missing * at_top / at_top.sum(axis=-1)[..., None]
    reached = np.minimum(best * (1 + _ROUNDING), tops.sum(axis=-1)) * scale
    centre = centres.sum(axis=-1)
    return np.asarray(centre + reached + _ROUNDING * 1e-2 * np.abs(centre)), chances


def _start(
    moved: NDArray[np.float64],
    tops: NDArray[np.float64],
    observed: NDArray[np.float64],
    n: NDArray[np.int64],
    drop: NDArray[np.float64],
) -> NDArray[np.float64]:
    """A first stretch: that of a normal likelihood, or of reports all equal and another unseen."""
    variance = ((observed * moved**2).sum(axis=-1) / n).sum(axis=-1)
    unseen = np.where(tops > 0, n / np.where(tops > 0, tops, 1), 1).max(axis=-1)
    unseen = unseen * np.exp(np.minimum(drop / n.sum(axis=-1), 50))
    return np.asarray(np.where(variance > 1e-40, np.sqrt(2 * drop / np.maximum(variance, 1e-40)), unseen))


def _tilt_parts(
    moved: NDArray[np.float64],
    tops: NDArray[np.float64],
    observed: NDArray[np.float64],
    seen: NDArray[np.bool_],
    stretch: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The smallest xi t / n that lets each part's chances sum to 1 at most, and r (1 where nothing was seen).

    The sum of chances falls as xi rises, and its reciprocal is concave: Newton's method rises to
    the root from any point before it, as the mean of the values is one.
    """
    tilt = moved * stretch[..., None]
    excess = np.maximum(tops * stretch - 1, np.where(seen, tilt + observed - 1, -np.inf).max(axis=-1))
    excess = np.maximum(excess, 0)
    for _ in range(50):
        ratio = np.where(seen, 1 + (excess[..., None] - tilt), 1)
        chances = observed / ratio
        missing = (chances * (ratio - 1)).sum(axis=-1)
        step = np.maximum(-missing * (1 - missing) / (chances / ratio).sum(axis=-1), 0)
        excess = excess + step
        if (step <= 1e-9 * np.abs(excess)).all():
            break
    return excess, np.where(seen, 1 + (excess[..., None] - tilt), 1)
