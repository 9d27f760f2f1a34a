"""Limits beyond those that a weak prior sets: as far as the likelihood of the reports alone goes, or without an end."""

import math
from collections.abc import Sequence

from server.privacy.estimators.climbing import Objective, climb
from server.privacy.estimators.latent_likelihood import Floats, Height
from server.privacy.estimators.profiles import HigherError, find_limit

_MOST_MAXIMA = 5


class OpenProfile:
    """The profile of a likelihood that may rise without end; its supremum is looked for from each of `starts`."""

    def __init__(self, objective: Objective, starts: Sequence[Floats]) -> None:
        self._objective = objective
        self._top = max((climb(objective, start) for start in starts), key=lambda found: found.value)

    def widen(self, limit: float, near: Height, place: int, step: float, lost: float) -> float:
        """A limit that a prior set, or the one farther out on the side of `step` that these reports alone set.

        Infinite where they lose less than `lost` all the way. `near` is the maximum with the prior.
        """
        if math.isinf(limit):
            return limit
        begin = near.theta.copy()
        begin[place] = limit
        for _ in range(_MOST_MAXIMA):
            try:
                return find_limit(self._objective, self._top, place, step, lost, begin)
            except HigherError as higher:
                self._top = climb(self._objective, higher.theta)
        return math.copysign(math.inf, step)
