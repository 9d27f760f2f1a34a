"""The likeliest single share behind the reports of several groups, and how well it explains them."""

import numpy as np
import scipy
from numpy.typing import NDArray


def fit_shared_share(
    base: NDArray[np.float64],
    slope: NDArray[np.float64],
    yes: NDArray[np.int64] | NDArray[np.float64],
    n: NDArray[np.int64] | NDArray[np.float64],
    *,
    confined: bool = False,
) -> tuple[float, float]:
    """The share x that makes the reports likeliest, and G^2 against each group by itself (nats, doubled).

    Group i says "yes" with chance base[i] + slope[i] x. The share is looked for wherever all of
    these are in [0, 1] or, if it is `confined`, in [0, 1]; the log-likelihood is concave in it.

    Parameters
    ----------
    base, slope : ndarray, shape (groups,)
        Of the chance of a "yes"; some slope is not 0.
    yes, n : ndarray, shape (groups,)
        Of n reports of each group, how many were "yes"; weights of reports are possible, too.
    """
    low, high = (0.0, 1.0) if confined else reachable_shares(base, slope)

    def score(share: float) -> float:
        chances = np.clip(base + slope * share, 1e-250, None), np.clip(1 - base - slope * share, 1e-250, None)
        return float((slope * (yes / chances[0] - (n - yes) / chances[1])).sum())

    if score(low) <= 0:
        share = low
    elif score(high) >= 0:
        share = high
    else:
        share = float(scipy.optimize.brentq(score, low, high, xtol=1e-15, rtol=1e-14))
    chances = np.clip(base + slope * share, 0, 1)
    with np.errstate(divide="ignore"):
        saturated = scipy.special.xlogy(yes, yes / n) + scipy.special.xlogy(n - yes, 1 - yes / n)
        gain = saturated - scipy.special.xlogy(yes, chances) - scipy.special.xlogy(n - yes, 1 - chances)
    return share, max(0.0, 2 * float(gain.sum()))


def reachable_shares(base: NDArray[np.float64], slope: NDArray[np.float64]) -> tuple[float, float]:
    """The lowest and the highest share with which every group's chance of a "yes" is in [0, 1]."""
    moved = slope != 0
    base, slope = base[moved], slope[moved]
    ends = np.sort(np.stack([-base / slope, (1 - base) / slope]), axis=0)
    return float(ends[0].max()), float(ends[1].min())
