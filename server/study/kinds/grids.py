"""The numbers that a question takes: a bounded grid in decimal steps, kept exact."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

Number = int | float


class GridPoint(NamedTuple):
    """A number's place between the lowest (0) and the highest (`of`), in steps."""

    steps: int
    of: int


@dataclass(frozen=True)
class Grid:
    """low, low + step, ..., high; `cuts` start new bins. Floats stand for their shortest decimal."""

    low: Number
    high: Number
    step: Number
    cuts: tuple[Number, ...] = ()

    @classmethod
    def from_json(cls, question: Mapping[str, Any]) -> "Grid":
        """The grid of a question that asks for a number, as its definition states it."""
        return cls(question["low"], question["high"], question["step"], tuple(question.get("cuts", ())))

    @property
    def of(self) -> int:
        """Steps from low to high; exact only where the rules hold."""
        return int((_exact(self.high) - _exact(self.low)) / _exact(self.step))

    def holds(self, number: Number) -> bool:
        """Whether a number is on the grid."""
        steps = (_exact(number) - _exact(self.low)) / _exact(self.step)
        return steps.denominator == 1 and 0 <= steps <= self.of

    def steps(self, number: Number) -> int:
        """Steps from low to a number on the grid."""
        return int((_exact(number) - _exact(self.low)) / _exact(self.step))

    def number(self, steps: int) -> Number:
        """The number so many steps above low."""
        return simplify_number(_exact(self.low) + steps * _exact(self.step))

    @property
    def first_steps(self) -> tuple[int, ...]:
        """Where each bin starts, in steps."""
        return (0, *(self.steps(cut) for cut in self.cuts))

    @property
    def bins(self) -> tuple[tuple[Number, Number], ...]:
        """The lowest and highest number of each bin."""
        return tuple(
            (self.number(first), self.number(after - 1))
            for first, after in pairwise((*self.first_steps, self.of + 1))
        )

    def as_json(self) -> dict[str, Any]:
        document: dict[str, Any] = {"low": self.low, "high": self.high, "step": self.step}
        return {**document, "cuts": list(self.cuts)} if self.cuts else document


def simplify_number(number: Fraction) -> Number:
    """A whole number as an integer, another one as the nearest float."""
    return int(number) if number.denominator == 1 else float(number)


def _exact(number: Number) -> Fraction:
    # repr is the shortest decimal that reads back the same: what the researcher typed.
    return Fraction(repr(number))
