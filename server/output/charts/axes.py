"""The axes that charts are drawn on: a drawing 100 units wide, whatever it shows."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

_REACH = 0.5
"""How many times the possible range an axis may reach beyond it; what is farther is cut, so that half is possible."""


@dataclass(frozen=True)
class Axis:
    """A drawn range from `low` to `high`; only `first` to `last` is possible for a true value.

    `ticks` are marked; those among them that are `labelled` have their number below.
    """

    low: float
    high: float
    first: float
    last: float
    ticks: tuple[float, ...]
    labelled: tuple[float, ...]

    def at(self, value: float) -> float:
        """Where a value is drawn, 0 to 100; one beyond the drawing at its edge."""
        place = 100 * (value - self.low) / (self.high - self.low)
        return round(min(max(place, 0.0), 100.0), 2)

    def holds(self, value: float) -> bool:
        """Whether a value has a place of its own in the drawing."""
        return self.low <= value <= self.high

    @property
    def hatches(self) -> list[float]:
        """Where the strokes start, 4 units wide, that hatch what is impossible."""
        below = np.arange(0, self.at(self.first) - 4 + 1e-9, 4).tolist()
        above = np.arange(self.at(self.last), 96 + 1e-9, 4).round(2).tolist()
        return [*below, *above]


def share_axis(intervals: Sequence[Iterable[float]]) -> Axis:
    """0 to 1 and, in steps of a tenth, what intervals reach beyond, dots whole."""
    ends = [tuple(interval) for interval in intervals]
    low = min((end[0] for end in ends), default=0.0)
    high = max((end[1] for end in ends), default=1.0)
    low = max(min(math.floor(low * 10 - 0.3) / 10, -0.1), -_REACH)
    high = min(max(math.ceil(high * 10 + 0.3) / 10, 1.1), 1 + _REACH)
    return Axis(low, high, 0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0), (0.0, 0.5, 1.0))


def part_axis(most: float) -> Axis:
    """0 to 1, which is a whole, and on to as many wholes as there are; nothing is impossible."""
    end = max(1.0, most)
    return Axis(0.0, 1.05 * end, 0.0, 1.05 * end, (0.0, 0.5, 1.0), (0.0, 1.0) if end < 5 else (0.0,))


def difference_axis(intervals: Sequence[Iterable[float]], width: float) -> Axis:
    """As far on both sides of 0 as intervals reach, in tenths of `width`, the largest difference there can be."""
    reach = max((abs(end) for interval in intervals for end in interval), default=0.0)
    steps = min(max(math.ceil(10 * reach / width + 0.3), 1), 12)
    end = steps * width / 10
    marks = (-end, -end / 2, 0.0, end / 2, end)
    return Axis(-1.08 * end, 1.08 * end, -width, width, marks, (-end, 0.0, end))


def mean_axis(first: float, last: float, interval: tuple[float, float] | None) -> Axis:
    """From the lowest to the highest number, with room for what the interval reaches beyond."""
    width = last - first
    low, high = interval if interval is not None else (first, last)
    below = min(max(math.ceil(10 * (first - low) / width + 0.3) / 10, 0.1), _REACH)
    above = min(max(math.ceil(10 * (high - last) / width + 0.3) / 10, 0.1), _REACH)
    ticks = tuple(first + width * part / 4 for part in range(5))
    return Axis(first - below * width, last + above * width, first, last, ticks, (first, last))
