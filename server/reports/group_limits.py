"""Limits of what two groups' estimates of a share or a mean differ by, and of how many times as large the first is.

And of what several change by, from one to the next.
"""

from collections.abc import Callable, Sequence
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
from server.privacy.estimators.latent_likelihood import do_nothing
from server.privacy.estimators.limits import split_error
from server.privacy.estimators.pooled_means import pooled_answered_mean_of, pooled_mean_of
from server.privacy.estimators.pooled_shares import pooled_shares_of
from server.privacy.estimators.trends import add_distances, add_intervals
from server.privacy.estimators.weighted_limits import chosen_interval
from server.reports.estimate_values import ReportMean, ShareRow
from server.reports.report_columns import INTERVAL, ReportColumn

Interval = tuple[float, float]
Estimated = ShareRow | ReportMean
Limits = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GroupLimits:
    """Intervals that hold for one look, or at every look (`anytime`), of all figures of one comparison.

    Before each is computed `on_step` is called, which may end the work by what it raises.
    """

    anytime: bool
    on_step: Callable[[], None] = do_nothing

    def subtract(self, first: Estimated, second: Estimated, confidence: float) -> Interval:
        """Of the first less the second."""
        self.on_step()
        if self.anytime or (isinstance(first, ReportMean) and first.answered):
            return subtract_intervals(*self._pair_apart(first, second, confidence))
        if isinstance(first, ShareRow):
            found = self._differences(first.column, second.column, confidence)
            return _pair(found.intervals[first.code])
        parts, ends = (first.column.checked, second.column.checked), (first.low, first.high)
        return _pair(mean_difference_of(*parts, ends, confidence, INTERVAL).intervals[0])

    def divide(self, first: Estimated, second: Estimated, confidence: float) -> Interval:
        """Of the first divided by the second, neither of which can be below 0."""
        self.on_step()
        if (
            first.value is None
            or second.value is None
            or self.anytime
            or not self.adds_distances(first, second)
        ):
            return divide_intervals(*self._pair_apart(first, second, confidence))
        own = [self._of_one_look(each, confidence, INTERVAL) for each in (first, second)]
        return divide_estimates(first.value, own[0], second.value, own[1])

    def combine(
        self, figures: Sequence[Estimated], coefficients: Sequence[float], confidence: float
    ) -> Interval:
        """Of the sum of the groups' estimates, each times its coefficient."""
        self.on_step()
        values = [figure.value for figure in figures if figure.value is not None]
        if self.anytime or len(values) < len(figures) or not self.adds_distances(*figures):
            return add_intervals(
                coefficients, self._limit_each(figures, split_error(confidence, len(figures)))
            )
        own = [self._of_one_look(each, confidence, INTERVAL) for each in figures]
        return add_distances(coefficients, values, own)

    def adds_distances(self, *figures: Estimated) -> bool:
        """Whether squared distances of limits are added, as of many responses (`group_differences`)."""
        if isinstance(figures[0], ReportMean) and figures[0].answered:
            return False
        stacks = [stack for each in figures for stack in each.column.checked.counting]
        return chosen_interval(INTERVAL, stacks) != "exact"

    def _pair_apart(
        self, first: Estimated, second: Estimated, confidence: float
    ) -> tuple[Interval, Interval]:
        """Of both, which hold together."""
        ours, theirs = self._limit_each((first, second), split_error(confidence, 2))
        return ours, theirs

    def _limit_each(self, figures: Sequence[Estimated], confidence: float) -> list[Interval]:
        """Of each group by itself."""
        if self.anytime:
            return self._always(figures, confidence)
        kind, first = INTERVAL, figures[0]
        if not (isinstance(first, ReportMean) and first.answered) and not self.adds_distances(*figures):
            kind = "exact"
        return [self._of_one_look(each, confidence, kind) for each in figures]

    def _of_one_look(self, figure: Estimated, confidence: float, kind: str) -> Interval:
        parts = figure.column.checked
        if isinstance(figure, ShareRow):
            return _pair(self._shares(figure.column, confidence, kind)[figure.code])
        limits_of = pooled_answered_mean_of if figure.answered else pooled_mean_of
        return limits_of(parts, (figure.low, figure.high), confidence, kind).interval

    def _always(self, figures: Sequence[Estimated], confidence: float) -> list[Interval]:
        columns, first = tuple(each.column for each in figures), figures[0]
        steady = all(column.one_partition for column in columns)
        if isinstance(first, ShareRow):
            if not steady:
                return [(0.0, 1.0)] * len(figures)
            found = self._at_every_look(columns, confidence)
            return [_pair(limits[first.code]) for limits in found]
        ends = first.low, first.high
        if not steady:
            return [ends] * len(figures)
        limits_of = anytime_answered_means_of if first.answered else anytime_means_of
        return list(limits_of([column.checked for column in columns], ends, confidence))

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
    def _at_every_look(self) -> Callable[[tuple[ReportColumn, ...], float], list[Limits]]:
        return cache(
            lambda columns, confidence: anytime_shares_of([each.checked for each in columns], confidence)
        )


def _pair(limits: Limits) -> Interval:
    low, high = limits.tolist()
    return low, high
