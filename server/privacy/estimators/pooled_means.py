"""The mean of a bounded number, from several independent parts.

References
----------
Cochran, W. G. (1977). *Sampling Techniques*, 3rd edition, sections 5.3 and 6.11. Wiley.
Fieller, E. C. (1954). Some problems in interval estimation. *JRSS B* 16, 175-185.
"""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from server.privacy._checks import option, probability
from server.privacy.designs import Design
from server.privacy.estimators.answered_means import (
    AnsweredMeanEstimate,
    answered_mean_of,
    require_prefer_not_to_say,
)
from server.privacy.estimators.mean_estimates import MeanEstimate, checked_range, mean_of
from server.privacy.estimators.parts import Counts, Parts, checked_parts
from server.privacy.estimators.weighted_limits import POOLED_INTERVALS, chosen_interval


def estimate_pooled_mean(
    counts: Counts,
    designs: Sequence[Design],
    low: float,
    high: float,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    interval: str = "wilson",
) -> MeanEstimate:
    """Estimate the mean of a number in [low, high] from several independent parts.

    Parameters
    ----------
    counts, designs, weights, confidence, interval
        As in `estimate_pooled_shares`.
    low, high : float
        As in `estimate_mean`.

    Returns
    -------
    MeanEstimate
        For a single part as `estimate_mean`, to the last digit; `n` is the total, and the
        standard error is infinite when a part that counts has one report.

    Raises
    ------
    ValueError
        As `estimate_pooled_shares`, or if low and high are not finite with low < high.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> parts = [[600, 400], [270, 30]], [coin_flip(0.25), coin_flip(0.4)]
    >>> estimate = estimate_pooled_mean(*parts, low=0, high=40)
    >>> round(estimate.mean, 4), round(estimate.standard_error, 4)
    (9.2308, 0.9746)
    """
    bottom, top = checked_range(low, high)
    parts = checked_parts(counts, designs, weights)
    confidence = probability("confidence", confidence, open_interval=True)
    option("interval", interval, POOLED_INTERVALS)
    return pooled_mean_of(parts, (bottom, top), confidence, interval)


def pooled_mean_of(parts: Parts, ends: tuple[float, float], confidence: float, interval: str) -> MeanEstimate:
    """The estimate from checked parts."""
    kind = chosen_interval(interval, parts.counting)
    return mean_of(parts.counting, parts.n, ends, confidence, kind)


def estimate_pooled_answered_mean(
    counts: Counts,
    designs: Sequence[Design],
    low: float,
    high: float,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
    interval: str = "wilson",
) -> AnsweredMeanEstimate:
    """Estimate the mean among the people who gave a number, from several independent parts.

    Parameters
    ----------
    counts, designs, weights, confidence, interval
        As in `estimate_pooled_shares`; the last truth of each design is "prefer not to say". "exact" of
        several parts is everything the mean could be: [low, high], and the estimate.
    low, high : float
        As in `estimate_answered_mean`.

    Returns
    -------
    AnsweredMeanEstimate
        For a single part as `estimate_answered_mean`, to the last digit.

    Raises
    ------
    ValueError
        As `estimate_pooled_mean`, or if the designs have fewer than 3 truths.

    Notes
    -----
    The ratio of the pooled sum(v s) to the pooled D, not a mean of the parts' ratios: those
    who gave no number count nothing, in whichever part they are. Standard error and interval
    are those of `estimate_answered_mean`, with the pooled variance of sum((v - mean) s) and
    the pooled limits of sum((v - mu) s).

    Examples
    --------
    >>> from server.privacy.designs import k_ary
    >>> parts = [[420, 330, 250], [90, 200, 10]], [k_ary(3, 2.0), k_ary(3, 4.0)]
    >>> estimate = estimate_pooled_answered_mean(*parts, low=0, high=40)
    >>> round(estimate.mean, 3), round(estimate.standard_error, 3), round(estimate.answered, 3)
    (19.703, 0.8, 0.834)
    """
    bottom, top = checked_range(low, high)
    parts = checked_parts(counts, designs, weights)
    confidence = probability("confidence", confidence, open_interval=True)
    require_prefer_not_to_say(parts.by_design[0][0], "designs[0]")
    option("interval", interval, POOLED_INTERVALS)
    return pooled_answered_mean_of(parts, (bottom, top), confidence, interval)


def pooled_answered_mean_of(
    parts: Parts, ends: tuple[float, float], confidence: float, interval: str
) -> AnsweredMeanEstimate:
    """The estimate from checked parts."""
    kind = chosen_interval(interval, parts.counting)
    return answered_mean_of(parts.counting, parts.n, ends, confidence, kind)
