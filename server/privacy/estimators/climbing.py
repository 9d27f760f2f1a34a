"""To the top of a likelihood: with a ridge or a weak prior, by steps upwards whatever the curvature.

References
----------
Greenland, S. and Mansournia, M. A. (2015). Penalization, bias reduction, and default priors in logistic and related
categorical and survival regressions. *Statistics in Medicine* 34, 3133-3143.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from server.privacy.estimators.combined_search import NO_GAIN, CombinedSearch, Penalty, Summit
from server.privacy.estimators.latent_likelihood import Floats, Height, LatentData, evaluate_latent

RIDGE = 1e-6
"""So slight a pull towards 0 that no digit that is shown changes; where the likelihood rises without end, it ends."""
_LONGEST_STEP = 4.0
_MOST_STEPS = 100
_NO_GAIN = 1e-14
_FAR_BELOW, _CLEARLY = 0.02, 20.0
_MANY, _ONE_OF = 20_000, 16
"""Of so many rows, whatever begins far from the top is first taken near it by one in so many of them."""


@dataclass(frozen=True, eq=False)
class CombinedObjective:
    """The likelihood where the chances of combinations of answers follow the slopes: it is climbed as a whole."""

    search: CombinedSearch
    penalty: Penalty

    def climb(self, start: Floats, free: NDArray[np.bool_], below: float = -math.inf) -> Height:
        """A maximum over the coefficients that are `free`; how it bends is left out, as that takes longer.

        Far below a height the search ends sooner.
        """
        return self._describe(self.search.climb(self.penalty, start, free, below=below))

    def bend(self, top: Height) -> Height:
        """With how it bends."""
        summit = self.search.climb(self.penalty, top.theta, np.zeros(top.theta.size, dtype=np.bool_), NO_GAIN)
        information = self.search.measure(summit, self.penalty(top.theta)[2]).information
        return replace(self._describe(summit), information=information)

    def _describe(self, summit: Summit) -> Height:
        size = summit.gradient.size
        return Height(summit.state.slopes, summit.value, summit.gradient, np.zeros((size, size)))


@dataclass(frozen=True, eq=False)
class PenalisedRows:
    """The likelihood of rows, and a penalty of the coefficients."""

    data: LatentData
    penalty: Penalty

    def __call__(self, theta: Floats) -> Height:
        top, (value, gradient, bend) = evaluate_latent(self.data, theta), self.penalty(theta)
        return Height(theta, top.value + value, top.gradient + gradient, top.information + np.diag(bend))

    @cached_property
    def sketch(self) -> "PenalisedRows | None":
        """Of one row in sixteen, where rows are many: its top is a few standard errors from theirs."""
        data = self.data
        if len(data.counts) < _MANY:
            return None
        some = slice(_ONE_OF // 2, None, _ONE_OF)
        counts = data.counts[some] * (data.counts.sum() / data.counts[some].sum())
        fewer = (np.asfortranarray(each[some]) for each in (data.known, data.outcome, data.others))
        known, outcome, others = fewer
        return replace(
            self,
            data=replace(
                data, counts=counts, known=known, outcome=outcome, others=others, parts=(), written_out=True
            ),
        )


Objective = Callable[[Floats], Height] | CombinedObjective


def add_ridge(data: LatentData) -> Objective:
    """The likelihood, all but for rounding."""

    def pull(theta: Floats) -> tuple[float, Floats, Floats]:
        return -RIDGE / 2 * float(theta @ theta), -RIDGE * theta, np.full(theta.size, RIDGE)

    return _add(data, pull)


def add_prior(data: LatentData) -> Objective:
    """The likelihood and a weak prior, log-F(1, 1), on each coefficient: as much as a person of known answer tells.

    A coefficient is, with 95 % of it, between ln(1/648) and ln(648). So a maximum exists whatever the reports.
    """

    def pull(theta: Floats) -> tuple[float, Floats, Floats]:
        yes = scipy.special.expit(theta)
        return float(np.sum(theta / 2 - np.logaddexp(0, theta))), 0.5 - yes, yes * (1 - yes)

    return _add(data, pull)


def _add(data: LatentData, penalty: Penalty) -> Objective:
    return CombinedObjective(data.search, penalty) if data.combined else PenalisedRows(data, penalty)


def climb(
    objective: Objective,
    start: Floats,
    free: NDArray[np.bool_] | None = None,
    below: float = -math.inf,
    least: float = 0.0,
) -> Height:
    """A maximum, from `start`, over the coefficients that are `free` (all): steps upwards, whatever the curvature.

    The search ends where a step would gain `least`, or a fiftieth of what is missing to `below`.
    """
    moving = np.ones(start.size, dtype=np.bool_) if free is None else free
    if isinstance(objective, CombinedObjective):
        return objective.climb(start, moving, below)
    here = objective(start)
    for _ in range(_MOST_STEPS):
        values, vectors = np.linalg.eigh(here.information[np.ix_(moving, moving)])
        along = vectors.T @ here.gradient[moving]
        strides = along / np.maximum(np.abs(values), 1e-8)
        gain = float(along @ strides)
        if gain <= max(_NO_GAIN * (1 + abs(here.value)), least, _FAR_BELOW * (below - here.value)):
            return here
        step = np.zeros(start.size)
        step[moving] = vectors @ strides
        length = min(1.0, _LONGEST_STEP / float(np.abs(step).max()))
        following = objective(here.theta + length * step)
        while following.value < here.value + 1e-4 * length * gain and length > 1e-9:
            length /= 2
            following = objective(here.theta + length * step)
        if following.value <= here.value:
            return here
        here = following
    return here


def climb_far(
    objective: Objective,
    start: Floats,
    free: NDArray[np.bool_] | None = None,
    below: float = -math.inf,
) -> Height:
    """As `climb`, from where the top may be far: of many rows first by a few of them.

    It need not be as exact where it is far below `below`, if those few led there or chances follow the slopes.
    """
    if isinstance(objective, CombinedObjective):
        return climb(objective, start, free, below)
    sketch = objective.sketch if isinstance(objective, PenalisedRows) else None
    if sketch is None:
        return climb(objective, start, free)
    return climb(objective, climb(sketch, start, free).theta, free, below - _CLEARLY)


def bend(objective: Objective, top: Height) -> Height:
    """A maximum with minus its second derivatives, where climbing left them out."""
    return objective.bend(top) if isinstance(objective, CombinedObjective) else top
