"""A number that is known exactly, row by row, for what is added up or ranked over rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.releases.kinds.base import leaves_of, variables_of
from server.releases.kinds.exact_steps import ExactSteps
from server.releases.plans.items import Item
from server.releases.survey_shapes import Shape, Source, Variable


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """A number in a table, its grid, and the places where it is asked about."""

    variable: Variable
    grid: ExactSteps
    leaves: tuple[int, ...]

    @classmethod
    def of(cls, item: Item, shape: Shape, field: str) -> "NumberColumn":
        """Check an item against a shape.

        Raises
        ------
        InputError
            On its questions, if they name no number that is known exactly.
        """
        (variable,) = variables_of(item, shape, field)
        grid = ExactSteps.of_variable(variable, f"{field}.questions")
        return cls(variable, grid, leaves_of(item, shape, field))

    @property
    def versions(self) -> Sequence[int]:
        """Those that have it."""
        return [one.version for one in self.variable.versions]

    def count_steps(self, source: Source) -> NDArray[np.int64]:
        """How many rows hold each number of the grid, exactly."""
        found = np.zeros(self.grid.of + 1, dtype=np.int64)
        for rows in source.of(self.versions):
            chosen = rows.select_from(self.leaves)
            steps = rows.codes(self.variable.name)[-1][chosen]
            np.add.at(found, steps, rows.counts[chosen])
        return found
