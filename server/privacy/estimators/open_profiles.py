"""What reports alone say where a weak prior was added: limits beyond those that it sets, and what a test loses.

A likelihood that rises without end has a supremum all the same, which its ridge stops just short of.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators.climbing import Objective, climb, climb_far
from server.privacy.estimators.latent_likelihood import Floats, Height
from server.privacy.estimators.profiles import (
    ENOUGH,
    FARTHEST,
    HigherError,
    find_limit,
    is_higher,
    look_farthest,
)

_MOST_MAXIMA = 5
_NEARBY, _MOST_BESIDE = 10.0, 8
"""Nats below the highest that another maximum may be, and how many are kept."""
_AS_GOOD, _ALIKE, _SAME = 0.01, 0.99, 0.05
_BEYOND = (1.0, 4.0, 12.0)
"""How far beyond a limit is looked from other maxima."""
_LESS_STEEP = 10.0
"""The largest coefficient where a search begins: where every chance is nearly 0 or 1, no direction leads upwards."""


class OpenProfile:
    """The profile of a likelihood that may rise without end; its supremum is looked for from each of `starts`.

    It may have other maxima, of which `lookouts` lead to some: what is as likely there is within the limits, too.
    """

    def __init__(
        self, objective: Objective, starts: Sequence[Floats], lookouts: Iterable[Floats] = ()
    ) -> None:
        self._objective = objective
        self.top = max((climb_far(objective, start) for start in starts), key=lambda top: top.value)
        self._beside = self._list_maxima(lookouts)

    def _list_maxima(self, lookouts: Iterable[Floats]) -> list[Height]:
        """Those that are not far below the highest, the highest first."""
        found: list[Height] = []
        for start in lookouts:
            height = climb(self._objective, start, below=self.top.value - _NEARBY, least=_AS_GOOD)
            if height.value > self.top.value - _NEARBY and not any(
                _is_same(height, other) for other in found
            ):
                found.append(height)
            if is_higher(height, self.top):
                self.top = climb(self._objective, height.theta)
        return sorted(found, key=lambda each: -each.value)[:_MOST_BESIDE]

    def is_open(self, near: Height, place: int, step: float, lost: float) -> bool:
        """Whether less than `lost` is lost at the farthest on the side of `step` of `near`, a maximum with a prior."""
        enough = self.top.value - lost**2 / 2
        if self._lose_root(look_farthest(self._objective, near, place, step, enough)) < lost:
            return True
        at = float(near.theta[place]) + math.copysign(FARTHEST, step)
        return any(self._lose_root(self._look_beside(each, place, at, lost)) < lost for each in self._beside)

    def widen(self, limit: float, near: Height, place: int, step: float, lost: float) -> float:
        """A limit that a prior set, or the one farther out on the side of `step` that these reports alone set.

        Infinite where they lose less than `lost` all the way. `near` is the maximum with the prior.
        """
        limit = self._walk(limit, near, place, step, lost)
        for beside in self._beside:
            for beyond in _BEYOND:
                at = limit + math.copysign(beyond, step)
                if math.isinf(limit) or abs(at - near.theta[place]) > FARTHEST:
                    break
                top = self._look_beside(beside, place, at, lost)
                if self._lose_root(top) < lost:
                    limit = self._walk(at, top, place, step, lost)
        return limit

    def _walk(self, limit: float, near: Height, place: int, step: float, lost: float) -> float:
        if math.isinf(limit):
            return limit
        for _ in range(_MOST_MAXIMA):
            try:
                return find_limit(self._objective, self.top, place, step, lost, (limit, near))
            except HigherError as higher:
                self.top = climb(self._objective, higher.theta)
        return math.copysign(math.inf, step)

    def _look_beside(self, beside: Height, place: int, at: float, lost: float) -> Height:
        """Where the others fit a coefficient that is `at`, from another maximum, or on the line from 0 through it."""
        own, free = float(beside.theta[place]), np.arange(beside.theta.size) != place
        steep = float(np.abs(beside.theta).max())
        starts = [beside.theta * min(_LESS_STEEP / steep, 1.0)]
        starts.append(beside.theta * (at / own if abs(own) > 1 and own * at > 0 else 1.0))
        for start in starts:
            start[place] = at
        lowest = self.top.value - lost**2 / 2
        found = (climb(self._objective, start, free, lowest, ENOUGH) for start in starts)
        return max(found, key=lambda each: each.value)

    def lose(self, near: Floats, free: NDArray[np.bool_]) -> float:
        """Twice the log-likelihood that is lost where only `free` coefficients move; `near` is where to begin."""
        return self._measure(climb_far(self._objective, near, free))

    def _lose_root(self, top: Height) -> float:
        return math.sqrt(self._measure(top))

    def _measure(self, top: Height) -> float:
        for _ in range(_MOST_MAXIMA):
            if not is_higher(top, self.top):
                break
            self.top = climb(self._objective, top.theta)
        return max(2 * (self.top.value - top.value), 0.0)


def _is_same(top: Height, other: Height) -> bool:
    """Whether two maxima are one, or as likely all along the line from 0 through both."""
    length = float(np.linalg.norm(top.theta) * np.linalg.norm(other.theta))
    alike = float(top.theta @ other.theta) > _ALIKE * length
    return alike and abs(top.value - other.value) < _SAME
