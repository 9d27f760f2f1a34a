"""Responses per day, days with few of them taken together; by weeks where there are many days."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date, timedelta

from server.collect.response_counts import Key

MOST_DAYS = 56
"""From the first day with responses to the last, as far as a figure has a bar for each."""


@dataclass(frozen=True)
class Period:
    """A day, or days taken together, and how many responses arrived then."""

    first: date
    last: date
    n: int

    @property
    def days(self) -> int:
        """How many days."""
        return (self.last - self.first).days + 1


def sum_days(days: Mapping[Key, Mapping[date, int]], kept: Set[Key], versions: Set[int]) -> dict[date, int]:
    """Responses per day of some versions, by their ids, as far as they are kept."""
    return add_days(days.get(key, {}) for key in kept if key[0] in versions)


def add_days(groups: Iterable[Mapping[date, int]]) -> dict[date, int]:
    """Responses per day of several groups together."""
    total: dict[date, int] = {}
    for days in groups:
        for day, n in days.items():
            total[day] = total.get(day, 0) + n
    return total


def periods(days: Mapping[date, int], minimum: int) -> tuple[Period, ...]:
    """One day after the other, from the first to the last with responses.

    A day on which fewer than `minimum` arrived is taken together with those that follow until
    there are so many; what remains at the end belongs to the last.
    """
    found: list[Period] = []
    start, waiting = None, 0
    for day in sorted(day for day, n in days.items() if n):
        start = start or day
        waiting += days[day]
        if waiting >= minimum:
            found.append(Period(start, day, waiting))
            start, waiting = None, 0
    if start is not None:
        last = max(days)
        if not found:
            return (Period(start, last, waiting),) if waiting >= minimum else ()
        found[-1] = Period(found[-1].first, last, found[-1].n + waiting)
    return tuple(found)


@dataclass(frozen=True)
class Timeline:
    """What a figure over days draws.

    Attributes
    ----------
    periods : tuple of Period
        Days, or weeks from Monday to Sunday; or several of them taken together.
    weekly : bool
        Whether they are weeks.
    """

    periods: tuple[Period, ...]
    weekly: bool

    @property
    def highest(self) -> float:
        """Responses of the day, or week, with the most; on average in those that are taken together."""
        return max(period.n / period.days for period in self.periods) * (7 if self.weekly else 1)


def find_timeline(days: Sequence[Period]) -> Timeline:
    """Day by day, or week by week where that would be too many bars."""
    weeks = _sum_weeks(days) if days and Period(days[0].first, days[-1].last, 0).days > MOST_DAYS else ()
    return Timeline(weeks, weekly=True) if len(weeks) > 1 else Timeline(tuple(days), weekly=False)


def _sum_weeks(days: Sequence[Period]) -> tuple[Period, ...]:
    """Weeks of ISO 8601 with the responses of each.

    Days that were taken together count in the week of the last of them: a week is a sum of what is told by day, and
    no difference of the two tells of a few.
    """
    weeks: list[Period] = []
    for period in days:
        last = date.fromordinal(min(_find_monday(period.last).toordinal() + 6, date.max.toordinal()))
        if weeks and weeks[-1].last == last:
            weeks[-1] = replace(weeks[-1], n=weeks[-1].n + period.n)
        else:
            first = _find_monday(period.first)
            if weeks:  # the week before has ended where it counts the days that end in it
                first = max(first, weeks[-1].last + timedelta(1))
            weeks.append(Period(first, last, period.n))
    return tuple(weeks)


def _find_monday(day: date) -> date:
    """Of the week that a day is in."""
    return day - timedelta(day.weekday())
