"""What else is said of two groups' estimates than their difference: a ratio, a test, what could have been seen."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import scipy

from server.privacy.estimators.limits import split_error
from server.privacy.planning.shown_differences import chance_to_show, least_shown
from server.reports.estimate_values import ReportMean, ShareRow
from server.reports.group_limits import GroupLimits, Interval

POWER = 0.8
"""The chance with which a difference is to be seen that is called one that could have been seen."""
_FARTHEST = 5.5
"""Standard deviations beyond which chance is no explanation: a p value of 4e-8."""
_STEPS, _FEW_STEPS = 14, 7
"""Halvings of the range of deviations; few of intervals that take long."""


@dataclass(frozen=True, eq=False)
class DifferenceMeasures:
    """Of one of `comparisons` that hold together at `confidence`; where `amounts`, one may be so many times the other.

    All of them are widened, or corrected, for their number (Bonferroni).
    """

    first: ShareRow | ReportMean
    second: ShareRow | ReportMean
    limits: GroupLimits
    confidence: float
    comparisons: int
    amounts: bool

    @cached_property
    def ratio(self) -> float | None:
        """The first divided by the second; None where the second may be 0, or either is where it cannot be."""
        first, second = self.first.value, self.second.value
        if self.ratio_interval is None or first is None or second is None or first < 0 or second <= 0:
            return None
        return None if math.isinf(self.ratio_interval[1]) else first / second

    @cached_property
    def ratio_interval(self) -> Interval | None:
        """Its limits, the upper one infinite where the second may be 0; None where one is not times the other."""
        if not self.amounts:
            return None
        return self.limits.divide(self.first, self.second, split_error(self.confidence, self.comparisons))

    @cached_property
    def p_value(self) -> float | None:
        """The smallest error at which the interval of the difference leaves out 0, times the number of comparisons.

        So it is below 1 - `confidence` where the interval says which is higher. Of few responses it is rounded up by
        a quarter at most. None of intervals that hold at every look.
        """
        if self.limits.anytime or self.first.value is None or self.second.value is None:
            return None
        return search_p_value(
            self._leaves_out_zero,
            self._interval,
            self.confidence,
            self.comparisons,
            quick=self.limits.adds_distances(self.first, self.second),
        )

    @property
    def standard_error(self) -> float:
        """Of the difference; infinite where one response alone says nothing of it."""
        first, second = self.first.standard_error, self.second.standard_error
        return math.inf if first is None or second is None else math.hypot(first, second)

    @cached_property
    def least_shown(self) -> float | None:
        """The difference that would have been told with a chance of `POWER`; None where nothing can be said of it."""
        return least_shown(self._reach, self.standard_error, POWER) if self._measured else None

    @cached_property
    def power(self) -> float | None:
        """The chance with which a difference as large as the estimated one would have been told."""
        first, second = self.first.value, self.second.value
        if first is None or second is None or not self._measured:
            return None
        return chance_to_show(first - second, self._reach, self.standard_error)

    @cached_property
    def _interval(self) -> Interval:
        return self.limits.subtract(self.first, self.second, split_error(self.confidence, self.comparisons))

    @property
    def _reach(self) -> float:
        low, high = self._interval
        return (high - low) / 2

    @property
    def _measured(self) -> bool:
        return 0 < self.standard_error < math.inf

    def _leaves_out_zero(self, confidence: float) -> bool:
        """Whether an interval by itself at this confidence does."""
        return tells(self.limits.subtract(self.first, self.second, confidence))


def tells(interval: Interval) -> bool:
    """Whether 0 is not in it: then it says on which side of 0 the truth is."""
    low, high = interval
    return low > 0 or high < 0


def search_p_value(
    leaves_out_zero: Callable[[float], bool],
    interval: Interval,
    confidence: float,
    comparisons: int,
    *,
    quick: bool,
) -> float:
    """The smallest error at which an interval by itself leaves out 0, times the number of comparisons.

    `interval` is the one that is shown, at `confidence` with all others: what it says already is not taken back.
    """
    near, far = 0.0, _FARTHEST
    if leaves_out_zero(_confidence_of(far)):
        near = far
    else:
        for _ in range(_STEPS if quick else _FEW_STEPS):
            middle = (near + far) / 2
            near, far = (middle, far) if leaves_out_zero(_confidence_of(middle)) else (near, middle)
    found = min(comparisons * 2 * float(scipy.special.ndtr(-near)), 1.0)
    # The steps are coarse.
    return min(found, 1 - confidence) if tells(interval) else max(found, 1 - confidence)


def _confidence_of(deviations: float) -> float:
    return 1 - 2 * float(scipy.special.ndtr(-deviations))
