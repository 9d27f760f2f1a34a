"""Weeks in which responses were first shown, taken together so that none tells of a few.

What is known of a week is a sum of batches, so that two looks at it differ by the smallest group or more while a survey
is open (`server.collect.batches.weeks`). Closing shows some that are fewer, as they are all that a link has. So weeks
are taken together until of each version and of each stratum that is shown each level has as many as the smallest group,
or none, or all there are: it then tells no fewer than are told anyway.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

MOST_LEVELS_OF_WEEKS = 13
"""Each but the first is a coefficient, or some; of more, neighbours are taken together."""
_DAYS = 7


@dataclass(frozen=True)
class ShownWeeks:
    """Levels of weeks, in order.

    Attributes
    ----------
    spans : tuple of (date, date)
        Of each level the first day and the last one.
    level_of : mapping
        The level of each week, by its name.
    positions : tuple of float
        Of each level how many weeks after the first one its responses were shown, on average.
    """

    spans: tuple[tuple[date, date], ...]
    level_of: Mapping[str, int]
    positions: tuple[float, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the levels, as intervals of ISO 8601."""
        return tuple(f"{first.isoformat()}/{last.isoformat()}" for first, last in self.spans)


def group_weeks(counts: Mapping[tuple[str | None, Hashable], int], minimum: int) -> ShownWeeks | None:
    """Levels of weeks; None where there are not two.

    Parameters
    ----------
    counts : mapping
        How many responses there are of each week, None where it is not known, in each part.
    minimum : int
        The survey's smallest group.
    """
    totals: dict[Hashable, int] = {}
    for (_week, part), n in counts.items():
        totals[part] = totals.get(part, 0) + n

    def stands_alone(weeks: Sequence[str | None]) -> bool:
        own = {part: sum(counts.get((week, part), 0) for week in weeks) for part in totals}
        return all(not n or n >= minimum or n == totals[part] for part, n in own.items())

    if not stands_alone([None]):
        return None
    levels: list[list[str]] = []
    waiting: list[str] = []
    for week in sorted({week for (week, _part), n in counts.items() if week is not None and n}):
        waiting.append(week)
        if stands_alone(waiting):
            levels.append(waiting)
            waiting = []
    while waiting and levels:
        waiting = [*levels.pop(), *waiting]
        if stands_alone(waiting):
            levels.append(waiting)
            break
    levels = list(_thin(levels))
    if len(levels) < 2:
        return None
    first = date.fromisoformat(levels[0][0])
    sizes = {
        week: sum(n for (own, _part), n in counts.items() if own == week) for own in levels for week in own
    }
    positions = [
        sum((date.fromisoformat(week) - first).days * sizes[week] for week in own)
        / (_DAYS * sum(sizes[week] for week in own))
        for own in levels
    ]
    return ShownWeeks(
        tuple(
            (date.fromisoformat(own[0]), date.fromisoformat(own[-1]) + timedelta(days=_DAYS - 1))
            for own in levels
        ),
        {week: level for level, own in enumerate(levels) for week in own},
        tuple(positions),
    )


def _thin(levels: Sequence[list[str]]) -> Iterator[list[str]]:
    """Neighbours together, so that they are not too many."""
    step = -(-len(levels) // MOST_LEVELS_OF_WEEKS) if levels else 1
    for start in range(0, len(levels), step):
        yield [week for own in levels[start : start + step] for week in own]
