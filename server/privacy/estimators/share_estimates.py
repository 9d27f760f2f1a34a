"""Shares of true answers to one question."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import option, probability
from server.privacy.designs import Design
from server.privacy.estimators.inverse import checked_reports, left_inverse, standard_errors
from server.privacy.estimators.late import LateIntervals
from server.privacy.estimators.limits import INTERVALS
from server.privacy.estimators.parts import Stack, stack_single
from server.privacy.estimators.together import Steps
from server.privacy.estimators.weighted_limits import limits_of_sums


@dataclass(frozen=True)
class ShareEstimate(LateIntervals):
    """Estimated shares of true answers.

    Attributes
    ----------
    n : int
        Number of reports.
    observed : ndarray, shape (m,)
        Shares of the reports, after the coins.
    shares : ndarray, shape (k,)
        Unbiased, unclipped estimates; they sum to 1.
    standard_errors : ndarray, shape (k,)
        Fractions; infinite when n is 1, or all reports say the same of a share: no variance can be estimated.
    intervals : ndarray, shape (k, 2)
        Lower and upper limits, unclipped; each share has its own, at `confidence`.
    covariance : ndarray, shape (k, k)
        Unbiased estimate of the covariance of `shares`.
    impossible : bool
        Whether some share is outside [0, 1], that is, whether reports came in
        proportions that no true shares produce in expectation.
    confidence : float
        Of the intervals.
    interval : str
        Kind of the intervals.
    """

    n: int
    observed: NDArray[np.float64]
    shares: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    covariance: NDArray[np.float64]
    impossible: bool
    confidence: float
    interval: str


def estimate_shares(
    counts: ArrayLike, design: Design, confidence: float = 0.95, interval: str = "wilson"
) -> ShareEstimate:
    """Estimate the shares of true answers to a question.

    Parameters
    ----------
    counts : array_like of int, shape (m,)
        Reports received; (no, yes) for a yes/no question.
    design : Design
        The k x m design that produced them.
    confidence : float
        In (0, 1), of each interval by itself.
    interval : {"wilson", "exact", "wald"}
        Yes/no designs (and any share whose estimate gives only two values to a report, as
        in k-ary response): the interval for the share of those reports; its limits are
        carried through the estimator, which is monotone. "wilson" covers `confidence` on
        average; "exact" (Blaker 2000) never less, for any n and any true share, and is
        inside Clopper and Pearson's; "wald" under-covers and is there for comparison with
        published analyses. Other designs: see `limits.linear_limits`; "exact" is then that
        of `design_limits`: guaranteed, and often wider.

    Returns
    -------
    ShareEstimate

    Raises
    ------
    ValueError
        If the counts are not m non-negative whole numbers with a positive sum, count a
        report that no truth can send, the design is singular, or another argument is out
        of range.

    Notes
    -----
    The shares s solve P^T s = observed, by least squares when m > k (see
    `inverse.left_inverse`); their covariance is L (diag(o) - o o^T) L^T / (n - 1). Both
    are exactly unbiased whatever the true shares.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> estimate = estimate_shares([600, 400], coin_flip(0.25))
    >>> round(float(estimate.shares[1]), 6), round(float(estimate.standard_errors[1]), 6)
    (0.3, 0.030999)
    >>> estimate_shares([600, 400], coin_flip(0.25), interval="exact").intervals[1].round(4).tolist()
    [0.2398, 0.3619]
    """
    left_inverse(design)
    reports = checked_reports(counts, design)
    confidence = probability("confidence", confidence, open_interval=True)
    option("interval", interval, INTERVALS)
    part = stack_single(reports, design)
    (shares,) = part.means(part.inverse)
    (spread,) = part.covariances(part.inverse)
    n = int(part.sizes[0])
    return ShareEstimate(
        n=n,
        observed=reports / n,
        shares=shares,
        standard_errors=standard_errors(np.diag(spread)),
        covariance=spread,
        impossible=not possible_shares(part, shares),
        confidence=confidence,
        interval=interval,
        start=lambda: share_limits([part], confidence, interval),
    )


def share_limits(stacks: Sequence[Stack], confidence: float, interval: str) -> Steps[NDArray[np.float64]]:
    """Limits of the weighted sum of the parts' shares, shape (k, 2)."""
    rows = [share_rows(each) for each in stacks]
    sums = [list(of_stacks) for of_stacks in zip(*rows, strict=True)]
    found = yield from limits_of_sums(stacks, sums, confidence, interval)
    return limits_of_all(np.array(found))


def share_rows(parts: Stack) -> NDArray[np.float64]:
    """What each report adds to the shares of which limits are computed; of two shares to the second."""
    return parts.inverse if len(parts.inverse) > 2 else parts.inverse[1:]


def limits_of_all(limits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Limits of every share, from those of `share_rows`: of two shares one is what the other leaves."""
    return limits if len(limits) > 1 else np.concatenate([1 - limits[:, ::-1], limits])


def possible_shares(part: Stack, shares: NDArray[np.float64]) -> bool:
    """Whether all shares of one part are in [0, 1]: in whole numbers for 2 x 2, else but for rounding errors."""
    weights = part.design.weights
    if weights.shape == (2, 2):
        low, high = sorted(weights[:, 1].tolist())
        no, yes = part.reports[0].tolist()
        total = int(weights[0].sum())
        return bool(low * (no + yes) <= yes * total <= high * (no + yes))
    rounding = 1e-13 * float(np.abs(part.inverse).max())
    return bool(shares.min() >= -rounding and shares.max() <= 1 + rounding)
