"""Exact limits for shares, of many at once: those of Blaker, which are inside Clopper and Pearson's.

References
----------
Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits
illustrated in the case of the binomial. *Biometrika* 26, 404-413.
Blaker, H. (2000). Confidence curves and improved exact confidence intervals for discrete
distributions. *Canadian Journal of Statistics* 28, 783-798.
Klaschka, J. (2010). On calculation of Blaker's binomial confidence limits. *COMPSTAT*.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from server.privacy.estimators.together import Request

_Rows = NDArray[np.float64]
_Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SeenShares(Request):
    """Shares of which exact limits are asked for.

    Attributes
    ----------
    yes, n : ndarray of int, shape (shares,)
        Of n reports each, how many were counted.
    confidence : float
        In (0, 1), of each share.
    """

    yes: _Counts
    n: _Counts
    confidence: float

    @classmethod
    def answer_all(cls, requests: Sequence["SeenShares"]) -> list[_Rows]:
        """Blaker's limits, shape (shares, 2)."""
        yes, n = (np.concatenate([getattr(each, name) for each in requests]) for name in ("yes", "n"))
        lengths = [len(each.n) for each in requests]
        found = blaker_limits(yes, n, np.repeat([each.confidence for each in requests], lengths))
        return np.split(found, np.cumsum(lengths)[:-1])


def blaker_limits(yes: _Counts, n: _Counts, confidence: _Rows) -> _Rows:
    """Blaker's exact limits: inside Clopper and Pearson's, covering for every share.

    A share is accepted when the smaller tail of the observed count, plus the largest
    opposite tail that is not larger, exceeds 1 - confidence. The limits are the smallest
    and the largest accepted share (the accepted set can have gaps; filling them only
    adds coverage).

    Parameters
    ----------
    yes, n : ndarray of int, shape (shares,)
    confidence : ndarray, shape (shares,)

    Returns
    -------
    ndarray, shape (shares, 2)
    """
    asked = np.stack([np.concatenate([yes, n - yes]), np.tile(n, 2), np.tile(1 - confidence, 2)])
    # Hundreds of small strata have the same few numbers of reports.
    different, places = np.unique(asked, axis=1, return_inverse=True)
    found = _lower_limits(different[0].astype(np.int64), different[1].astype(np.int64), different[2])[places]
    return np.stack([found[: len(n)], 1 - found[len(n) :]], axis=1)


def _lower_limits(yes: _Counts, n: _Counts, alpha: _Rows) -> _Rows:
    limits = np.zeros(len(n))
    some = yes > 0
    if some.any():
        limits[some] = _lower_limits_of_some(yes[some], n[some], alpha[some])
    return limits


def _lower_limits_of_some(yes: _Counts, n: _Counts, alpha: _Rows) -> _Rows:
    # Clopper and Pearson's limit: the upper tail is alpha / 2 there, so at most alpha is accepted.
    # Above it the acceptance is, until the opposite tail gains its next count, one smooth function
    # that can cross alpha only upwards; and where it gains that count, both tails are equal and
    # above alpha / 2. So the limit is the crossing or that point, whichever comes first.
    nearest, middle = (
        np.asarray(scipy.special.betaincinv(yes, n - yes + 1, part), dtype=np.float64)
        for part in (alpha / 2, 0.5)
    )
    opposite, beyond = np.full(len(n), -1), yes - 1
    while (beyond - opposite > 1).any():
        count = (opposite + beyond) // 2
        smaller = _lower_tail(count, n, nearest) <= alpha / 2
        opposite, beyond = np.where(smaller, count, opposite), np.where(smaller, beyond, count)

    def find_gain(share: _Rows, yes: _Counts, n: _Counts, opposite: _Counts) -> _Rows:
        return np.asarray(
            scipy.special.betainc(yes, n - yes + 1, share) - _lower_tail(opposite + 1, n, share)
        )

    def find_acceptance(share: _Rows, yes: _Counts, n: _Counts, opposite: _Counts, alpha: _Rows) -> _Rows:
        return np.asarray(
            scipy.special.betainc(yes, n - yes + 1, share) + _lower_tail(opposite, n, share) - alpha
        )

    gain = _find_rises(find_gain, nearest, middle, yes, n, opposite)
    limit = _find_rises(find_acceptance, nearest, gain, yes, n, opposite, alpha)
    # A step outwards by more than the error of the root: the interval errs on the wide side.
    return np.maximum(nearest, limit * (1 - 1e-12))


def _lower_tail(count: _Counts, n: _Counts, share: _Rows) -> _Rows:
    some = count >= 0
    return np.where(
        some, scipy.special.betaincc(np.where(some, count, 0) + 1, n - np.where(some, count, 0), share), 0
    )


def _find_rises(
    function: Callable[..., _Rows], low: _Rows, high: _Rows, *of_each: NDArray[np.float64] | _Counts
) -> _Rows:
    """Where functions rise through 0; an end of [low, high] where one does not do so inside."""
    # Imported here: it takes as long to load as all else of SciPy, and most commands compute no limits.
    from scipy.optimize.elementwise import find_root

    at_low, at_high = function(low, *of_each), function(high, *of_each)
    places = np.where(at_low >= 0, low, high)
    inside = np.flatnonzero((at_low < 0) & (at_high > 0))
    if len(inside):
        found = find_root(
            function,
            (low[inside], high[inside]),
            args=tuple(values[inside] for values in of_each),
            tolerances={"xatol": 1e-300, "xrtol": 1e-14, "fatol": 0, "frtol": 0},
        )
        places[inside] = found.x
    return places
