"""Respondents of a crosswise question who do not attend, measured by an anchor question whose share is known.

References
----------
Atsusaka, Y. and Stevenson, R. T. (2023). A bias-corrected estimator for the crosswise model
with inattentive respondents. *Political Analysis* 31, 134-148 (online 2021).
Fieller, E. C. (1954). Some problems in interval estimation. *JRSS B* 16, 175-185.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import probability
from server.privacy.designs import crosswise
from server.privacy.estimators.compliance import lower_tail, upper_tail
from server.privacy.estimators.fieller_limits import divide_means, fieller_limits
from server.privacy.estimators.inverse import checked_tally
from server.privacy.estimators.limits import wilson_limits
from server.privacy.estimators.share_estimates import estimate_shares


@dataclass(frozen=True)
class AttentiveShare:
    """A sensitive share of which what inattention does was taken out.

    Attributes
    ----------
    n : int
        Number of respondents.
    share : float
        Of "yes" to the sensitive question, unclipped; NaN where the anchor says that nobody attended.
        A ratio of two unbiased estimates: its bias is of the order 1/n.
    standard_error : float
        By the delta method, with the covariance of both reports of a respondent; infinite where the
        rows do not tell.
    interval : tuple of float
        Fieller's; without ends where the reports do not show that anybody attended.
    attentive : float
        Share of people who attend, unbiased and unclipped.
    attentive_error : float
    attentive_interval : tuple of float
        Wilson's, of the anchor question.
    inattention_p_value : float
        Of everybody attending, by the anchor question alone: an exact binomial test, one-sided.
    uncorrected : float
        The share of the crosswise model, as if everybody attended.
    uncorrected_error : float
    uncorrected_interval : tuple of float
        Wilson's, of the sensitive question.
    confidence : float
        Of each interval.
    """

    n: int
    share: float
    standard_error: float
    interval: tuple[float, float]
    attentive: float
    attentive_error: float
    attentive_interval: tuple[float, float]
    inattention_p_value: float
    uncorrected: float
    uncorrected_error: float
    uncorrected_interval: tuple[float, float]
    confidence: float


def correct_inattention(
    counts: ArrayLike,
    prevalence: float,
    anchor_prevalence: float,
    anchor_share: float = 0.0,
    confidence: float = 0.95,
) -> AttentiveShare:
    """Estimate a share by the crosswise model where some answer like a coin.

    Parameters
    ----------
    counts : array_like of int, shape (2, 2)
        Respondents by their report to the sensitive question (rows) and to the anchor question
        (columns), both ordered ("different", "same").
    prevalence : float
        Of the innocuous item of the sensitive question, in (0, 1) and not 1/2.
    anchor_prevalence : float
        Of that of the anchor question, in [0, 1] and not 1/2: 0 or 1 where of each person both answers are known.
    anchor_share : float
        Of "yes" to the anchor question, known, in [0, 1] and not 1/2: as a rule 0.
    confidence : float
        In (0, 1), of each interval.

    Returns
    -------
    AttentiveShare

    Raises
    ------
    ValueError
        If the counts are no such table with a positive sum, or another argument is out of its range.

    Notes
    -----
    Who attends, a share g, reports by the crosswise model; who does not says "same" with chance
    1/2. The chance of "same" is then 1/2 + g (2 p - 1) (share - 1/2), and of the anchor question
    1/2 + g (2 p' - 1) (anchor_share - 1/2), which gives g, and with it the share: that of Atsusaka
    and Stevenson. It holds if the same people attend to both questions, as often with the
    trait as without. The interval has the shares for which the sum of reports that is 0 there does
    not differ from 0 (Fieller 1954).

    Of two groups as in `estimate_extended_crosswise`, both reports of the second are turned
    round beforehand: "same" for "different". Who says one of these whatever is true is then taken
    out, too, where groups are as large and have as many of them.

    Examples
    --------
    >>> found = correct_inattention([[173, 400], [286, 1141]], prevalence=0.15, anchor_prevalence=0.15)
    >>> round(found.share, 4), round(found.attentive, 4), round(found.uncorrected, 4)
    (0.1054, 0.7729, 0.195)
    """
    item = crosswise(probability("prevalence", prevalence, open_interval=True))
    beside = probability("anchor_prevalence", anchor_prevalence)
    if beside == 0.5:
        raise ValueError("anchor_prevalence must not be 1/2, where attending shows in no report")
    known = probability("anchor_share", anchor_share)
    if known == 0.5:
        raise ValueError("anchor_share must not be 1/2, where attending shows in no report")
    table = checked_tally(counts, (item, item), "counts")
    confidence = probability("confidence", confidence, open_interval=True)
    n, same = int(table.sum()), int(table[:, 1].sum())
    means = np.array([table[1].sum(), same]) / n - 0.5
    covariance = _covariance(table, n)
    item_slope = float(item.matrix[1, 1] - item.matrix[0, 1])
    full = compute_full_attendance(beside, known)
    ratio = full / item_slope  # the share less 1/2 is this times the quotient of the means
    as_one = estimate_shares(table.sum(axis=1), item, confidence)
    uncorrected_low, uncorrected_high = as_one.intervals[1].tolist()
    attentive_limits = sorted((limit - 0.5) / full for limit in wilson_limits(same, n, confidence))
    share, error = divide_means(means, covariance, ratio)
    low, high = fieller_limits(means, covariance, ratio, confidence)
    tail = lower_tail if full > 0 else upper_tail
    return AttentiveShare(
        n=n,
        share=0.5 + share,
        standard_error=error,
        interval=(0.5 + low, 0.5 + high),
        attentive=float(means[1] / full),
        attentive_error=math.sqrt(covariance[1, 1]) / abs(full),
        attentive_interval=(attentive_limits[0], attentive_limits[1]),
        inattention_p_value=float(tail(np.array([same]), np.array([n]), 0.5 + full)[0]),
        uncorrected=float(as_one.shares[1]),
        uncorrected_error=float(as_one.standard_errors[1]),
        uncorrected_interval=(uncorrected_low, uncorrected_high),
        confidence=confidence,
    )


def compute_full_attendance(anchor_prevalence: float, anchor_share: float) -> float:
    """By how much the share of "same" of an anchor question differs from 1/2 where everybody attends.

    Parameters
    ----------
    anchor_prevalence : float
        The share for whom its harmless statement is true, 0 to 1.
    anchor_share : float
        The share for whom its sensitive statement is, 0 to 1.

    Returns
    -------
    float
        From -1/2 to 1/2; 0 where attending shows in no report.
    """
    return (2 * anchor_prevalence - 1) * (anchor_share - 0.5)


def _covariance(table: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """Of both shares of "same", unbiased."""
    if n == 1:
        return np.full((2, 2), np.inf)
    row, column = table[1].sum() / n, table[:, 1].sum() / n
    both = table[1, 1] / n - row * column
    return np.array([[row * (1 - row), both], [both, column * (1 - column)]]) / (n - 1)
