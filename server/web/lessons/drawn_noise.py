"""Geometric and Laplace noise on a count: chances with and without one person, and draws."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from server.privacy import noise

COUNT = 10
"""The true count with the one person in it; without them it is one less."""
KINDS = ("geometric", "laplace")
GRID = Fraction(1, 16)
"""Steps of the Laplace noise, as exact arithmetic needs a grid."""
DRAWS = ("10", "100", "1000")
_DRAWN = 0.999
"""Of the noise, the part that is drawn in a figure."""
_COLUMNS = 30
_POINTS = 300


@dataclass(frozen=True)
class DrawnNoise:
    """Noise of a kind and a loss, for a count that one person changes by at most 1."""

    kind: str
    loss: Fraction

    @property
    def step(self) -> Fraction:
        """Between two values that can be released."""
        return Fraction(1) if self.kind == "geometric" else GRID

    @property
    def typical(self) -> float:
        """Its standard deviation."""
        if self.kind == "geometric":
            return math.sqrt(noise.geometric_variance(1, self.loss))
        return math.sqrt(noise.laplace_variance(1, self.loss, GRID))

    def reach(self, part: float = 0.95) -> float:
        """How far it reaches on either side, in this part of all draws at least."""
        if self.kind == "geometric":
            return float(noise.geometric_interval(0, 1, self.loss, part)[1])
        return float(noise.laplace_interval(0.0, 1, self.loss, GRID, part)[1])

    def chances(self, released: Sequence[float], count: int) -> list[float]:
        """How likely each value is when the count is this one; of Laplace noise for each unit."""
        steps = [round((Fraction(value) - count) / self.step) for value in released]
        if self.kind == "geometric":
            return [float(chance) for chance in noise.geometric_pmf(steps, 1, self.loss)]
        return [float(chance) / float(GRID) for chance in noise.laplace_pmf(steps, 1, self.loss, GRID)]

    def places(self) -> list[float]:
        """The values that a figure shows."""
        far = math.ceil(self.reach(_DRAWN))
        # Whole numbers, the highest places of the curves, are among them whatever the power of two.
        steps = int(1 / self.step)
        while steps > 1 and 2 * far * steps > _POINTS:
            steps //= 2
        return [COUNT + place / steps for place in range(-far * steps, far * steps + 1)]

    def draw(self, draws: int) -> list[float]:
        """The count with so many draws of noise."""
        counts = np.full(draws, COUNT)
        if self.kind == "geometric":
            return [float(count) for count in noise.geometric(counts, 1, self.loss)]
        return [float(count) for count in noise.laplace(counts, 1, self.loss, GRID, changed=1)]


def sort_into_columns(values: Sequence[float], low: float, high: float) -> list[tuple[float, float, float]]:
    """Where each column begins and ends, and the part of the values in it for each unit of its width.

    Columns stand around whole numbers; values beyond `low` and `high` are in none.
    """
    width = max(1, math.ceil((high - low) / _COLUMNS))
    edges = np.arange(math.floor(low) - 0.5, high + width, width)
    inside, _ = np.histogram(values, edges)
    return [
        (float(start), float(start + width), float(number / len(values) / width))
        for start, number in zip(edges[:-1], inside, strict=True)
        if number
    ]
