"""Estimators: from counts of noisy reports to unbiased shares of true answers.

Everything here is a function of a design and of counts; nothing looks at single
responses. Estimates are never clipped: a share below 0 or above 1 is information about
chance (or about respondents who did not follow the design) and is flagged instead.

References
----------
Wilson, E. B. (1927). Probable inference, the law of succession, and statistical
inference. *JASA* 22, 209-212.
Blair, G., Imai, K. and Zhou, Y.-Y. (2015). Design and analysis of the randomized
response technique. *JASA* 110, 1304-1319.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, bdtrc, ndtri

from server.privacy.designs import Design

INTERVALS = ("wilson", "wald")
"""Kinds of interval that `estimate_shares` offers."""


@dataclass(frozen=True)
class ShareEstimate:
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
        Fractions; infinite when n is 1, where no variance can be estimated.
    intervals : ndarray, shape (k, 2)
        Lower and upper limits, unclipped.
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
    intervals: NDArray[np.float64]
    covariance: NDArray[np.float64]
    impossible: bool
    confidence: float
    interval: str


def estimate_shares(
    counts: ArrayLike, design: Design, confidence: float = 0.95, interval: str = "wilson"
) -> ShareEstimate:
    """Estimate the shares of true answers to a yes/no question.

    Parameters
    ----------
    counts : array_like of int, shape (2,)
        Reports received, ordered (no, yes).
    design : Design
        The 2 x 2 design that produced them.
    confidence : float
        In (0, 1).
    interval : {"wilson", "wald"}
        The interval for the share of "yes" reports; its limits are carried through the
        estimator, which is monotone. Wald under-covers and is there for comparison with
        published analyses.

    Returns
    -------
    ShareEstimate

    Raises
    ------
    ValueError
        If the counts are not two non-negative whole numbers with a positive sum, the
        design is not 2 x 2 or cannot be inverted, or another argument is out of range.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> estimate = estimate_shares([600, 400], coin_flip(0.25))
    >>> round(float(estimate.shares[1]), 6), round(float(estimate.standard_errors[1]), 6)
    (0.3, 0.030999)
    """
    reports = _checked_counts(counts, design)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be in the open interval (0, 1); it is {confidence!r}")
    if interval not in INTERVALS:
        raise ValueError(f"interval must be one of {', '.join(INTERVALS)}; it is {interval!r}")
    n = int(reports.sum())
    observed = reports / n
    inverse = _inverse(design)
    shares = inverse @ observed
    if n > 1:
        covariance = inverse @ ((np.diag(observed) - np.outer(observed, observed)) / (n - 1)) @ inverse.T
    else:
        covariance = np.full((2, 2), math.inf)
    z = float(ndtri((1 + confidence) / 2))
    limits = _wilson(observed, n, z) if interval == "wilson" else _wald(observed, n, z)
    intervals = _carried(limits, design)
    return ShareEstimate(
        n=n,
        observed=observed,
        shares=shares,
        standard_errors=np.sqrt(np.diag(covariance)),
        intervals=intervals,
        covariance=covariance,
        impossible=not _possible(reports, design),
        confidence=confidence,
        interval=interval,
    )


def impossible_share_test(counts: ArrayLike, design: Design) -> float:
    """How well chance alone explains an observed share outside the design's range.

    Under a yes/no design the share of "yes" reports lies, in expectation, between
    Pr(yes | no) and Pr(yes | yes). This is the exact one-sided binomial test that it
    lies on the nearer limit or inside.

    Parameters
    ----------
    counts : array_like of int, shape (2,)
        Reports received, ordered (no, yes).
    design : Design
        The 2 x 2 design that produced them.

    Returns
    -------
    float
        The p value: 1.0 when the observed share is inside the range.

    Raises
    ------
    ValueError
        As `estimate_shares`.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> round(impossible_share_test([764, 236], coin_flip(0.25)), 2)
    0.16
    """
    no, yes = _checked_counts(counts, design).tolist()
    n = no + yes
    low, high = sorted(design.matrix[:, 1].tolist())
    if yes < low * n:
        return float(bdtr(yes, n, low))
    if yes > high * n:
        return float(bdtrc(yes - 1, n, high))
    return 1.0


def _checked_counts(counts: ArrayLike, design: Design) -> NDArray[np.int64]:
    if design.weights.shape != (2, 2):
        raise ValueError(f"design must have shape (2, 2); it has {design.weights.shape}")
    if design.weights[0, 1] == design.weights[1, 1]:
        raise ValueError("design must tell the two answers apart; its rows are equal")
    array = np.asarray(counts)
    if array.shape != (2,):
        raise ValueError(f"counts must have shape (2,), ordered (no, yes); their shape is {array.shape}")
    if array.dtype.kind not in "iu":
        raise ValueError(f"counts must be whole numbers; they are {array.tolist()!r}")
    if (array < 0).any():
        raise ValueError(f"counts must not be negative; they are {array.tolist()!r}")
    if array.sum() == 0:
        raise ValueError("counts must have a positive sum; they are all 0")
    return array.astype(np.int64)


def _inverse(design: Design) -> NDArray[np.float64]:
    """Solve P^T s = o for s: the estimator as a matrix, shape (k, m)."""
    return np.linalg.inv(design.matrix.T).astype(np.float64)


def _possible(reports: NDArray[np.int64], design: Design) -> bool:
    """Compare observed and possible shares in whole numbers, so that no rounding flags a limit."""
    low, high = sorted(design.weights[:, 1].tolist())
    no, yes = reports.tolist()
    total = int(design.weights[0].sum())
    return bool(low * (no + yes) <= yes * total <= high * (no + yes))


def _wilson(observed: NDArray[np.float64], n: int, z: float) -> NDArray[np.float64]:
    yes = observed[1]
    centre = (yes + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(yes * (1 - yes) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return np.array([max(centre - half, 0.0), min(centre + half, 1.0)])


def _wald(observed: NDArray[np.float64], n: int, z: float) -> NDArray[np.float64]:
    yes = observed[1]
    half = z * math.sqrt(yes * (1 - yes) / n)
    return np.array([yes - half, yes + half])


def _carried(limits: NDArray[np.float64], design: Design) -> NDArray[np.float64]:
    """Carry limits for the share of "yes" reports through the estimator to both shares."""
    yes_if_no, yes_if_yes = design.matrix[:, 1]
    low, high = sorted(((limits - yes_if_no) / (yes_if_yes - yes_if_no)).tolist())
    return np.array([[1 - high, 1 - low], [low, high]])
