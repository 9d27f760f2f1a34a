"""Limits of what two groups' estimates of a share or a mean differ by, and of how many times as large the first is."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators.anytime import (
    anytime_answered_means_of,
    anytime_means_of,
    anytime_shares_of,
)
from server.privacy.estimators.group_differences import (
    Differences,
    mean_difference_of,
    share_differences_of,
    subtract_intervals,
)
from server.privacy.estimators.group_ratios import divide_estimates, divide_intervals
from server.privacy.estimators.limits import split_error
from server.privacy.estimators.pooled import pooled_shares_of
from server.privacy.estimators.pooled_means import pooled_answered_mean_of, pooled_mean_of
from server.privacy.estimators.weighted_limits import chosen_interval
from server.reports.estimate_values import ReportMean, ShareRow
from server.reports.report_columns import INTERVAL, ReportColumn

Interval = tuple[float, float]
Estimated = ShareRow | ReportMean
Limits = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GroupLimits:
    """Intervals that hold for one look, or at every look (`anytime`), of all figures of one comparison."""

    anytime: bool

    def subtract(self, first: Estimated, second: Estimated, confidence: float) -> Interval:
        """Of the first less the second."""
        if self.anytime or (isinstance(first, ReportMean) and first.answered):
            return subtract_intervals(*self._apart(first, second, split_error(confidence, 2)))
        if isinstance(first, ShareRow):
            found = self._differences(first.column, second.column, confidence)
            return _pair(found.intervals[first.code])
        parts, ends = (first.column.checked, second.column.checked), (first.low, first.high)
        return _pair(mean_difference_of(*parts, ends, confidence, INTERVAL).intervals[0])

    def divide(self, first: Estimated, second: Estimated, confidence: float) -> Interval:
        """Of the first divided by the second, neither of which can be below 0."""
        if (
            first.value is None
            or second.value is None
            or self.anytime
            or not self.adds_distances(first, second)
        ):
            return divide_intervals(*self._apart(first, second, split_error(confidence, 2)))
        own = [self._of_one_look(each, confidence, INTERVAL) for each in (first, second)]
        return divide_estimates(first.value, own[0], second.value, own[1])

    def adds_distances(self, first: Estimated, second: Estimated) -> bool:
        """Whether squared distances of limits are added, as of many responses (`group_differences`)."""
        if isinstance(first, ReportMean) and first.answered:
            return False
        stacks = [stack for each in (first, second) for stack in each.column.checked.counting]
        return chosen_interval(INTERVAL, stacks) != "exact"

    def _apart(self, first: Estimated, second: Estimated, confidence: float) -> tuple[Interval, Interval]:
        """Of each group by itself."""
        if self.anytime:
            return self._always(first, second, confidence)
        kind = INTERVAL
        if not (isinstance(first, ReportMean) and first.answered) and not self.adds_distances(first, second):
            kind = "exact"
        return self._of_one_look(first, confidence, kind), self._of_one_look(second, confidence, kind)

    def _of_one_look(self, figure: Estimated, confidence: float, kind: str) -> Interval:
        parts = figure.column.checked
        if isinstance(figure, ShareRow):
            return _pair(self._shares(figure.column, confidence, kind)[figure.code])
        limits_of = pooled_answered_mean_of if figure.answered else pooled_mean_of
        return limits_of(parts, (figure.low, figure.high), confidence, kind).interval

    def _always(self, first: Estimated, second: Estimated, confidence: float) -> tuple[Interval, Interval]:
        columns = first.column, second.column
        if isinstance(first, ShareRow):
            if not all(column.one_partition for column in columns):
                return (0.0, 1.0), (0.0, 1.0)
            ours, theirs = self._at_every_look(*columns, confidence)
            return _pair(ours[first.code]), _pair(theirs[first.code])
        ends = first.low, first.high
        if not all(column.one_partition for column in columns):
            return ends, ends
        limits = anytime_answered_means_of if first.answered else anytime_means_of
        above, below = limits([column.checked for column in columns], ends, confidence)
        return above, below

    # A question's answers have the same columns: what was computed for one serves the others.

    @cached_property
    def _differences(self) -> Callable[[ReportColumn, ReportColumn, float], Differences]:
        return cache(
            lambda first, second, confidence: share_differences_of(
                first.checked, second.checked, confidence, INTERVAL
            )
        )

    @cached_property
    def _shares(self) -> Callable[[ReportColumn, float, str], Limits]:
        return cache(
            lambda column, confidence, kind: pooled_shares_of(column.checked, confidence, kind).intervals
        )

    @cached_property
    def _at_every_look(self) -> Callable[[ReportColumn, ReportColumn, float], list[Limits]]:
        return cache(
            lambda first, second, confidence: anytime_shares_of([first.checked, second.checked], confidence)
        )


def _pair(limits: Limits) -> Interval:
    low, high = limits.tolist()
    return low, high
