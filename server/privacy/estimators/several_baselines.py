"""One share behind several groups, each with another innocuous item of known prevalence.

References
----------
Gregori, M., De Jong, M. G. and Pieters, R. (2025). The crosswise model for surveys on
sensitive topics: a general framework for item selection and statistical analysis.
*Psychometrika*; online in 2024.
Heck, D. W., Hoffmann, A. and Moshagen, M. (2018). Detecting nonadherence without loss in
efficiency: a simple extension of the crosswise model. *Behavior Research Methods* 50, 1895-1905.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import any_array, list_entries, probability
from server.privacy.designs import Design
from server.privacy.estimators.inverse import checked_reports, require_yes_no
from server.privacy.estimators.limits import normal_quantile
from server.privacy.estimators.shared_share import fit_shared_share, reachable_shares


@dataclass(frozen=True)
class SeveralBaselines:
    """One share from groups under different yes/no designs, and whether it explains them all.

    Attributes
    ----------
    n : tuple of int
        Number of reports in each group.
    share : float
        Of "yes", by maximum likelihood over all groups, unclipped as far as every group's
        chance of a "yes" is one.
    standard_error : float
        A fraction, by the expected information at the share; infinite where the reports do not
        vary.
    interval : tuple of float
        Lower and upper limit, unclipped: shares that the score test does not refute.
    group_shares : ndarray, shape (groups,)
        What each group by itself gives, unbiased and unclipped.
    g_squared : float
        Twice the log-likelihood (nats) that one share loses against a share for each group.
    degrees_of_freedom : int
        One less than there are groups.
    p_value : float
        Of one share: small values say that some design is not what was done (or that groups
        differ).
    impossible : bool
        Whether the share is outside [0, 1].
    confidence : float
        Of the interval.
    """

    n: tuple[int, ...]
    share: float
    standard_error: float
    interval: tuple[float, float]
    group_shares: NDArray[np.float64]
    g_squared: float
    degrees_of_freedom: int
    p_value: float
    impossible: bool
    confidence: float


def estimate_several_baselines(
    counts: ArrayLike, designs: Sequence[Design], confidence: float = 0.95
) -> SeveralBaselines:
    """Estimate one share from groups that had different innocuous items, and test their fit.

    Parameters
    ----------
    counts : array_like of int, shape (groups, 2)
        Reports of each group, ordered (no, yes).
    designs : sequence of Design, length groups
        The 2 x 2 design of each: as `crosswise` of its item's prevalence. Two or more; the groups
        are random samples of one population.
    confidence : float
        In (0, 1).

    Returns
    -------
    SeveralBaselines

    Raises
    ------
    ValueError
        If the counts are not pairs of non-negative whole numbers with positive sums, there are
        fewer than two groups, or a design is not 2 x 2 or singular.

    Notes
    -----
    Group i says "yes" with chance P_i[0, 1] + s (P_i[1, 1] - P_i[0, 1]), and the share s that makes
    all reports likeliest is what inverse-variance weights lead to, with the variances that s itself
    implies. Its limits are those of the score test; of one group they would be Wilson's. G^2 asks
    whether one share explains all groups: with two that are mirror images it is the test of the
    extended crosswise model (Heck et al. 2018). This is not the Bayesian estimation of Gregori et
    al. (2025), which has models for baseline items whose prevalence is not known as well: here each
    prevalence is known, and taken for exact. Asymptotic: every expected count should be 5 or more.

    Examples
    --------
    >>> from server.privacy.designs import crosswise
    >>> counts = [[308, 192], [325, 175], [215, 285]]
    >>> result = estimate_several_baselines(counts, [crosswise(0.8), crosswise(0.75), crosswise(0.3)])
    >>> round(result.share, 3), round(result.standard_error, 3), round(result.p_value, 2)
    (0.276, 0.025, 0.1)
    >>> result.group_shares.round(3).tolist()
    [0.307, 0.2, 0.325]
    """
    designs = tuple(list_entries("designs", designs))
    if len(designs) < 2:
        raise ValueError(f"designs must be two or more; there are {len(designs)}")
    for number, design in enumerate(designs):
        require_yes_no(design, f"designs[{number}]")
    groups = any_array("counts", counts)
    if groups.shape != (len(designs), 2):
        raise ValueError(
            f"counts must have shape {(len(designs), 2)}, one row for each design; it is {groups.shape}"
        )
    reports = np.stack(
        [
            checked_reports(group, design, f"counts[{number}]")
            for number, (group, design) in enumerate(zip(groups, designs, strict=True))
        ]
    )
    confidence = probability("confidence", confidence, open_interval=True)
    base = np.array([design.matrix[0, 1] for design in designs])
    slope = np.array([design.matrix[1, 1] for design in designs]) - base
    yes, n = reports[:, 1], reports.sum(axis=1)
    share, g_squared = fit_shared_share(base, slope, yes, n)
    information = _information(share, base, slope, n)
    return SeveralBaselines(
        n=tuple(n.tolist()),
        share=share,
        standard_error=float(1 / np.sqrt(information)) if np.isfinite(information) else float(np.inf),
        interval=_score_limits(share, base, slope, yes, n, normal_quantile(confidence)),
        group_shares=(yes / n - base) / slope,
        g_squared=g_squared,
        degrees_of_freedom=len(designs) - 1,
        p_value=float(scipy.special.chdtrc(len(designs) - 1, g_squared)),
        impossible=not -1e-12 <= share <= 1 + 1e-12,
        confidence=confidence,
    )


def _information(
    share: float, base: NDArray[np.float64], slope: NDArray[np.float64], n: NDArray[np.int64]
) -> float:
    chances = base + slope * share
    with np.errstate(divide="ignore"):
        return float((n * slope**2 / np.clip(chances * (1 - chances), 0, None)).sum())


def _score_limits(
    share: float,
    base: NDArray[np.float64],
    slope: NDArray[np.float64],
    yes: NDArray[np.int64],
    n: NDArray[np.int64],
    z: float,
) -> tuple[float, float]:
    """The shares around the likeliest one whose score is within z of its standard deviations."""

    def contains(value: float) -> float:
        chances = base + slope * value
        spread = np.clip(chances * (1 - chances), 1e-250, None)
        score = float((slope * (yes - n * chances) / spread).sum())
        return z - abs(score) / float(np.sqrt((n * slope**2 / spread).sum()))

    low, high = reachable_shares(base, slope)
    return _find_end(contains, share, low), _find_end(contains, share, high)


def _find_end(contains: Callable[[float], float], start: float, end: float) -> float:
    """Where shares are no longer accepted between `start` and `end`, or the end."""
    if contains(end) >= 0:
        return end
    if contains(start) <= 0:  # a single point, but for rounding
        return start
    return float(scipy.optimize.brentq(contains, start, end, xtol=1e-15, rtol=1e-13))
