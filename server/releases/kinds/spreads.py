"""The variance and the standard deviation of a number of a table."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.privacy.noise import allocate, geometric_interval
from server.releases.kinds.base import Error, ItemDraw, count_known, is_bounded
from server.releases.kinds.exact_rows import NumberColumn
from server.releases.noisy_cells import NOTHING_ADDED, Noise
from server.releases.plans.items import Item
from server.releases.survey_shapes import Shape, Source
from server.releases.values import Figure

_PARTS = 1 << 20
"""Of half of the range, and of its square: the numbers are rounded to them, each by itself, and sums are whole."""

Ends = tuple[float, float]


@dataclass(frozen=True, eq=False)
class SpreadItem:
    """The variance of a number: the mean of its squares less the square of its mean, from three noisy sums.

    With z the distance from the middle of the range, in half ranges, they are the number of rows, the sum of z
    and the sum of 2 z**2 - 1: one row adds at most 1 to each. Each has a third of the loss. Where the number of
    rows is public, it is exact and the others have half. What is divided by is the number of rows, not one less.
    The variance is cut to what it can be: 0 to the square of half of the range.
    """

    column: NumberColumn
    shape: Shape
    mechanism: str = "geometric"

    @classmethod
    def of(cls, item: Item, shape: Shape, field: str) -> "SpreadItem":
        """Check an item against a shape."""
        return cls(NumberColumn.of(item, shape, field), shape, item.noise)

    @property
    def leaves(self) -> tuple[int, ...]:
        """Those of its column."""
        return self.column.leaves

    def error(self, epsilon: float, delta: float, people: int | None) -> Error:
        """Of the variance, where it is most uncertain: all numbers at one end of the range."""
        if people is None:
            return Error("value squared", None)
        return Error("value squared", self._vary(epsilon, people, 1.0, 1.0))

    def draw(self, source: Source, epsilon: float, delta: float, confidence: float) -> ItemDraw:
        """Three sums with noise, and what they say of the spread."""
        noises = self._noises(epsilon)
        exact = self.sums(self.column.count_steps(source))
        noisy = [
            int(noise.add([np.array([total])])[0][0]) for noise, total in zip(noises, exact, strict=True)
        ]
        drawn = sum(noise.kind != NOTHING_ADDED for noise in noises)
        level = 1 - (1 - confidence) / drawn  # the limits of all sums hold together
        limits = [
            (total, total)
            if noise.kind == NOTHING_ADDED
            else tuple(geometric_interval(total, noise.changes, noise.epsilon, level).tolist())
            for noise, total in zip(noises, noisy, strict=True)
        ]
        rounded = max(limits[0][1], 0) / 2  # of each row at most half a part, whatever it holds
        limits[1:] = [(low - rounded, high + rounded) for low, high in limits[1:]]
        value = self._variance((noisy[0],) * 2, (noisy[1],) * 2, (noisy[2],) * 2)
        low, high = self._variance(*limits)
        place = ((self.column.variable.name, ""),)
        told = value[0] if noisy[0] > 0 else None
        error = None
        if told is not None:
            mean, square = (min(max(total / noisy[0] / _PARTS, -1.0), 1.0) for total in noisy[1:])
            error = self._vary(epsilon, noisy[0], mean, square)
        figures = (
            Figure("variance", place, told, error, low, high),
            Figure(
                "standard_deviation",
                place,
                None if told is None else math.sqrt(told),
                None,
                math.sqrt(low),
                math.sqrt(high),
            ),
        )
        grid = self.column.grid
        notes: dict[str, float | int | str] = {
            "noisy_count": noisy[0],
            "lowest": float(grid.low),
            "highest": float(grid.high),
        }
        return ItemDraw(figures, notes)

    def _vary(self, epsilon: float, people: int, mean: float, square: float) -> float:
        """By how much noise moves the variance where z and 2 z² - 1 are this on average, by the delta method."""
        of_count, of_sum, of_squares = (math.sqrt(noise.variance) for noise in self._noises(epsilon))
        by_each = (
            (2 * mean**2 - square / 2) * of_count,
            2 * mean * of_sum / _PARTS,
            of_squares / (2 * _PARTS),
        )
        return min(math.hypot(*by_each) / people, 1.0) * self._half**2

    def sums(self, counts: NDArray[np.int64]) -> tuple[int, int, int]:
        """Rows; the sum of z in parts; the sum of 2 z² - 1 in parts, exactly: each row's are whole numbers."""
        of = self.column.grid.of
        z = (2 * np.arange(of + 1) - of) / of
        held = np.flatnonzero(counts)
        away, squares = np.rint(_PARTS * z[held]), np.rint(_PARTS * (2 * z[held] ** 2 - 1))
        own = counts[held]
        return (
            int(own.sum()),
            int(away.astype(np.int64) @ own),
            int(squares.astype(np.int64) @ own),
        )

    def _variance(self, count: Ends, away: Ends, squares: Ends) -> Ends:
        """The least and the most that the variance can be where the sums lie between these limits."""
        most = self._half**2
        if count[0] <= 0:
            return 0.0, most
        means = [total / rows / _PARTS for total in away for rows in count]
        halves = [(total / rows / _PARTS + 1) / 2 for total in squares for rows in count]
        farthest = max(map(abs, means))
        nearest = 0.0 if min(means) <= 0 <= max(means) else min(map(abs, means))
        found = min(halves) - farthest**2, max(halves) - nearest**2
        low, high = (min(max(end, 0.0), 1.0) * most for end in found)
        return low, high

    @property
    def _half(self) -> float:
        return float(self.column.grid.high - self.column.grid.low) / 2

    def _noises(self, epsilon: float) -> tuple[Noise, Noise, Noise]:
        """Of the number of rows, of the sum and of the squares."""
        most = 2 * _PARTS if is_bounded(self.shape) else _PARTS
        if count_known(self.shape, self.column.versions, self.leaves) is not None:
            own = epsilon / 2
            return Noise(NOTHING_ADDED, 0, own, 0.0), *self._of_sums(most, own)
        own = float(allocate(epsilon, [1, 1, 1]).epsilons[0])
        return Noise(self.mechanism, 1, own, 0.0), *self._of_sums(most, own)

    def _of_sums(self, most: int, epsilon: float) -> tuple[Noise, Noise]:
        return Noise(self.mechanism, most, epsilon, 0.0), Noise(self.mechanism, most, epsilon, 0.0)
