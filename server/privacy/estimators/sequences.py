"""Intervals that stay valid however often, and whenever, one looks.

References
----------
Robbins, H. (1970). Statistical methods related to the law of the iterated logarithm.
*Annals of Mathematical Statistics* 41, 1397-1409.
Waudby-Smith, I., Wu, S. and Ramdas, A. (2023). Nonparametric extensions of randomized
response for private confidence sets. *ICML*.
"""

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import check_range, probability, whole_numbers
from server.privacy.designs import Design
from server.privacy.estimators.inverse import MOST_REPORTS, require_yes_no


@dataclass(frozen=True)
class ConfidenceSequence:
    """A confidence sequence for a true share, at one look or at several.

    Attributes
    ----------
    n : ndarray of int, shape of the looks (() for one)
        Number of reports at each look.
    shares : ndarray, shape of the looks
        Unbiased, unclipped estimates of the share of "yes".
    intervals : ndarray, shape (..., 2)
        Lower and upper limits, unclipped.
    confidence : float
        Of all the intervals together.
    """

    n: NDArray[np.int64]
    shares: NDArray[np.float64]
    intervals: NDArray[np.float64]
    confidence: float


def confidence_sequence(
    yes: ArrayLike, n: ArrayLike, design: Design, confidence: float = 0.95
) -> ConfidenceSequence:
    """Anytime-valid interval for the true share of "yes".

    The chance that the true share is *ever* outside, at any of all the looks that were or
    could have been taken, is at most 1 - confidence. So a study may be watched as it comes
    in and stopped when the interval is narrow enough, which no fixed-sample interval
    allows.

    Parameters
    ----------
    yes : int or array_like of int
        "Yes" reports so far.
    n : int or array_like of int
        Reports so far, at least 1; of the same shape, one entry per look.
    design : Design
        The 2 x 2 design that produced them.
    confidence : float
        In (0, 1).

    Returns
    -------
    ConfidenceSequence
        Each look is computed from its own counts: looks need not be in order or complete.

    Raises
    ------
    ValueError
        If n is not in [1, 2**53], yes is not in [0, n], the shapes differ, the design is
        not 2 x 2 or singular, or confidence is outside (0, 1).

    Notes
    -----
    The ratio of the Beta(1/2, 1/2) mixture of likelihoods to the likelihood of a share of
    "yes" reports is a non-negative martingale with mean 1 under that share, so that it
    ever exceeds 1 / (1 - confidence) with probability at most 1 - confidence (Ville). The
    interval holds the shares whose ratio is below; its width falls like
    sqrt(log(n) / n).

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> confidence_sequence(400, 1000, coin_flip(0.25)).intervals.round(4).tolist()
    [0.1889, 0.4146]
    """
    require_yes_no(design)
    confidence = probability("confidence", confidence, open_interval=True)
    seen, sizes = whole_numbers("yes", yes), whole_numbers("n", n)
    if seen.shape != sizes.shape or seen.size == 0:
        raise ValueError(
            f"yes and n must have one shape and an entry each; their shapes are {seen.shape} and {sizes.shape}"
        )
    check_range("n", sizes, 1, MOST_REPORTS)
    beyond = (seen < 0) | (seen > sizes)
    if beyond.any():
        look = int(np.flatnonzero(beyond.ravel())[0])
        raise ValueError(f"yes must be in [0, n = {sizes.ravel()[look]}]; one is {seen.ravel()[look]}")
    limits = sequence_limits(seen, sizes, confidence)
    yes_if_no, yes_if_yes = design.matrix[:, 1].tolist()
    carried = (limits - yes_if_no) / (yes_if_yes - yes_if_no)
    return ConfidenceSequence(
        n=sizes,
        shares=np.asarray((seen / sizes - yes_if_no) / (yes_if_yes - yes_if_no)),
        intervals=np.sort(carried, axis=-1),
        confidence=confidence,
    )


def sequence_limits(yes: NDArray[np.int64], n: NDArray[np.int64], confidence: float) -> NDArray[np.float64]:
    """Limits for the shares of "yes" reports themselves, shape (..., 2)."""
    # The mixture over the likelihood is below 1 / (1 - confidence) where the log-likelihood is above this.
    bound = np.asarray(scipy.special.betaln(yes + 0.5, n - yes + 0.5), dtype=np.float64)
    bound += math.log1p(-confidence) - float(scipy.special.betaln(0.5, 0.5))
    low, high = _lower(np.stack([yes, n - yes]), n, bound)
    return np.stack([low, 1 - high], axis=-1)


def _lower(yes: NDArray[np.int64], n: NDArray[np.int64], bound: NDArray[np.float64]) -> NDArray[np.float64]:
    """The smaller share at which the log-likelihood equals the bound; 0 when there is no "yes".

    In log odds the log-likelihood is concave and below the line yes * odds. Newton's
    method from where that line meets the bound therefore rises to the root without ever
    passing it: stopped anywhere, it errs on the wide side.
    """
    odds = bound / np.maximum(yes, 1)
    for _ in range(200):
        excess = bound - yes * odds + n * np.logaddexp(0, odds)
        slope = yes - n * scipy.special.expit(odds)
        step = np.where(slope > 0, np.maximum(excess, 0) / np.maximum(slope, 1e-300), 0)
        odds = odds + step
        if np.all(step <= 1e-9):  # the next one would be about its square
            break
    return np.where(yes > 0, scipy.special.expit(odds) * (1 - 1e-12), 0.0)
