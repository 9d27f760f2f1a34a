"""Whether respondents did what was asked, and what a few dishonest ones can do to an estimate.

References
----------
Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits
illustrated in the case of the binomial. *Biometrika* 26, 404-413.
"""

from dataclasses import dataclass

from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc

from server.privacy._checks import whole_number
from server.privacy.designs import Design
from server.privacy.estimators.inverse import (
    checked_reports,
    left_inverse,
    possible_reports,
    require_yes_no,
)


@dataclass(frozen=True)
class ControlItemTest:
    """How well a true share of 0 explains the reports to a question to which nobody is a "yes".

    Attributes
    ----------
    n : int
        Number of reports.
    share : float
        Estimated share of "yes", unbiased and unclipped.
    above : float
        p value against a share above 0: small when some people answered "yes", at random or by
        mistake.
    below : float
        p value against a share below 0, which no answers give: small when reports did not
        come from the design.
    """

    n: int
    share: float
    above: float
    below: float


def control_item_test(counts: ArrayLike, design: Design) -> ControlItemTest:
    """Test a control item: a question whose true share of "yes" is known to be 0.

    Parameters
    ----------
    counts : array_like of int, shape (2,)
        Reports received, ordered (no, yes).
    design : Design
        The 2 x 2 design that produced them.

    Returns
    -------
    ControlItemTest
        Each p value is that of an exact binomial test, one-sided and by itself: if everybody
        is a "no", the number of "yes" reports is binomial with Pr(yes | no).

    Raises
    ------
    ValueError
        As `estimate_shares`, or if the design is not 2 x 2.

    Notes
    -----
    A large p value does not show that nobody answered "yes": with few reports a small share goes
    unseen, and the standard error of `estimate_shares` says how small.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> result = control_item_test([700, 300], coin_flip(0.25))
    >>> round(result.share, 3), round(result.above, 5), round(result.below, 3)
    (0.1, 0.00019, 1.0)
    """
    require_yes_no(design)
    no, yes = checked_reports(counts, design).tolist()
    n = no + yes
    if_no, if_yes = design.matrix[:, 1].tolist()
    at_least, at_most = upper_tail(yes, n, if_no), lower_tail(yes, n, if_no)
    above, below = (at_least, at_most) if if_yes > if_no else (at_most, at_least)
    return ControlItemTest(n=n, share=(yes / n - if_no) / (if_yes - if_no), above=above, below=below)


def upper_tail(seen: int, n: int, chance: float) -> float:
    """Pr(X >= seen) of a binomial X of n."""
    return float(betainc(seen, n - seen + 1, chance)) if seen else 1.0


def lower_tail(seen: int, n: int, chance: float) -> float:
    """Pr(X <= seen) of a binomial X of n."""
    return float(betaincc(seen + 1, n - seen, chance)) if seen < n else 1.0


def manipulation_bound(n: int, forged: int, design: Design) -> float:
    """How far forged submissions can move an estimated share, at most.

    Parameters
    ----------
    n : int
        Number of reports, the forged ones included, at least 1.
    forged : int
        How many of them may be forged, in [0, n].
    design : Design
        The k x m design.

    Returns
    -------
    float
        A fraction (it can exceed 1): forged / n times the largest difference that one
        report makes to any share. For a yes/no design forged / (n |Pr(yes | yes) -
        Pr(yes | no)|), that is m / (2 gamma n) for a coin flip. No forger can do more,
        because all a submission holds is one report.

    Raises
    ------
    ValueError
        If n is below 1, forged is outside [0, n] or the design is singular.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> manipulation_bound(1000, 10, coin_flip(0.25))
    0.02
    """
    n = whole_number("n", n, 1)
    forged = whole_number("forged", forged, 0, n)
    reach = left_inverse(design)[:, possible_reports(design)]
    return forged / n * float((reach.max(axis=1) - reach.min(axis=1)).max())
