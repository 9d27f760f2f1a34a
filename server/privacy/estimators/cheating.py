"""Respondents who do not comply, seen by comparing two groups with two designs.

References
----------
Clark, S. J. and Desharnais, R. A. (1998). Honest answers to embarrassing questions:
detecting cheating in the randomized response model. *Psychological Methods* 3, 160-168.
Moshagen, M., Musch, J. and Erdfelder, E. (2012). A stochastic lie detector. *Behavior
Research Methods* 44, 222-231.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import list_entries, probability
from server.privacy.designs import TOTAL, Design
from server.privacy.estimators.group_arithmetic import checked_groups, groups_covariance
from server.privacy.estimators.inverse import require_yes_no
from server.privacy.estimators.limits import combined_limits
from server.privacy.estimators.shared_share import fit_shared_share


@dataclass(frozen=True)
class CheatingTest:
    """Whether two groups can be explained without respondents who always say "no".

    Attributes
    ----------
    n : tuple of int
        Number of reports in each group.
    g_squared : float
        Twice the gain in log-likelihood (nats) of the model with cheaters over the honest
        one; 1 degree of freedom.
    p_value : float
        Of the honest model: small values speak for cheating (or for groups that differ).
    honest_share : float
        Of "yes" if everybody complied, by maximum likelihood over both groups, unclipped.
    shares : ndarray, shape (3,)
        Of (honest no, honest yes, cheaters), unbiased and unclipped; they sum to 1. A
        negative share of cheaters means more "yes" than compliance explains.
    standard_errors : ndarray, shape (3,)
        Fractions; infinite when a group has one report.
    intervals : ndarray, shape (3, 2)
        Lower and upper limits, unclipped.
    covariance : ndarray, shape (3, 3)
        Unbiased estimate of the covariance of `shares`.
    confidence : float
        Of each interval.
    """

    n: tuple[int, int]
    g_squared: float
    p_value: float
    honest_share: float
    shares: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    intervals: NDArray[np.float64]
    covariance: NDArray[np.float64]
    confidence: float


def cheating_test(counts: ArrayLike, designs: Sequence[Design], confidence: float = 0.95) -> CheatingTest:
    """Test two groups for respondents who say "no" whatever the coins ask of them.

    Parameters
    ----------
    counts : array_like of int, shape (2, 2)
        Reports of the first and of the second group, each ordered (no, yes).
    designs : sequence of Design, length 2
        The 2 x 2 design of each group. They must differ enough to tell honest "yes" from
        honest "no" by the reports of "yes" alone.
    confidence : float
        In (0, 1), of each interval by itself.

    Returns
    -------
    CheatingTest

    Raises
    ------
    ValueError
        If the counts are not two pairs of non-negative whole numbers with positive sums, a
        design is not 2 x 2 or singular, or the designs are proportional.

    Notes
    -----
    Three kinds of people: honest yes, honest no, and cheaters, who report "no". Group i
    reports "yes" with probability yes * P_i[1, 1] + no * P_i[0, 1]: two equations for two
    free shares, a saturated model. The honest model has one share. It is not confined to
    [0, 1], so that G^2 measures how the groups disagree and nothing else; at the edge a
    confined share would make the test reject too often. Asymptotic: every expected count
    should be 5 or more.

    Coins thrown by the respondent's own browser cannot be disobeyed; a person can still
    enter a false "no", and that is not detectable by any design.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> result = cheating_test([[700, 300], [720, 280]], [coin_flip(0.1), coin_flip(0.4)])
    >>> result.shares.round(3).tolist(), result.p_value < 1e-6
    ([0.34, 0.273, 0.387], True)
    """
    designs = tuple(list_entries("designs", designs))
    if len(designs) != 2:
        raise ValueError(f"designs must be two; there are {len(designs)}")
    for number, design in enumerate(designs):
        require_yes_no(design, f"designs[{number}]")
    factors, offset = solve_cheating(designs)
    reports = checked_groups(counts, designs)
    confidence = probability("confidence", confidence, open_interval=True)
    yes, n = reports[:, 1], reports.sum(axis=1)
    covariance = groups_covariance(factors, yes, n)
    honest_share, g_squared = _honest(designs, yes, n)
    return CheatingTest(
        n=(int(n[0]), int(n[1])),
        g_squared=g_squared,
        p_value=float(scipy.special.chdtrc(1, g_squared)),
        honest_share=honest_share,
        shares=factors @ (yes / n) + offset,
        standard_errors=np.sqrt(np.diag(covariance)),
        intervals=np.array([combined_limits(row, yes, n, confidence) for row in factors]) + offset[:, None],
        covariance=covariance,
        confidence=confidence,
    )


def solve_cheating(designs: Sequence[Design]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What turns the shares of "yes" of both groups into the three shares, shape (3, 2), and what is added.

    Raises
    ------
    ValueError
        If the designs are proportional.
    """
    (no_one, yes_one), (no_two, yes_two) = (design.weights[:, 1].tolist() for design in designs)
    determinant = no_one * yes_two - yes_one * no_two
    if determinant == 0:
        raise ValueError(
            "designs must tell honest no from honest yes by their chances of a yes report; "
            f"these are proportional: {[no_one / TOTAL, yes_one / TOTAL]} and {[no_two / TOTAL, yes_two / TOTAL]}"
        )
    honest = np.array([[yes_two, -yes_one], [-no_two, no_one]]) * (TOTAL / determinant)
    return np.vstack([honest, -honest.sum(axis=0)]), np.array([0.0, 0.0, 1.0])


def _honest(designs: tuple[Design, ...], yes: NDArray[np.int64], n: NDArray[np.int64]) -> tuple[float, float]:
    """The likeliest single share, wherever both chances of "yes" are in [0, 1], and G^2."""
    base = np.array([design.matrix[0, 1] for design in designs])
    slope = np.array([design.matrix[1, 1] for design in designs]) - base
    return fit_shared_share(base, slope, yes, n)
