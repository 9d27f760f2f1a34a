"""What reports alone say where a weak prior was added: limits beyond those that it sets, and what a test loses.

A likelihood that rises without end has a supremum all the same, which its ridge stops just short of.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators.climbing import Objective, climb, climb_far
from server.privacy.estimators.latent_likelihood import Floats, Height
from server.privacy.estimators.profiles import HigherError, find_limit, is_higher, look_farthest

_MOST_MAXIMA = 5


class OpenProfile:
    """The profile of a likelihood that may rise without end; its supremum is looked for from each of `starts`."""

    def __init__(self, objective: Objective, starts: Sequence[Floats]) -> None:
        self._objective = objective
        self.top = max((climb_far(objective, start) for start in starts), key=lambda found: found.value)

    def is_open(self, near: Height, place: int, step: float, lost: float) -> bool:
        """Whether less than `lost` is lost at the farthest on the side of `step` of `near`, a maximum with a prior."""
        return math.sqrt(self._measure(look_farthest(self._objective, near, place, step))) < lost

    def widen(self, limit: float, near: Height, place: int, step: float, lost: float) -> float:
        """A limit that a prior set, or the one farther out on the side of `step` that these reports alone set.

        Infinite where they lose less than `lost` all the way. `near` is the maximum with the prior.
        """
        if math.isinf(limit):
            return limit
        for _ in range(_MOST_MAXIMA):
            try:
                return find_limit(self._objective, self.top, place, step, lost, (limit, near))
            except HigherError as higher:
                self.top = climb(self._objective, higher.theta)
        return math.copysign(math.inf, step)

    def lose(self, near: Floats, free: NDArray[np.bool_]) -> float:
        """Twice the log-likelihood that is lost where only `free` coefficients move; `near` is where to begin."""
        return self._measure(climb_far(self._objective, near, free))

    def _measure(self, found: Height) -> float:
        for _ in range(_MOST_MAXIMA):
            if not is_higher(found, self.top):
                break
            self.top = climb(self._objective, found.theta)
        return max(2 * (self.top.value - found.value), 0.0)
