"""The stochastic lie detector: two groups, and an unknown share of those with the trait who lie.

References
----------
Moshagen, M., Musch, J. and Erdfelder, E. (2012). A stochastic lie detector. *Behavior
Research Methods* 44, 222-231.
Mangat, N. S. (1994). An improved randomized response strategy. *JRSS B* 56, 93-95.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import list_entries, probability
from server.privacy.designs import coin_flip
from server.privacy.estimators.group_arithmetic import checked_groups, groups_covariance
from server.privacy.estimators.limits import combined_limits
from server.privacy.estimators.shared_share import fit_shared_share

_ANY = coin_flip(0.25)
"""Any yes/no design: checks the counts of a group whose design is not known in full."""


@dataclass(frozen=True)
class LieDetection:
    """The share of people with a trait, and of them that of those who admit it.

    Attributes
    ----------
    n : tuple of int
        Number of reports in each group.
    share : float
        Of people with the trait, unbiased and unclipped.
    honesty : float or None
        Of them, what share says so: a ratio of two unbiased estimates, unclipped; its bias is of
        the order 1 / n. None where `share` is not above 0.
    standard_errors : tuple
        Of share and (by the delta method) of honesty; infinite when a group has one report, and
        None for a honesty that is None.
    share_interval : tuple of float
        Lower and upper limit, unclipped.
    honesty_interval : tuple of float
        Every honesty that the reports do not refute, unclipped; (0, 1), all that it could be,
        where they do not show that anybody has the trait.
    likeliest_share : float
        By maximum likelihood, with both shares in [0, 1]: `share` where the estimates are
        possible, else on the boundary.
    likeliest_honesty : float or None
        The same of honesty; None where `likeliest_share` is 0.
    g_squared : float
        How much less likely the reports are on the boundary, twice in nats; 0 where not on it.
    truthful_share : float
        Of the trait if nobody lied, by maximum likelihood over both groups, unclipped.
    truthful_g_squared : float
        How much less likely the reports are with it, twice in nats.
    p_value : float
        Of "nobody lies" (1 degree of freedom): small values speak for lies, or for groups that
        differ.
    impossible : bool
        Whether one of the three shares, of people without the trait, honest and lying, is
        outside [0, 1].
    confidence : float
        Of each interval.
    """

    n: tuple[int, int]
    share: float
    honesty: float | None
    standard_errors: tuple[float, float | None]
    share_interval: tuple[float, float]
    honesty_interval: tuple[float, float]
    likeliest_share: float
    likeliest_honesty: float | None
    g_squared: float
    truthful_share: float
    truthful_g_squared: float
    p_value: float
    impossible: bool
    confidence: float


def detect_lies(counts: ArrayLike, truths: Sequence[float], confidence: float = 0.95) -> LieDetection:
    """Estimate a share of whose carriers some lie, from two groups with different devices.

    Parameters
    ----------
    counts : array_like of int, shape (2, 2)
        Reports of the first and of the second group, each ordered (no, yes).
    truths : sequence of float, length 2
        Chance in each group that who does not have the trait answers truly, "no", and does not
        say "yes" as the device asks; in [0, 1], and different. The groups are random samples of
        one population.
    confidence : float
        In (0, 1), of each interval by itself.

    Returns
    -------
    LieDetection

    Raises
    ------
    ValueError
        If the counts are not two pairs of non-negative whole numbers with positive sums, the
        chances are outside [0, 1] or equal, or confidence is outside (0, 1).

    Notes
    -----
    Who has the trait (share s) says "yes" with chance t, the honesty, else lies. Everybody else
    goes by a device. So group i says "yes" with chance s t + (1 - s) (1 - p_i): two equations for
    s and s t. The interval of s adds the squared distances to Wilson's limits of the groups. That
    of t has every value for which the same interval of s t - t s contains 0 (Fieller), so that
    both hold on the boundary, too, where those of a profile likelihood may not. It is assumed that
    those without the trait do as the device asks, that lies are as frequent in both groups, and
    that the groups are of one population; none of this can be seen in the reports.

    Examples
    --------
    >>> result = detect_lies([[640, 360], [300, 700]], [0.8, 0.3])
    >>> round(result.share, 3), round(result.honesty, 3), result.p_value < 0.001
    (0.32, 0.7, True)
    >>> [round(limit, 3) for limit in result.share_interval]
    [0.24, 0.404]
    """
    reports = checked_groups(counts, (_ANY, _ANY))
    confidence = probability("confidence", confidence, open_interval=True)
    given = list_entries("truths", truths)
    if len(given) != 2:
        raise ValueError(f"truths must be two chances; there are {len(given)}")
    chances = np.array([probability("truths", entry) for entry in given])
    if chances[0] == chances[1]:
        raise ValueError(f"truths must be two different chances; both are {given[0]!r}")
    yes, n = reports[:, 1], reports.sum(axis=1)
    forced = 1 - chances
    factors = solve_lies(chances)
    exact, admitted, possible = _solve(reports, [Fraction(float(chance)) for chance in chances])
    share = float(exact)
    covariance = groups_covariance(factors, yes, n)
    low, high = combined_limits(factors[0], yes, n, confidence)
    likeliest, g_squared = (
        find_likeliest(chances, yes, n) if not possible else ((share, float(admitted)), 0.0)
    )
    truthful, truthful_g = fit_shared_share(forced, chances, yes, n)
    honesty = float(admitted / exact) if exact > 0 else None
    return LieDetection(
        n=(int(n[0]), int(n[1])),
        share=share,
        honesty=honesty,
        standard_errors=(float(np.sqrt(covariance[0, 0])), _honesty_error(share, honesty, covariance)),
        share_interval=(1 + low, 1 + high),
        honesty_interval=(0.0, 1.0)
        if honesty is None or 1 + low <= 0
        else _limit_honesty(honesty, factors, yes, n, confidence),
        likeliest_share=likeliest[0],
        likeliest_honesty=min(1.0, max(0.0, likeliest[1] / likeliest[0])) if likeliest[0] > 0 else None,
        g_squared=g_squared,
        truthful_share=truthful,
        truthful_g_squared=truthful_g,
        p_value=float(scipy.special.chdtrc(1, truthful_g)),
        impossible=not possible,
        confidence=confidence,
    )


def _honesty_error(share: float, honesty: float | None, covariance: NDArray[np.float64]) -> float | None:
    if honesty is None:
        return None
    if np.isinf(covariance).any():
        return np.inf
    slopes = np.array([-honesty, 1.0]) / share
    return float(np.sqrt(max(0.0, float(slopes @ covariance @ slopes))))


def _limit_honesty(
    honesty: float,
    factors: NDArray[np.float64],
    yes: NDArray[np.int64],
    n: NDArray[np.int64],
    confidence: float,
) -> tuple[float, float]:
    """The honesties t around the estimated one for which the limits of s t - t s contain 0."""

    def contains(value: float) -> float:
        low, high = combined_limits(factors[1] - value * factors[0], yes, n, confidence)
        return min(high - value, value - low)

    return _find_end(contains, honesty, -1.0), _find_end(contains, honesty, 1.0)


def _find_end(contains: Callable[[float], float], start: float, step: float) -> float:
    """Where the accepted values around `start` end, infinite where they do not within 2^60 steps."""
    if contains(start) <= 0:  # a single point, but for rounding
        return start
    for _ in range(60):
        if contains(start + step) < 0:
            return float(scipy.optimize.brentq(contains, start, start + step, xtol=1e-13, rtol=1e-13))
        step *= 2
    return float(np.copysign(np.inf, step))


def solve_lies(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """What turns the shares of "yes" of both groups into s - 1 and s t, shape (2, 2)."""
    forced, apart = 1 - chances, chances[1] - chances[0]
    others = np.array([1.0, -1.0]) / apart  # the share without the trait
    return np.stack([-others, np.array([-forced[1], forced[0]]) / apart])


def find_likeliest(
    chances: NDArray[np.float64],
    yes: NDArray[np.int64] | NDArray[np.float64],
    n: NDArray[np.int64] | NDArray[np.float64],
) -> tuple[tuple[float, float], float]:
    """(s, s t) on the edges of what is possible, and G^2: everybody honest, nobody, or all with the trait."""
    forced, nothing = 1 - chances, np.zeros(2)
    honest, honest_g = fit_shared_share(forced, chances, yes, n, confined=True)
    lying, lying_g = fit_shared_share(forced, -forced, yes, n, confined=True)
    everybody, everybody_g = fit_shared_share(nothing, np.ones(2), yes, n, confined=True)
    edges = [((honest, honest), honest_g), ((lying, 0.0), lying_g), ((1.0, everybody), everybody_g)]
    return min(edges, key=lambda edge: edge[1])


def _solve(reports: NDArray[np.int64], chances: list[Fraction]) -> tuple[Fraction, Fraction, bool]:
    """s, s t and whether all three shares are in [0, 1]: in fractions, so that no rounding flags a limit."""
    first, second = (Fraction(yes, no + yes) for no, yes in reports.tolist())
    others = (first - second) / (chances[1] - chances[0])
    admitted = first - others * (1 - chances[0])
    return 1 - others, admitted, others >= 0 and admitted >= 0 and others + admitted <= 1
