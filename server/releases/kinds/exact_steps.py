"""Numbers that are known exactly, as steps of their grid: every comparison is one of fractions."""

import math
from dataclasses import dataclass
from fractions import Fraction

from server.inputs import N_, InputError, refuse
from server.releases.survey_shapes import Variable
from server.study.definitions import simplify_number


@dataclass(frozen=True)
class ExactSteps:
    """low, low + step, ..., of which there are `of` + 1. Floats were taken as their shortest decimals."""

    low: Fraction
    step: Fraction
    of: int

    @classmethod
    def of_variable(cls, variable: Variable, field: str) -> "ExactSteps":
        """The grid of a number.

        Raises
        ------
        InputError
            On the field, if the variable is no number that is known exactly.
        """
        if variable.steps is None or variable.values is None:
            template = N_("must be a number that is known exactly, as in a table; %(value)s is not")
            raise refuse(422, field, template, value=variable.name)
        low, high = (Fraction(repr(end)) for end in (variable.values[0], variable.values[-1]))
        return cls(low, (high - low) / variable.steps, variable.steps)

    @property
    def high(self) -> Fraction:
        """The largest of them."""
        return self.low + self.of * self.step

    def number(self, steps: int) -> int | float:
        """The number so many steps above the lowest."""
        return simplify_number(self.low + steps * self.step)

    def first_from(self, number: Fraction, *, above: bool = False) -> int:
        """The first that is at least a number, or above it, in steps; one beyond the last where there is none."""
        steps = (number - self.low) / self.step
        first = math.floor(steps) + 1 if above else math.ceil(steps)
        return min(max(first, 0), self.of + 1)

    def steps_to(self, number: Fraction, field: str) -> int:
        """The steps to a number of the grid.

        Raises
        ------
        InputError
            On the field, if it is not on the grid.
        """
        steps = (number - self.low) / self.step
        if steps.denominator != 1 or not 0 <= steps <= self.of:
            raise self._refuse(field, number)
        return int(steps)

    def _refuse(self, field: str, number: Fraction) -> InputError:
        template = N_("must be from %(low)s to %(high)s in steps of %(step)s; it is %(value)s")
        low, high, step, value = map(simplify_number, (self.low, self.high, self.step, number))
        return refuse(422, field, template, low=low, high=high, step=step, value=value)
