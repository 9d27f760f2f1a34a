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

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import option, probability
from server.privacy.designs import Design
from server.privacy.estimators.inverse import possible_reports, standard_errors
from server.privacy.estimators.late import LateIntervals
from server.privacy.estimators.limits import added_limits
from server.privacy.estimators.parts import Part, checked_parts
from server.privacy.estimators.shares import estimate_shares
from server.privacy.estimators.together import Steps
from server.privacy.estimators.weighted_limits import POOLED_INTERVALS, chosen_interval, limits_of_sums


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
    counts: Sequence[ArrayLike],
    designs: Sequence[Design],
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    interval: str = "wilson",
) -> PooledShares:
    """Estimate the shares of true answers to a question from several independent parts.

    Parameters
    ----------
    counts : sequence of array_like of int, shapes (m1,), (m2,), ...
        Reports of each part; all 0 where a part has none.
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
    counting = [part for part in parts if part.weight]
    weights_used = [part.weight for part in counting]
    estimates = [estimate_shares(part.reports, part.design, confidence) for part in counting]
    shares = np.sum([part.weight * one.shares for part, one in zip(counting, estimates, strict=True)], axis=0)
    possible = [possible_reports(part.design) for part in counting]
    rows = [part.inverse[:, may] for part, may in zip(counting, possible, strict=True)]
    seen = [part.reports[may] for part, may in zip(counting, possible, strict=True)]
    matrices = [part.design.matrix[:, may] for part, may in zip(counting, possible, strict=True)]
    kind = chosen_interval(interval, [int(own.sum()) for own in seen])
    spread = pooled_covariance(weights_used, [one.covariance for one in estimates])

    def limits() -> Steps[NDArray[np.float64]]:
        each = [[own[entry] for own in rows] for entry in range(len(shares))]
        found = yield from limits_of_sums(weights_used, each, seen, confidence, kind, matrices)
        return np.array(found)

    return PooledShares(
        n=sum(int(part.reports.sum()) for part in parts),
        sizes=np.array([part.reports.sum() for part in parts]),
        weights=np.array([part.weight for part in parts]),
        shares=shares,
        standard_errors=standard_errors(np.diag(spread)),
        covariance=spread,
        impossible=pooled_impossible(shares, counting, [one.impossible for one in estimates]),
        confidence=confidence,
        interval=kind,
    ).computing(limits)


def pooled_covariance(
    weights: Sequence[float], covariances: Sequence[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Of the weighted sum of independent estimates; infinite when one is, however small its weight."""
    if not all(np.isfinite(one).all() for one in covariances):
        return np.full(covariances[0].shape, np.inf)
    return np.asarray(
        np.sum([weight**2 * one for weight, one in zip(weights, covariances, strict=True)], axis=0)
    )


def pooled_intervals(
    weights: Sequence[float],
    values: Sequence[NDArray[np.float64]],
    intervals: Sequence[NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Limits of each entry of the weighted sum, shape (entries, 2), from those of the parts."""
    return np.array(
        [
            added_limits(
                weights,
                [float(value[entry]) for value in values],
                [(float(ends[entry, 0]), float(ends[entry, 1])) for ends in intervals],
            )
            for entry in range(len(values[0]))
        ]
    )


def pooled_impossible(pooled: NDArray[np.float64], parts: Sequence[Part], alone: Sequence[bool]) -> bool:
    """Whether an entry is outside [0, 1]: but for rounding errors, unless a single part knows it exactly."""
    if len(alone) == 1:
        return alone[0]
    rounding = 1e-13 * max(float(np.abs(part.inverse).max()) for part in parts)
    return bool(pooled.min() < -rounding or pooled.max() > 1 + rounding)
