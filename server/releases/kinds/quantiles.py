"""The median of a number of a table, and other quantiles: each chosen among the numbers that were declared."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_, refuse
from server.inputs.decimals import format_decimal
from server.privacy.noise import allocate
from server.privacy.selection import choose_in_gaps, rate_of, selection_error
from server.releases.kinds.base import Error, ItemDraw, is_bounded
from server.releases.kinds.exact_rows import NumberColumn
from server.releases.kinds.selections import MISSING
from server.releases.plans.items import Item
from server.releases.survey_shapes import Shape, Source
from server.releases.values import Figure

MEDIAN = Decimal("0.5")
_DIGITS = 4
"""Of a share, after the point: parts of a row are then counted exactly."""
_MOST_PARTS = 10**_DIGITS


@dataclass(frozen=True, eq=False)
class Quantiles:
    """For each share p the number below which that share of the rows lies, by the exponential mechanism.

    Every declared number is an option. It falls short by how many rows too many are below it, or above it: by
    the larger of (rows below - p n) and (rows above - (1 - p) n), or by nothing. The p-quantile of any rows
    falls short by nothing, and of no rows every number does. A row more or less moves
    that by p or 1 - p at most, a row replaced by 1. Several shares have equal parts of the loss.
    """

    item: Item
    column: NumberColumn
    shape: Shape

    @classmethod
    def of(cls, item: Item, shape: Shape, field: str) -> "Quantiles":
        """Check an item against a shape."""
        for place, level in enumerate(item.levels):
            at, written = f"{field}.levels[{place}]", format_decimal(level)
            if Fraction(level).denominator > _MOST_PARTS:
                template = N_("must have at most %(limit)s digits after the point; it is %(value)s")
                raise refuse(422, at, template, limit=_DIGITS, value=written)
            if level in item.levels[:place]:
                raise refuse(422, at, N_("must be unique; %(value)s stands twice"), value=written)
        return cls(item, NumberColumn.of(item, shape, field), shape)

    @property
    def mechanism(self) -> str:
        """There is one."""
        return self.item.noise

    @property
    def leaves(self) -> tuple[int, ...]:
        """Those of its column."""
        return self.column.leaves

    def error(self, epsilon: float, delta: float, people: int | None) -> Error:
        """By how many rows too many may be below a quantile, or above it, except in 5 of 100 cases: at worst."""
        return Error("people", max(self._misses(level, epsilon, MISSING) for level in self.levels))

    def draw(self, source: Source, epsilon: float, delta: float, confidence: float) -> ItemDraw:
        """Choose each by itself."""
        counts = self.column.count_steps(source)
        figures: list[Figure] = []
        notes: dict[str, float | int | str] = {
            "options": self.column.grid.of + 1,
            "lowest": float(self.column.grid.low),
            "highest": float(self.column.grid.high),
        }
        for level in self.levels:
            utilities = self.utilities(counts, level)
            # Numbers between two rows are equally good: each such gap is one, of its length.
            starts = np.concatenate([[0], np.flatnonzero(np.diff(utilities)) + 1])
            sizes = np.diff(starts, append=utilities.size)
            gap, place = choose_in_gaps(
                utilities[starts], sizes, self.sensitivity(level), self._part(epsilon)
            )
            name = format_decimal(level)
            value = self.column.grid.number(int(starts[gap]) + place)
            figures.append(Figure("quantile", ((self.column.variable.name, name),), value))
            notes[f"rows_off_{name}"] = self._misses(level, epsilon, 1 - confidence)
            notes[f"log_odds_per_row_{name}"] = self._log_odds(level, epsilon)
        return ItemDraw(tuple(figures), notes)

    @property
    def levels(self) -> tuple[Decimal, ...]:
        """The shares."""
        return self.item.levels or (MEDIAN,)

    def utilities(self, counts: NDArray[np.int64], level: Decimal) -> NDArray[np.int64]:
        """How far each number falls short, below 0, in parts of a row: as many as the share's denominator."""
        share = Fraction(level)
        below = np.concatenate([[0], np.cumsum(counts)[:-1]])
        above = counts.sum() - below - counts
        parts, own = share.denominator, share.numerator
        short = np.maximum(parts * below - own * counts.sum(), parts * above - (parts - own) * counts.sum())
        return np.asarray(-np.maximum(short, 0))

    def sensitivity(self, level: Decimal) -> float:
        """The most that a row changes one of them, in the same parts."""
        share = Fraction(level)
        if is_bounded(self.shape):
            return float(share.denominator)
        return float(max(share.numerator, share.denominator - share.numerator))

    def _part(self, epsilon: float) -> float:
        return float(allocate(epsilon, [1] * len(self.levels)).epsilons[0])

    def _log_odds(self, level: Decimal, epsilon: float) -> float:
        """With each row that a number falls short by more than another."""
        rate = rate_of(self.sensitivity(level), self._part(epsilon), monotone=False)
        return float(rate) * Fraction(level).denominator

    def _misses(self, level: Decimal, epsilon: float, failure: float) -> float:
        """In rows, how far a quantile falls short at most but with this chance."""
        parts = selection_error(
            self.column.grid.of + 1, self.sensitivity(level), self._part(epsilon), failure
        )
        return parts / Fraction(level).denominator
