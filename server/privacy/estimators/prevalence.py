"""The unrelated question whose prevalence is not known: two groups, two designs.

References
----------
Greenberg, B. G., Abul-Ela, A.-L. A., Simmons, W. R. and Horvitz, D. G. (1969). The
unrelated question randomized response model: theoretical framework. *JASA* 64, 520-539.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import list_entries, probability
from server.privacy.designs import TOTAL, Design
from server.privacy.estimators.group_arithmetic import checked_groups, groups_covariance
from server.privacy.estimators.inverse import require_yes_no
from server.privacy.estimators.limits import combined_limits

_YES_NO = Design([[TOTAL // 4 * 3, TOTAL // 4], [TOTAL // 4, TOTAL // 4 * 3]])
"""Any yes/no design: checks the counts of a group whose design is no matrix."""


@dataclass(frozen=True)
class UnknownPrevalenceEstimate:
    """A sensitive share and the prevalence of the innocuous item, from two groups.

    Attributes
    ----------
    n : tuple of int
        Number of reports in each group.
    share : float
        Of "yes" to the sensitive question, unbiased and unclipped.
    prevalence : float
        Of "yes" to the innocuous question, unbiased and unclipped.
    standard_errors : ndarray, shape (2,)
        Of (share, prevalence); infinite when a group has one report.
    intervals : ndarray, shape (2, 2)
        Lower and upper limits of share and of prevalence, unclipped.
    covariance : ndarray, shape (2, 2)
        Unbiased estimate of the covariance of (share, prevalence).
    impossible : bool
        Whether share or prevalence is outside [0, 1].
    confidence : float
        Of each interval.
    """

    n: tuple[int, int]
    share: float
    prevalence: float
    standard_errors: NDArray[np.float64]
    intervals: NDArray[np.float64]
    covariance: NDArray[np.float64]
    impossible: bool
    confidence: float


def estimate_unknown_prevalence(
    counts: ArrayLike, truths: Sequence[float | Design], confidence: float = 0.95
) -> UnknownPrevalenceEstimate:
    """Estimate a sensitive share by an unrelated question whose prevalence is not known.

    Parameters
    ----------
    counts : array_like of int, shape (2, 2)
        Reports of the first and of the second group, each ordered (no, yes).
    truths : sequence of float or Design, length 2
        Chance in each group that a person is asked the sensitive question rather than the
        innocuous one, in [0, 1]; the two must differ. The groups are random samples of one
        population. A 2 x 2 design stands for its Pr(yes | yes) - Pr(yes | no), which is that
        chance in `unrelated_question(truth, prevalence)` whatever the prevalence.
    confidence : float
        In (0, 1), of each interval by itself.

    Returns
    -------
    UnknownPrevalenceEstimate

    Raises
    ------
    ValueError
        If the counts are not two pairs of non-negative whole numbers with positive sums,
        the chances are outside [0, 1] or equal, or confidence is outside (0, 1).

    Notes
    -----
    Group i reports "yes" with probability t_i share + (1 - t_i) prevalence; the two
    equations are solved. The intervals add the squared distances to Wilson's limits of the
    groups.

    Examples
    --------
    >>> estimate = estimate_unknown_prevalence([[740, 260], [560, 440]], [0.75, 0.25])
    >>> round(estimate.share, 6), round(estimate.prevalence, 6)
    (0.17, 0.53)
    """
    reports = checked_groups(counts, (_YES_NO, _YES_NO))
    confidence = probability("confidence", confidence, open_interval=True)
    given = list_entries("truths", truths)
    if len(given) != 2:
        raise ValueError(f"truths must be two chances; there are {len(given)}")
    first, second = (_chance(entry) for entry in given)
    if first == second:
        raise ValueError(f"truths must be two different chances; both are {first!r}")
    factors = solve_prevalence(first, second)
    yes, n = reports[:, 1], reports.sum(axis=1)
    share, prevalence = (factors @ (yes / n)).tolist()
    covariance = groups_covariance(factors, yes, n)
    return UnknownPrevalenceEstimate(
        n=(int(n[0]), int(n[1])),
        share=share,
        prevalence=prevalence,
        standard_errors=np.sqrt(np.diag(covariance)),
        intervals=np.array([combined_limits(row, yes, n, confidence) for row in factors]),
        covariance=covariance,
        impossible=_impossible(reports, Fraction(first), Fraction(second)),
        confidence=confidence,
    )


def solve_prevalence(first: float, second: float) -> NDArray[np.float64]:
    """What turns the shares of "yes" of both groups into the two shares, shape (2, 2)."""
    return np.array([[1 - second, first - 1], [-second, first]]) / (first - second)


def _chance(truth: float | Design) -> float:
    if isinstance(truth, Design):
        require_yes_no(truth, "truths")
        return probability("truths", float(truth.matrix[1, 1] - truth.matrix[0, 1]))
    return probability("truths", truth)


def _impossible(reports: NDArray[np.int64], first: Fraction, second: Fraction) -> bool:
    """Whether share or prevalence leaves [0, 1], in fractions, so that no rounding flags a limit."""
    first_yes, second_yes = (Fraction(yes, no + yes) for no, yes in reports.tolist())
    share = ((1 - second) * first_yes - (1 - first) * second_yes) / (first - second)
    prevalence = (first * second_yes - second * first_yes) / (first - second)
    return not (0 <= share <= 1 and 0 <= prevalence <= 1)
