"""What two questions together let one retell: rounded outwards, so that no sentence says more than its intervals.

A finding holds numbers and which sentence they make; its words are in `templates/words/crossed.html`.
"""

from dataclasses import dataclass
from enum import StrEnum

from server.privacy.estimators import GroupComparison
from server.reports.crossing import Crossed
from server.reports.findings import count_parts, round_outwards

Interval = tuple[float, float]

_MOST_DECIMALS = 6


class Tendency(StrEnum):
    """In which of two groups something is more, if that is sure."""

    MORE = "more"
    LESS = "less"
    NOT_TOLD = "not_told"


@dataclass(frozen=True)
class CrossedFinding:
    """Of two groups.

    Attributes
    ----------
    tendency : Tendency
        Whether it is more among those who gave the answer than among the others.
    gave, others : tuple of float
        Of 100, or in a number's own unit; the intervals lie within them.
    known : tuple of bool
        Whether anything possible is outside of these.
    """

    tendency: Tendency
    gave: Interval
    others: Interval
    known: tuple[bool, bool]


def interpret_crossing(crossed: Crossed) -> CrossedFinding:
    """What is found of the two chosen answers; where one question is a number, of its mean."""
    return interpret_groups(crossed.comparison, crossed.ends)


def interpret_groups(comparison: GroupComparison, ends: Interval) -> CrossedFinding:
    """What two groups' intervals say, of something between two ends, in whole numbers of 100 or as means are told.

    More digits are told only where two intervals that are apart would meet without them.
    """
    first, width = ends[0], ends[1] - ends[0]
    gave, others = (
        (first + width * each.interval[0], first + width * each.interval[1])
        for each in (comparison.gave, comparison.others)
    )
    tendency, parts = _find_tendency(gave, others), count_parts(width)
    for _ in range(_MOST_DECIMALS):
        told = round_outwards(gave, ends, parts), round_outwards(others, ends, parts)
        if _find_tendency(*told) == tendency:
            break
        parts *= 10
    return CrossedFinding(tendency, *told, (told[0] != ends, told[1] != ends))


def _find_tendency(group: Interval, others: Interval) -> Tendency:
    if group[0] > others[1]:
        return Tendency.MORE
    return Tendency.LESS if group[1] < others[0] else Tendency.NOT_TOLD
