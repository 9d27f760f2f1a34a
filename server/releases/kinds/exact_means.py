"""The mean of a number that is known exactly, as in a table."""

import math
from dataclasses import dataclass

import numpy as np

from server.releases.kinds.base import Error, ItemDraw, count_known, is_bounded
from server.releases.noisy_cells import NOTHING_ADDED, Noise
from server.releases.ratio_estimates import estimate
from server.releases.survey_shapes import Shape, Source, Variable


@dataclass(frozen=True, eq=False)
class ExactMean:
    """The mean of a number that is known exactly: noisy sum over noisy count, each for half of the loss.

    The sum is that of distances from the middle of the range, in half steps: nobody adds more to it
    than half of the range. Under bounded neighbours the count is public, and the sum has all of
    the loss.
    """

    shape: Shape
    variable: Variable
    leaves: tuple[int, ...]
    mechanism: str = "geometric"

    def error(self, epsilon: float, delta: float, people: int | None) -> Error:
        """Of the mean, in its own unit, where it is in the middle of the range."""
        if people is None:
            return Error("value", None)
        low, high = self._ends
        half_step = (high - low) / self._steps / 2
        noise = math.sqrt(self._noise(epsilon, delta)[0].variance) * half_step / people
        return Error("value", noise, noise)

    def draw(self, source: Source, epsilon: float, delta: float, confidence: float) -> ItemDraw:
        """The noisy sum, the noisy count, and what they say of the mean."""
        total = count = 0
        for rows in source.of([one.version for one in self.variable.versions]):
            chosen = rows.select_from(self.leaves)
            steps = rows.codes(self.variable.name)[-1]
            away = 2 * steps[chosen].astype(np.int64) - self._steps
            total += int(away @ rows.counts[chosen])
            count += int(rows.counts[chosen].sum())
        of_sum, of_count = self._noise(epsilon, delta)
        (noisy_sum,) = of_sum.add([np.array([total])])
        (noisy_count,) = of_count.add([np.array([count])])
        low, high = self._ends
        half_step = (high - low) / self._steps / 2
        figure = estimate(
            "mean",
            ((self.variable.name, ""),),
            np.concatenate([noisy_sum, noisy_count]),
            np.array([half_step, (low + high) / 2]),
            np.array([0.0, 1.0]),
            of_sum,
            confidence,
            total=None,
            sampled=False,
            reach=(low, high),
            variances=[of_sum.variance, of_count.variance],
        )
        notes: dict[str, float | int | str] = {
            "noisy_sum": float(noisy_sum[0]) * half_step,
            "noisy_count": int(noisy_count[0]),
            "sum_sensitivity": of_sum.changes * half_step,
            "about": (low + high) / 2,
            "lowest": low,
            "highest": high,
        }
        return ItemDraw((figure,), notes)

    @property
    def _ends(self) -> tuple[float, float]:
        assert self.variable.values is not None  # as `mean_of` checked
        return self.variable.values[0], self.variable.values[-1]

    @property
    def _steps(self) -> int:
        assert self.variable.steps is not None
        return self.variable.steps

    def _noise(self, epsilon: float, delta: float) -> tuple[Noise, Noise]:
        """Of the sum and of the count."""
        kind = self.mechanism
        if count_known(self.shape, [one.version for one in self.variable.versions], self.leaves) is not None:
            return Noise(kind, 2 * self._steps, epsilon, delta, single=True), Noise(
                NOTHING_ADDED, 0, epsilon, delta
            )
        most = 2 * self._steps if is_bounded(self.shape) else self._steps
        return (
            Noise(kind, most, epsilon / 2, delta / 2, single=True),
            Noise(kind, 1, epsilon / 2, delta / 2, single=True),
        )
