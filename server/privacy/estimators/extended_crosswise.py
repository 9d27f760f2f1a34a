"""The crosswise model in two groups, whose innocuous items are as rare in the one as they are common in the other.

References
----------
Yu, J.-W., Tian, G.-L. and Tang, M.-L. (2008). Two new models for survey sampling with
sensitive characteristic. *Metrika* 67, 251-263.
Heck, D. W., Hoffmann, A. and Moshagen, M. (2018). Detecting nonadherence without loss in
efficiency: a simple extension of the crosswise model. *Behavior Research Methods* 50,
1895-1905.
Cruyff, M. J. L. F., Sayed, K. H. A., Petróczi, A. and van der Heijden, P. G. M. (2024). The one-sayers
model for the Extended Crosswise design. *JRSS A* 187, 882-899.
"""

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import probability
from server.privacy.designs import Design, crosswise
from server.privacy.estimators.fieller_limits import divide_means, fieller_limits
from server.privacy.estimators.group_arithmetic import checked_groups, groups_covariance
from server.privacy.estimators.limits import combined_limits
from server.privacy.estimators.share_estimates import estimate_shares


@dataclass(frozen=True)
class ExtendedCrosswise:
    """A sensitive share from both groups, and whether they can be explained by one.

    Attributes
    ----------
    n : tuple of int
        Number of reports in each group.
    share : float
        Of "yes" to the sensitive question, by maximum likelihood over both groups; unbiased
        and unclipped.
    standard_error : float
        Fraction; infinite when there is one report.
    interval : tuple of float
        Of the share, unclipped.
    group_shares : ndarray, shape (2,)
        The same from each group by itself.
    preference : float
        Share of people who say "same" whatever is true, less those who say "different" so:
        what is left of the groups' difference, unbiased.
    preference_error : float
        Infinite when a group has one report.
    preference_interval : tuple of float
    followers_share : float
        Of "yes" among those who say what is true, if all others say one answer: "different" where the preference is
        below 0, else "same". Unclipped; NaN where nobody is left.
    followers_error : float
        By the delta method; infinite where a group has one report, or nobody is left.
    followers_interval : tuple of float
        Fieller's; without ends where the reports do not show that anybody is left. Where the interval of the preference
        holds 0, it reaches as far as with either answer.
    g_squared : float
        Of one share for both groups; 1 degree of freedom.
    p_value : float
        Small values speak for such a preference, or for groups that differ.
    confidence : float
        Of each interval.
    """

    n: tuple[int, int]
    share: float
    standard_error: float
    interval: tuple[float, float]
    group_shares: NDArray[np.float64]
    preference: float
    preference_error: float
    preference_interval: tuple[float, float]
    followers_share: float
    followers_error: float
    followers_interval: tuple[float, float]
    g_squared: float
    p_value: float
    confidence: float


def estimate_extended_crosswise(
    counts: ArrayLike, prevalence: float, confidence: float = 0.95
) -> ExtendedCrosswise:
    """Estimate a share by the crosswise model in two groups, and test that they agree.

    Parameters
    ----------
    counts : array_like of int, shape (2, 2)
        Reports of the first and of the second group, each ordered ("different", "same").
    prevalence : float
        Of the innocuous item in the first group, in (0, 1) and not 1/2; that of the second
        group is 1 - prevalence. The groups are random samples of one population.
    confidence : float
        In (0, 1), of each interval.

    Returns
    -------
    ExtendedCrosswise

    Raises
    ------
    ValueError
        If the counts are not two pairs of non-negative whole numbers with positive sums, or
        prevalence or confidence is out of its range.

    Notes
    -----
    "Same" in the first group and "different" in the second have one chance, whatever the
    share: both groups together are a crosswise model of all reports, as efficient as that
    of one group, and the likeliest share is that of it. The test is that of two equal
    shares, G^2 with 1 degree of freedom; asymptotic, as expected counts of 5 or more have it.

    Where a share t says "different" whatever is true, "same" is 1 - t times as likely in both groups, whose chances
    then add up to 1 - t: the share of all others follows from their quotient, which is the likeliest of the model of
    one-sayers (Cruyff et al.) where that t is not negative. Of who says "same", all is turned round.

    People who answer like a coin draw the shares of both groups to 1/2 alike, so that no
    test of these reports can see them: `correct_inattention` needs another question.

    Examples
    --------
    >>> found = estimate_extended_crosswise([[300, 700], [690, 310]], prevalence=0.2)
    >>> round(found.share, 4), round(found.g_squared, 3), round(found.p_value, 3)
    (0.175, 0.236, 0.627)
    >>> found = estimate_extended_crosswise([[370, 630], [780, 220]], prevalence=0.2)  # 15 % say "different"
    >>> round(found.preference, 3), round(found.share, 3), round(found.followers_share, 3)
    (-0.15, 0.158, 0.098)
    """
    design = crosswise(probability("prevalence", prevalence, open_interval=True))
    first, second = checked_groups(counts, (design, design))
    confidence = probability("confidence", confidence, open_interval=True)
    alike = np.stack([first, second[::-1]])
    both = estimate_shares(alike.sum(axis=0), design, confidence)
    alone = [estimate_shares(group, design, confidence).shares[1] for group in alike]
    n, same = alike.sum(axis=1), alike[:, 1]
    pooled = float(same.sum() / n.sum())
    apart = np.array([[1.0, -1.0]])
    gain = scipy.special.xlogy(alike, alike / n[:, None]) - scipy.special.xlogy(alike, [1 - pooled, pooled])
    g_squared = max(0.0, 2 * float(gain.sum()))
    low, high = both.intervals[1].tolist()
    preference = float(same[0] / n[0] - same[1] / n[1])
    limits = combined_limits(apart[0], same, n, confidence)
    preferred = -1.0 if preference < 0 else 1.0  # "different", or "same"
    followers, followers_error, *ends = _drop_preference(same, n, design, preferred, confidence)
    if limits[0] <= 0 <= limits[1]:  # which one it is, if any, is not known
        *_, low_end, high_end = _drop_preference(same, n, design, -preferred, confidence)
        ends = [min(ends[0], low_end), max(ends[1], high_end)]
    return ExtendedCrosswise(
        n=(int(n[0]), int(n[1])),
        share=float(both.shares[1]),
        standard_error=float(both.standard_errors[1]),
        interval=(low, high),
        group_shares=np.array(alone),
        preference=preference,
        preference_error=math.sqrt(groups_covariance(apart, same, n)[0, 0]),
        preference_interval=limits,
        followers_share=followers,
        followers_error=followers_error,
        followers_interval=(ends[0], ends[1]),
        g_squared=g_squared,
        p_value=float(scipy.special.chdtrc(1, g_squared)),
        confidence=confidence,
    )


def _drop_preference(
    same: NDArray[np.int64], n: NDArray[np.int64], design: Design, preferred: float, confidence: float
) -> tuple[float, float, float, float]:
    """The share of all but those who say one answer (1: "same", -1: "different"), its error and its interval."""
    shares = same / n  # of the first group, and of the second turned round
    factors = np.array([[0.5, 0.5], [-preferred, preferred]])
    means = np.array([(shares.sum() - 1) / 2, 1 - preferred * (shares[0] - shares[1])])
    spread = groups_covariance(factors, same, n)
    ratio = 1 / float(design.matrix[1, 1] - design.matrix[0, 1])
    value, error = divide_means(means, spread, ratio)
    low, high = fieller_limits(means, spread, ratio, confidence)
    return 0.5 + value, error, 0.5 + low, 0.5 + high
