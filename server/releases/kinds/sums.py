"""The sum of a number of a table."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from server.inputs import N_, refuse
from server.privacy.noise import geometric_interval
from server.releases.kinds.base import Error, ItemDraw, count_known, is_bounded
from server.releases.kinds.exact_rows import NumberColumn
from server.releases.noisy_cells import Noise
from server.releases.plans.items import Item
from server.releases.survey_shapes import Shape, Source
from server.releases.values import Figure
from server.study.definitions import simplify_number

_MOST_UNITS = 1 << 40
"""Of the largest number, in the unit that all of them are whole multiples of."""
_LARGEST_SUM = 1 << 62


@dataclass(frozen=True, eq=False)
class ColumnSum:
    """The noisy sum of a number that lies between declared bounds: one whole number of units with noise.

    A row that is added or left out changes it by its number: by no more than the bound that is further from 0.
    One that is replaced among rows whose number is public changes it by the length of the range at most; among
    rows under conditions or in a stratum it may come or go as well. No rows have the sum 0, with as much noise.
    """

    column: NumberColumn
    shape: Shape
    mechanism: str = "geometric"

    @classmethod
    def of(cls, item: Item, shape: Shape, field: str) -> "ColumnSum":
        """Check an item against a shape."""
        query = cls(NumberColumn.of(item, shape, field), shape, item.noise)
        if query.sensitivity() > _MOST_UNITS:
            template = N_(
                "must have bounds of at most %(limit)s times what its numbers have in common; %(value)s has not"
            )
            raise refuse(
                422, f"{field}.questions", template, limit=_MOST_UNITS, value=query.column.variable.name
            )
        return query

    @property
    def leaves(self) -> tuple[int, ...]:
        """Those of its column."""
        return self.column.leaves

    def sensitivity(self) -> int:
        """The most that one row changes the sum, in units."""
        grid = self.column.grid
        low, high = (int(end / self._unit) for end in (grid.low, grid.high))
        if is_bounded(self.shape):
            known = count_known(self.shape, self.column.versions, self.leaves) is not None
            return high - low if known else max(high, 0) - min(low, 0)
        return max(abs(low), abs(high))

    def error(self, epsilon: float, delta: float, people: int | None) -> Error:
        """Of the sum, in the number's unit; the same for however many rows."""
        return Error("value", math.sqrt(self._noise(epsilon).variance) * float(self._unit))

    def draw(self, source: Source, epsilon: float, delta: float, confidence: float) -> ItemDraw:
        """Add up, in whole units, and perturb."""
        counts, unit = self.column.count_steps(source), self._unit
        first, step = int(self.column.grid.low / unit), int(self.column.grid.step / unit)
        held = np.flatnonzero(counts)
        exact = sum(
            (first + step * place) * number
            for place, number in zip(held.tolist(), counts[held].tolist(), strict=True)
        )
        # Cut off beyond what a table can hold, which moves no two sums further apart: nothing is refused for it.
        noise, cut = self._noise(epsilon), min(max(exact, -_LARGEST_SUM), _LARGEST_SUM)
        (noisy,) = noise.add([np.array([cut])])
        low, high = geometric_interval(noisy, noise.changes, epsilon, confidence)[0].tolist()
        figure = Figure(
            "sum",
            ((self.column.variable.name, ""),),
            simplify_number(int(noisy[0]) * unit),
            math.sqrt(noise.variance) * float(unit),
            simplify_number(low * unit),
            simplify_number(high * unit),
        )
        notes: dict[str, float | int | str] = {
            "sum_sensitivity": float(noise.changes * unit),
            "unit": float(unit),
            "lowest": float(self.column.grid.low),
            "highest": float(self.column.grid.high),
        }
        return ItemDraw((figure,), notes)

    @property
    def _unit(self) -> Fraction:
        """The largest number that low and step, and so all numbers of the grid, are whole multiples of."""
        low, step = self.column.grid.low, self.column.grid.step
        common = math.lcm(low.denominator, step.denominator)
        return Fraction(math.gcd(int(low * common), int(step * common)), common)

    def _noise(self, epsilon: float) -> Noise:
        return Noise(self.mechanism, self.sensitivity(), epsilon, 0.0)
