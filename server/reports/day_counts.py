"""Responses per day, days with few of them taken together."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from datetime import date

from server.collect.response_counts import Key


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
    total: dict[date, int] = {}
    for key in kept:
        if key[0] in versions:
            for day, n in days.get(key, {}).items():
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
