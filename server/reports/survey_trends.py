"""A trend of one estimate over several surveys: the step from each to the next on the line that fits them best."""

import math
from dataclasses import dataclass
from functools import cached_property

from server.privacy.estimators.limits import split_error
from server.privacy.estimators.trends import weigh_trend
from server.privacy.planning.shown_differences import chance_to_show, least_shown
from server.reports.difference_measures import POWER, search_p_value
from server.reports.estimate_values import ReportMean, ShareRow
from server.reports.findings import count_parts
from server.reports.group_limits import GroupLimits
from server.reports.stratum_comparison import Distance, Interval, interpret_difference

_FINER = 10
"""In how many parts a step of a trend is told of what a difference is told in."""


@dataclass(frozen=True, eq=False)
class SurveyTrend:
    """One estimate in at least three surveys: the step from each to the next on the line that fits them best.

    Surveys are taken to be one step apart. One of `comparisons` that hold together at `confidence`.
    """

    figures: tuple[ShareRow | ReportMean, ...]
    limits: GroupLimits
    confidence: float
    comparisons: int

    @property
    def first(self) -> ShareRow | ReportMean:
        """Of the last survey, as in a comparison; what it is an estimate of is said by it."""
        return self.figures[-1]

    @property
    def width(self) -> float:
        """How far two of them could be apart at most."""
        return 1.0 if isinstance(self.first, ShareRow) else self.first.high - self.first.low

    @cached_property
    def coefficients(self) -> tuple[float, ...] | None:
        """What each estimate counts in the slope; None where one response says nothing of some estimate."""
        errors = [figure.standard_error for figure in self.figures]
        if not all(error is not None and 0 < error < math.inf for error in errors):
            return None
        return tuple(weigh_trend([error for error in errors if error is not None]).tolist())

    @cached_property
    def value(self) -> float | None:
        """The step."""
        values = [figure.value for figure in self.figures if figure.value is not None]
        if self.coefficients is None or len(values) < len(self.figures):
            return None
        return math.fsum(each * value for each, value in zip(self.coefficients, values, strict=True))

    @cached_property
    def interval(self) -> Interval | None:
        """Its limits; None where there is no line."""
        return self._limit(split_error(self.confidence, self.comparisons))

    @property
    def standard_error(self) -> float | None:
        """Of the step, the coefficients taken as known."""
        if self.coefficients is None:
            return None
        errors = [figure.standard_error or 0.0 for figure in self.figures]
        return math.hypot(*(each * error for each, error in zip(self.coefficients, errors, strict=True)))

    @cached_property
    def p_value(self) -> float | None:
        """Of no trend, as `DifferenceMeasures.p_value` is of no difference."""
        if self.limits.anytime or self.value is None or self.interval is None:
            return None
        return search_p_value(
            self._leaves_out_zero,
            self.interval,
            self.confidence,
            self.comparisons,
            quick=self.limits.adds_distances(*self.figures),
        )

    @property
    def least_shown(self) -> float | None:
        """The step that would have been told with a chance of `POWER`."""
        error = self.standard_error
        return None if error is None else least_shown(self._reach, error, POWER)

    @property
    def power(self) -> float | None:
        """The chance with which a step as large as the estimated one would have been told."""
        error = self.standard_error
        if error is None or self.value is None:
            return None
        return chance_to_show(self.value, self._reach, error)

    @property
    def distance(self) -> Distance | None:
        """What can be said of it: the "first" is higher where it rises."""
        if self.interval is None:
            return None
        if isinstance(self.first, ShareRow):
            return interpret_difference((100 * self.interval[0], 100 * self.interval[1]), 100, _FINER)
        return interpret_difference(self.interval, self.width, _FINER * count_parts(self.width))

    @property
    def _reach(self) -> float:
        low, high = self.interval or (0.0, 0.0)
        return (high - low) / 2

    def _limit(self, confidence: float) -> Interval | None:
        if self.coefficients is None:
            return None
        return self.limits.combine(self.figures, self.coefficients, confidence)

    def _leaves_out_zero(self, confidence: float) -> bool:
        low, high = self._limit(confidence) or (0.0, 0.0)
        return low > 0 or high < 0
