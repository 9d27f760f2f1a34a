"""The privacy loss distribution of many different losses: too many totals to list, so that they are put on a grid.

What is found is an upper bound, however coarse the grid: every step only makes the two distributions easier to tell
apart. A loss between two points of the grid goes to both, in the one way that keeps its probabilities on either side
(whoever merges the points again has the loss back). What lies above the grid counts as an infinite loss, and what
lies below as the lowest of it.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from server.privacy.accounting.distribution import list_totals

POINTS = 1 << 15
"""Points of the grid on each side of the mean."""
STEPS_LIMIT = 1 << 16
"""The largest number of additions of a whole grid; each takes some 20 microseconds."""
_NEGLIGIBLE = 2.0**-40
"""Part of delta that may lie beyond the grid, and of what is left out of the tails."""
_ROUNDING = 2.0**-52

_Floats = NDArray[np.float64]


def convolve_responses(losses: Sequence[float], delta: float) -> tuple[_Floats, _Floats] | None:
    """Total losses on a grid and the logarithms of their probabilities, as `randomised_response` lists them.

    Parameters
    ----------
    losses : sequence of float
        In nats, positive.
    delta : float
        In (0, 1): how far into the tail the grid reaches.

    Returns
    -------
    tuple of ndarray or None
        The last loss is infinite. None where it would take more than `STEPS_LIMIT` additions, or the losses are too
        small for floats to tell points of a grid apart.

    References
    ----------
    Doroshenko, Ghazi, Kamath, Kumar and Manurangsi (2022), Connect the dots: tighter discrete approximations of
    privacy loss distributions: that no other bound on the same grid is smaller.
    """
    groups = Counter(losses)
    tail = delta * _NEGLIGIBLE
    # Hoeffding's inequality: each total is within a range of 2 eps.
    reach = math.sqrt(-2 * math.log(tail) * math.fsum(loss * loss for loss in losses))
    step = reach / POINTS
    if step < 1e-100:
        return None
    parts = [_list_likely(loss, count, tail / len(groups)) for loss, count in groups.items()]
    if 2 * sum(len(totals) for totals, _logarithms, _beyond in parts) > STEPS_LIMIT:
        return None
    grid, centre, infinite, steps = np.zeros(2 * POINTS + 1), 0, 0.0, 0
    grid[POINTS] = 1.0
    for totals, logarithms, beyond in parts:
        masses = _spread(totals, np.exp(logarithms), step)
        middle = round(sum(place * mass for place, mass in masses.items()) / sum(masses.values()))
        grid, above = _convolve(grid, {place - middle: mass for place, mass in masses.items()})
        centre += middle
        steps += len(masses)
        infinite += above + beyond
    kept = grid > 0
    total = np.append((np.flatnonzero(kept) - POINTS + centre) * step, np.inf)
    with np.errstate(divide="ignore"):
        # Each addition rounds what it adds to, and each spreading what it spreads.
        chances = np.log(np.append(grid[kept], infinite)) + (steps + 16 * len(parts)) * _ROUNDING
    return total, chances


def _list_likely(loss: float, count: int, tail: float) -> tuple[_Floats, _Floats, float]:
    """Those of `list_totals` that are likely enough to matter, and what lies above the last of them."""
    totals, chances = list_totals(loss, count)
    # What gammaln loses to rounding grows with its value.
    chances += 2.0**-46 * (1 + np.abs(chances))
    first = min(int(np.searchsorted(np.logaddexp.accumulate(chances), math.log(tail))), count)
    last = count - min(
        int(np.searchsorted(np.logaddexp.accumulate(chances[::-1]), math.log(tail))), count - first
    )
    beyond = float(np.exp(chances[last + 1 :]).sum())
    chances[first] = np.logaddexp.reduce(chances[: first + 1])
    return totals[first : last + 1], chances[first : last + 1], beyond


def _spread(losses: _Floats, masses: _Floats, step: float) -> Mapping[int, float]:
    """The probabilities of points of the grid, by their number, that keep those of the losses on either side."""
    places = losses / step
    places += (1 + np.abs(places)) * 2.0**-48  # never below what was rounded
    lower = np.floor(places)
    within = (places - lower) * step
    upward = masses * np.expm1(-within) / math.expm1(-step)
    downward = masses * np.exp(-step) * np.expm1(step - within) / -math.expm1(-step)
    spread: Counter[int] = Counter()
    for place, down, up in zip(lower.astype(int).tolist(), downward.tolist(), upward.tolist(), strict=True):
        spread[place] += max(down, 0.0)
        spread[place + 1] += up
    return spread


def _convolve(grid: _Floats, masses: Mapping[int, float]) -> tuple[_Floats, float]:
    """The grid moved by each number of points, as often as its probability says; and what went beyond its upper end."""
    moved, above, size = np.zeros_like(grid), 0.0, len(grid)
    for by, mass in masses.items():
        by = max(-size, min(by, size))
        if by >= 0:
            moved[by:] += mass * grid[: size - by]
            above += mass * float(grid[size - by :].sum())
        else:
            moved[:by] += mass * grid[-by:]
            moved[0] += mass * float(grid[:-by].sum())
    return moved, above
