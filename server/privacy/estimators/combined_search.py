"""To the top of a likelihood with many combinations of answers, and how it bends there.

References
----------
Nocedal, J. and Wright, S. J. (2006). *Numerical Optimization*, 2nd ed., chapter 7. Springer.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators.combined_likelihood import CombinedModel, CombinedState

Floats = NDArray[np.float64]
Penalty = Callable[[Floats], tuple[float, Floats, Floats]]
"""Of the slopes: a value to be added, its gradient, and minus its second derivatives."""
_LONGEST_STEP = 4.0
_LONGEST_LOGIT = 3.0
_MOST_STEPS = 300
_MOST_PRODUCTS = 150
_NEARLY, _CLOSE, _CLOSER = 0.1, 1e-2, 1e-5
NO_GAIN, _HARDLY_ANY_GAIN, _FAR_BELOW = 1e-7, 1e-4, 0.02
_FEW_LOGITS = 200
"""Up to which all second derivatives at a summit are written out, where chances are sums of terms."""


@dataclass(frozen=True, eq=False)
class Summit:
    """Slopes where the likelihood is highest, and the chances of combinations that go with them."""

    state: CombinedState
    value: float
    gradient: Floats


class CombinedSearch:
    """Of a model with a penalty of the slopes; each search begins with the chances of the one before."""

    def __init__(self, model: CombinedModel) -> None:
        self.model = model
        self._near = np.zeros((model.free, model.tally.known.shape[1]))
        self._measured: CombinedCurvature | None = None

    def climb(
        self,
        penalty: Penalty,
        start: Floats,
        free: NDArray[np.bool_],
        least: float = _HARDLY_ANY_GAIN,
        below: float = -np.inf,
    ) -> Summit:
        """A maximum over the slopes that are `free`, and all chances of combinations.

        The search ends where a step would gain `least`, or a fiftieth of what is missing to `below`.
        """
        here = self._weigh(penalty, start, self._near)
        if self._measured is not None:
            followed = self._weigh(penalty, start, self._measured.follow_slopes(start))
            here = max(here, followed, key=lambda each: each.value)
        gain = np.inf
        for _ in range(_MOST_STEPS):
            step, gain = _solve(here, penalty, free, _CLOSE if gain < 1 else _NEARLY, self._measured)
            if gain <= max(least, _FAR_BELOW * (below - here.value)):
                break
            following = self._move(penalty, here, step, gain)
            if following.value <= here.value:
                break
            here = following
        self._near = here.state.logits
        return here

    def measure(self, summit: Summit, bend: Floats) -> "CombinedCurvature":
        """How the likelihood bends there, and its penalty by `bend`; the last one is kept."""
        self._measured = CombinedCurvature(summit, bend)
        return self._measured

    @property
    def measured(self) -> "CombinedCurvature":
        """What was measured last."""
        assert self._measured is not None
        return self._measured

    def _weigh(self, penalty: Penalty, slopes: Floats, logits: Floats) -> Summit:
        state = CombinedState(self.model, slopes, logits)
        value, gradient, _ = penalty(slopes)
        return Summit(state, state.value + value, state.gradient + gradient)

    def _move(self, penalty: Penalty, here: Summit, step: tuple[Floats, Floats], gain: float) -> Summit:
        slopes, logits = step
        length = min(1.0, _LONGEST_STEP / max(float(np.abs(slopes).max()), 1e-300))
        cut = np.clip(logits, -_LONGEST_LOGIT, _LONGEST_LOGIT)
        following = self._weigh(penalty, here.state.slopes + length * slopes, here.state.logits + cut)
        while following.value < here.value + 1e-4 * length * gain and length > 1e-9:
            length /= 2
            cut = np.clip(length * logits, -_LONGEST_LOGIT, _LONGEST_LOGIT)
            following = self._weigh(penalty, here.state.slopes + length * slopes, here.state.logits + cut)
        return following


def _solve(
    here: Summit,
    penalty: Penalty,
    free: NDArray[np.bool_],
    close: float,
    measured: "CombinedCurvature | None" = None,
) -> tuple[tuple[Floats, Floats], float]:
    """A step upwards, and what it would gain, twice; what was measured nearby makes it a short way there."""
    state, bend = here.state, penalty(here.state.slopes)[2]
    width = int(free.sum())
    size = here.gradient.size
    precede = _look_at_blocks(state, bend, free) if measured is None else measured.precede(free)
    if precede is None:
        precede = _look_at_blocks(state, bend, free)

    def multiply(step: Floats) -> Floats:
        slopes = np.zeros(size)
        slopes[free] = step[:width]
        along, across = state.multiply(slopes, step[width:].reshape(state.logits.shape))
        return np.concatenate([(along + bend * slopes)[free], across.ravel()])

    pull = np.concatenate([here.gradient[free], state.towards.ravel()])
    found = conjugate(multiply, precede, pull, close)
    slopes = np.zeros(size)
    slopes[free] = found[:width]
    return (slopes, found[width:].reshape(state.logits.shape)), float(pull @ found)


def _look_at_blocks(
    state: CombinedState, bend: Floats, free: NDArray[np.bool_]
) -> Callable[[Floats], Floats]:
    """About what the curvature takes to a gradient: that of slopes, and of each combination by itself."""
    by_slopes, by_logits = state.find_blocks()
    nearby, blocks = _invert_near(by_slopes[np.ix_(free, free)] + np.diag(bend[free])), _invert(by_logits)
    width = int(free.sum())

    def precede(left: Floats) -> Floats:
        other = _multiply_blocks(blocks, left[width:].reshape(state.logits.shape))
        return np.concatenate([nearby @ left[:width], other.ravel()])

    return precede


def _invert_near(matrix: Floats) -> Floats:
    """Of a matrix that is about positive definite."""
    values, vectors = np.linalg.eigh(matrix) if matrix.size else (np.zeros(0), np.zeros((0, 0)))
    return np.asarray((vectors / np.maximum(values, 1e-8)) @ vectors.T)


def _invert(blocks: Floats) -> Floats:
    """Each of many small matrices: where nothing is known, each is a number."""
    return np.asarray(1 / blocks if blocks.shape[1] == 1 else np.linalg.inv(blocks))


def _multiply_blocks(blocks: Floats, left: Floats) -> Floats:
    return np.asarray(blocks[:, 0] * left if blocks.shape[1] == 1 else np.einsum("kij,kj->ki", blocks, left))


def conjugate(
    multiply: Callable[[Floats], Floats], precede: Callable[[Floats], Floats], pull: Floats, close: float
) -> Floats:
    """Conjugate gradients; where the curvature is negative they end, with a step upwards."""
    found, left = np.zeros_like(pull), pull.copy()
    towards = precede(left)
    direction = towards.copy()
    size = first = float(left @ towards)
    # As many products as there are directions would do, but for rounding; where some have no curvature it never ends.
    most = min(_MOST_PRODUCTS if close >= _CLOSE else 10 * _MOST_PRODUCTS, 2 * pull.size + 10)
    for number in range(most):
        if size <= close**2 * first or size <= 0:
            break
        product = multiply(direction)
        bent = float(direction @ product)
        if bent <= 0:
            return found if number else towards
        found += size / bent * direction
        left -= size / bent * product
        towards = precede(left)
        size, before = float(left @ towards), size
        direction = towards + size / before * direction
    return found


class CombinedCurvature:
    """How the likelihood bends at a summit, where the chances of combinations follow the slopes.

    `follow_units` has what the logits move back by where each slope moves by one, shape (slopes, r, 1 + p).
    """

    def __init__(self, summit: Summit, bend: Floats) -> None:
        self.state = summit.state
        self._blocks = _invert(self.state.find_blocks()[1])
        size = summit.gradient.size
        self.follow_units = np.zeros((size, *self.state.logits.shape))
        self.information = np.diag(bend)
        none = np.zeros_like(self.state.logits)
        self._whole: Floats | None = None
        if self.state.model.terms is not None and none.size <= _FEW_LOGITS:
            self._whole = whole = self._write_out(bend)
            follow = np.linalg.solve(whole[size:, size:], whole[size:, :size])
            self.follow_units = follow.T.reshape(self.follow_units.shape)
            self.information = whole[:size, :size] - whole[:size, size:] @ follow
            self.information = (self.information + self.information.T) / 2
            return
        for place in range(size):
            unit = np.eye(size)[place]
            by_slopes, by_logits = self.state.multiply(unit, none)
            self.follow_units[place] = follow = self.solve(by_logits)
            self.information[:, place] += by_slopes - self.state.multiply(np.zeros(size), follow)[0]
        self.information = (self.information + self.information.T) / 2

    def _write_out(self, bend: Floats) -> Floats:
        """All second derivatives, of slopes and logits."""
        size, shape = bend.size, self.state.logits.shape
        rows = []
        for unit in np.eye(size + self.state.logits.size):
            by_slopes, by_logits = self.state.multiply(unit[:size], unit[size:].reshape(shape))
            rows.append(np.concatenate([by_slopes + bend * unit[:size], by_logits.ravel()]))
        found = np.array(rows)
        return np.asarray((found + found.T) / 2)

    def precede(self, free: NDArray[np.bool_]) -> Callable[[Floats], Floats] | None:
        """About what the curvature takes to a gradient of these slopes and all logits, if it was written out."""
        if self._whole is None:
            return None
        kept = np.concatenate([free, np.ones(self.state.logits.size, np.bool_)])
        inverse = _invert_near(self._whole[np.ix_(kept, kept)])
        return lambda left: np.asarray(inverse @ left)

    def follow_slopes(self, slopes: Floats) -> Floats:
        """The logits that slopes nearby go with, most of the way."""
        moved = np.tensordot(slopes - self.state.slopes, self.follow_units, axes=1)
        return np.asarray(self.state.logits - np.clip(moved, -_LONGEST_LOGIT, _LONGEST_LOGIT))

    def solve(self, pull: Floats) -> Floats:
        """The step of logits alone that the curvature takes to a gradient."""
        none, shape = np.zeros(len(self.information)), self.state.logits.shape
        if self._whole is not None:
            own = self._whole[len(none) :, len(none) :]
            return np.asarray(np.linalg.solve(own, pull.ravel()).reshape(shape))

        def multiply(step: Floats) -> Floats:
            return self.state.multiply(none, step.reshape(shape))[1].ravel()

        def precede(left: Floats) -> Floats:
            return _multiply_blocks(self._blocks, left.reshape(shape)).ravel()

        return conjugate(multiply, precede, pull.ravel(), _CLOSER).reshape(shape)

    def follow(self, pull: Floats) -> tuple[Floats, Floats]:
        """The logits' own step by a gradient of theirs, and what it adds to the gradient of slopes."""
        step = self.solve(pull)
        return step, -self.state.multiply(np.zeros(len(self.information)), step)[0]
