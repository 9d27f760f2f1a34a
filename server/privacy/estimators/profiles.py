"""Intervals from the profile of a likelihood: what a coefficient may be while the others fit it as well as they can."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators.climbing import Objective, climb, climb_far
from server.privacy.estimators.latent_likelihood import Floats, Height

FARTHEST = 25.0
"""How far from the estimate a limit is looked for: beyond it, a share differs from 0 or 1 by less than 1e-10."""
_CLOSE = 1e-3
"""Of the root of twice the loss of log-likelihood: near enough for a line to what is on the other side."""
ENOUGH = 1e-6
"""Twice what a step may leave to be gained: a limit moves by less than that is right to."""
_STEEP = 10.0
"""An information from which on the curvature says where the others go."""
_BENT = 0.1
"""One from which on it says in which direction, however far."""
_BETTER, _MOST_BETTER, _ROUNDED = 1e-6, 1e-3, 1e-10


def is_higher(summit: Height, top: Height) -> bool:
    """Whether a maximum is another one that is higher, and not the same, found a little nearer.

    As a fraction of the log-likelihood, but no more than would move a limit: of 10 million people a millionth would
    be ten nats, and the lower of two maxima would be taken for the only one.
    """
    size = abs(top.value)
    return summit.value > top.value + max(min(_BETTER * (1 + size), _MOST_BETTER), _ROUNDED * size)


class HigherError(Exception):
    """A higher maximum was found beside the one that a profile began at."""

    def __init__(self, theta: Floats) -> None:
        self.theta = theta
        super().__init__("the likelihood has a higher maximum")


def move_along(near: Height, place: int, at: float) -> Floats:
    """Where the others fit a coefficient that is `at`, by the curvature nearby: most of the way to where they do."""
    return _move_others(near, np.arange(near.theta.size) != place, at)


def leave_out(near: Height, free: NDArray[np.bool_]) -> Floats:
    """Where `free` coefficients fit the others being 0, likewise."""
    return _move_others(near, free, 0.0)


def _bends_down(near: Height, free: NDArray[np.bool_], least: float) -> bool:
    """Whether the likelihood of `free` coefficients bends downwards on all sides, so much that the curvature leads."""
    curved = near.information[np.ix_(free, free)]
    return bool(curved.size) and float(np.linalg.eigvalsh(curved)[0]) > least


def _move_others(near: Height, free: NDArray[np.bool_], at: float, least: float = _STEEP) -> Floats:
    start = np.where(free, near.theta, at)
    if _bends_down(near, free, least):
        towards = near.information[np.ix_(free, ~free)] @ (at - near.theta[~free])
        start[free] -= np.linalg.solve(near.information[np.ix_(free, free)], towards)
    return start


def join_points(near: Height, beside: Height, place: int, at: float) -> Floats:
    """Where the others fit a coefficient that is `at`, on the line through two points where it is something else."""
    part = (at - near.theta[place]) / (beside.theta[place] - near.theta[place])
    return np.asarray(near.theta + part * (beside.theta - near.theta))


@dataclass(frozen=True, eq=False)
class _Looked:
    """The root of twice what is lost where the coefficient is `at`, and the others as they fit it."""

    at: float
    lost: float
    height: Height


def look_farthest(objective: Objective, near: Height, place: int, step: float, enough: float) -> Height:
    """Where the others fit a coefficient as far from a maximum, on the side of `step`, as limits are looked for.

    A likelihood of several maxima may lose more on the way than it does there. Looked for no longer than until one is
    as high as `enough`.
    """
    free = np.ones(near.theta.size, dtype=np.bool_)
    free[place] = False
    at = float(near.theta[place]) + math.copysign(FARTHEST, step)
    alone = near.theta.copy()
    alone[place] = at
    # As a constant balances a slope: where half of the people are far on the other side.
    balanced = alone.copy()
    balanced[0] -= at
    starts = [alone, balanced]
    # As levels beside it that go along, so that the one all are held against is far alone on the other side.
    if _bends_down(near, free, _BENT):
        starts.append(_move_others(near, free, at, _BENT))
    found: list[Height] = []
    for start in starts:
        found.append(climb_far(objective, start, free, near.value))
        if found[-1].value > enough:
            break
    return max(found, key=lambda each: each.value)


def find_limit(
    objective: Objective,
    top: Height,
    place: int,
    step: float,
    quantile: float,
    begin: tuple[float, Height] | None = None,
) -> float:
    """A limit of the coefficient at `place`, on the side of `step`; infinite where there is none.

    Looked for from the maximum on, or from where it is to `begin`, with a height nearby: then what it is there, if as
    much is lost already.

    Raises
    ------
    HigherError
        With where a higher value was found.
    """
    free = np.ones(top.theta.size, dtype=np.bool_)
    free[place] = False

    def measure_at(at: float, near: Height, beside: Height | None = None) -> _Looked:
        start = move_along(near, place, at) if beside is None else join_points(near, beside, place, at)
        summit = climb(objective, start, free, least=ENOUGH)
        if is_higher(summit, top):
            raise HigherError(summit.theta)
        return _Looked(at, math.sqrt(max(2 * (top.value - summit.value), 0.0)), summit)

    inner = _Looked(float(top.theta[place]), 0.0, top)
    if begin is not None:
        inner = measure_at(*begin)
        if inner.lost >= quantile:
            return inner.at
    first = inner.at
    outer = measure_at(first + step, inner.height)
    while outer.lost < quantile:
        # Of the step: where it was taken to is rounded, and may lie just before the farthest.
        if abs(step) >= FARTHEST:
            return math.copysign(math.inf, step)
        before, inner, step = inner, outer, math.copysign(min(1.6 * abs(step), FARTHEST), step)
        outer = measure_at(first + step, inner.height, before.height)
    while outer.lost - quantile > _CLOSE and abs(outer.at - inner.at) > 1e-7:
        part = (quantile - inner.lost) / (outer.lost - inner.lost)
        middle = measure_at(
            inner.at + (outer.at - inner.at) * min(max(part, 0.1), 0.9), inner.height, outer.height
        )
        inner, outer = (middle, outer) if middle.lost < quantile else (inner, middle)
        if abs(middle.lost - quantile) <= _CLOSE:
            break
    # On the line between the nearest on either side, which is closer than either and costs no other fit.
    return inner.at + (outer.at - inner.at) * (quantile - inner.lost) / (outer.lost - inner.lost)
