"""The shapes of charts that show no estimates: bars of responses per day, and the axis of ratios."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from server.output.charts import Axis
from server.reports.day_counts import Period

_MOST_DOUBLINGS = 6


@dataclass(frozen=True)
class PeriodBar:
    """A period as a bar, in percent of the drawing: its area is its responses."""

    start: float
    width: float
    height: float


def bars(periods: Sequence[Period]) -> list[PeriodBar]:
    """One for each period; the tallest reaches the top."""
    first = periods[0].first
    days = (periods[-1].last - first).days + 1
    most = max(period.n / period.days for period in periods)
    return [
        PeriodBar(
            round(100 * (period.first - first).days / days, 3),
            round(100 * period.days / days, 3),
            round(100 * period.n / period.days / most, 3),
        )
        for period in periods
    ]


def draw_spark(periods: Sequence[Period]) -> str:
    """The same bars as one path in a drawing of 100 by 100, for a list where each survey has one."""
    return "".join(
        f"M{bar.start:g} 100V{100 - bar.height:g}h{bar.width:g}V100z" for bar in bars(periods) if bar.height
    )


@dataclass(frozen=True)
class RatioChart:
    """A ratio on an axis of doublings: where to draw it, what to write where."""

    axis: Axis
    value: float | None
    interval: tuple[float, float]


def ratio_chart(value: float | None, interval: tuple[float, float]) -> RatioChart:
    """On an axis of its own; what is farther is cut."""
    low, high = (count_doublings(end) for end in interval)
    return RatioChart(ratio_axis([interval]), None if value is None else count_doublings(value), (low, high))


def ratio_axis(intervals: Sequence[tuple[float, float]]) -> Axis:
    """Of doublings, from 1/8 to 8 or, as far as an interval reaches, up to 64 times."""
    farthest = max((abs(count_doublings(end)) for interval in intervals for end in interval), default=0.0)
    reach = max(3, min(math.ceil(farthest), _MOST_DOUBLINGS))
    marks = tuple(float(mark) for mark in range(-reach, reach + 1))
    return Axis(-reach - 0.5, reach + 0.5, -reach - 0.5, reach + 0.5, marks, (-2.0, 0.0, 2.0))


def count_doublings(ratio: float) -> float:
    """The logarithm to the base 2, as far as a drawing may have to reach."""
    if ratio <= 0:
        return -100.0
    return min(max(math.log2(ratio), -100.0), 100.0)
