"""Estimates from several independent parts: versions under their own designs, strata, or both.

Each part is estimated by itself and the estimates are added, weighted. So the sum is unbiased,
and its variance is the weighted sum of theirs, whatever the designs. Counts that came from
different designs must never be added up themselves: no design describes their sum.

References
----------
Cochran, W. G. (1977). *Sampling Techniques*, 3rd edition, section 5.3. Wiley.
Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures.
*Statistics in Medicine* 27, 1693-1702.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import option, probability
from server.privacy.designs import Design
from server.privacy.estimators.inverse import standard_errors
from server.privacy.estimators.late import LateIntervals
from server.privacy.estimators.limits import added_limits
from server.privacy.estimators.parts import Counts, Parts, Stack, checked_parts
from server.privacy.estimators.share_estimates import possible_shares, share_limits
from server.privacy.estimators.weighted_limits import POOLED_INTERVALS, chosen_interval


@dataclass(frozen=True)
class PooledShares(LateIntervals):
    """Estimated shares of true answers, from several parts.

    Attributes
    ----------
    n : int
        Number of reports, of all parts together.
    sizes : ndarray of int, shape (parts,)
        Number of reports of each part.
    weights : ndarray, shape (parts,)
        What each part counts; they sum to 1.
    shares : ndarray, shape (k,)
        Unbiased, unclipped estimates; they sum to 1.
    standard_errors : ndarray, shape (k,)
        Fractions; infinite when a part that counts has one report, or all reports say the same of a share.
    intervals : ndarray, shape (k, 2)
        Lower and upper limits, unclipped; each share has its own, at `confidence`.
    covariance : ndarray, shape (k, k)
        Unbiased estimate of the covariance of `shares`.
    impossible : bool
        Whether some share is outside [0, 1].
    confidence : float
        Of the intervals.
    interval : str
        Kind of the intervals: "wilson" or "exact".
    """

    n: int
    sizes: NDArray[np.int64]
    weights: NDArray[np.float64]
    shares: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    covariance: NDArray[np.float64]
    impossible: bool
    confidence: float
    interval: str


def estimate_pooled_shares(
    counts: Counts,
    designs: Sequence[Design],
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    interval: str = "wilson",
) -> PooledShares:
    """Estimate the shares of true answers to a question from several independent parts.

    Parameters
    ----------
    counts : sequence of array_like of int, shapes (m1,), (m2,), ...
        Reports of each part; all 0 where a part has none. An array, shape (parts, m), is fastest.
    designs : sequence of Design
        The k x m design of each part, all with the same k truths.
    weights : array_like, shape (parts,), or None
        What each part counts: non-negative, with the sum 1 within 1e-9, and 0 for a part
        without reports. The shares of strata in a population, say (post-stratification).
        None: n_i / n, so that the estimated number of people is the sum of the parts'.
    confidence : float
        In (0, 1), of each interval by itself.
    interval : {"wilson", "exact", "by_size"}
        "wilson" adds Wilson's limits of the parts; they miss too often where parts are small.
        "exact" covers at least `confidence`, for any sizes and any true shares. "by_size" is "exact"
        where a part that counts has fewer than 100 reports; else "wilson".

    Returns
    -------
    PooledShares
        For a single part as `estimate_shares`, to the last digit.

    Raises
    ------
    ValueError
        As `estimate_shares`, or if there is not one design per part, if they have different
        numbers of truths, if no part has a report, or if the weights are out of range.

    Notes
    -----
    sum(w_i s_i), with the covariance sum(w_i^2 C_i): unbiased for the parts' true shares,
    weighted. Wilson's limits are those of the parts, their distances from the estimates weighted,
    squared and added (Zou and Donner 2008); exact ones see `weighted_limits`. All this is given
    the sizes of the parts.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> pooled = estimate_pooled_shares([[600, 400], [270, 30]], [coin_flip(0.25), coin_flip(0.4)])
    >>> pooled.shares.round(6).tolist(), pooled.standard_errors.round(6).tolist()
    ([0.769231, 0.230769], [0.024365, 0.024365])
    >>> estimate_pooled_shares([[600, 400], [270, 30]], [coin_flip(0.25), coin_flip(0.4)], [0.5, 0.5]).shares
    array([0.85, 0.15])
    """
    parts = checked_parts(counts, designs, weights)
    confidence = probability("confidence", confidence, open_interval=True)
    option("interval", interval, POOLED_INTERVALS)
    return pooled_shares_of(parts, confidence, interval)


def pooled_shares_of(parts: Parts, confidence: float, interval: str) -> PooledShares:
    """The estimate from checked parts."""
    counting = parts.counting
    shares = np.sum([each.weights @ each.means(each.inverse) for each in counting], axis=0)
    spread = pooled_covariance(
        np.concatenate([each.weights for each in counting]),
        np.concatenate([each.covariances(each.inverse) for each in counting]),
    )
    kind = chosen_interval(interval, counting)
    return PooledShares(
        n=parts.n,
        sizes=parts.sizes,
        weights=parts.weights,
        shares=shares,
        standard_errors=standard_errors(np.diag(spread)),
        covariance=spread,
        impossible=_impossible(shares, counting),
        confidence=confidence,
        interval=kind,
        start=lambda: share_limits(counting, confidence, kind),
    )


def single_shares_of(
    together: Stack, groups: Sequence[Parts], confidence: float, interval: str
) -> list[PooledShares]:
    """As `pooled_shares_of`, of groups of a single part each (`parts.checked_singles`), side by side."""
    shares, spreads = together.means(together.inverse), together.covariances(together.inverse)
    errors = standard_errors(np.diagonal(spreads, axis1=1, axis2=2))
    found = []
    for place, parts in enumerate(groups):
        kind = chosen_interval(interval, parts.counting)
        steps = partial(share_limits, parts.counting, confidence, kind)
        found.append(
            PooledShares(
                n=int(together.sizes[place]),
                sizes=parts.sizes,
                weights=parts.weights,
                shares=shares[place],
                standard_errors=errors[place],
                covariance=spreads[place],
                impossible=not possible_shares(parts.counting[0], shares[place]),
                confidence=confidence,
                interval=kind,
                start=steps,
            )
        )
    return found


def _impossible(shares: NDArray[np.float64], counting: Sequence[Stack]) -> bool:
    """Whether a share is outside [0, 1]: but for rounding errors, unless a single part knows it exactly."""
    if len(counting) == 1 and len(counting[0].sizes) == 1:
        return not possible_shares(counting[0], shares)
    rounding = 1e-13 * max(float(np.abs(each.inverse).max()) for each in counting)
    return bool(shares.min() < -rounding or shares.max() > 1 + rounding)


def pooled_covariance(weights: NDArray[np.float64], covariances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of the weighted sum of independent estimates; infinite when one is, however small its weight.

    Parameters
    ----------
    weights : ndarray, shape (parts,)
    covariances : ndarray, shape (parts, k, k)
    """
    if not np.isfinite(covariances).all():
        return np.full(covariances.shape[1:], np.inf)
    return np.asarray(np.tensordot(weights**2, covariances, axes=1))


def pooled_intervals(
    weights: NDArray[np.float64], values: NDArray[np.float64], intervals: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Limits of each entry of the weighted sum, shape (entries, 2), from those of the parts.

    Parameters
    ----------
    weights : ndarray, shape (parts,)
    values : ndarray, shape (parts, entries)
    intervals : ndarray, shape (parts, entries, 2)
    """
    return np.array(
        [added_limits(weights, values[:, entry], intervals[:, entry]) for entry in range(values.shape[1])]
    )
