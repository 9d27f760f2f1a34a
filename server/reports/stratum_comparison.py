"""Two strata compared: how far each estimate of a question is apart, and where it is higher, if that is sure.

What is said is a function of the two groups' own estimates, of which both are shown; nobody is in both.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from server.collect.waves import same_question
from server.inputs import N_, refuse
from server.privacy.estimators.latent_likelihood import do_nothing
from server.privacy.estimators.limits import split_error
from server.reports.difference_measures import DifferenceMeasures
from server.reports.estimate_values import QuestionReport, ReportMean, ShareRow, compute_limits
from server.reports.findings import count_parts
from server.reports.forest import figures
from server.reports.group_limits import GroupLimits
from server.reports.report import Report
from server.reports.stratum_estimates import NO_STRATUM, StratumReport, group_of
from server.study.strata import Node, walk

Interval = tuple[float, float]


class HigherGroup(StrEnum):
    """In which of two groups something is higher."""

    FIRST = "first"
    SECOND = "second"
    NOT_TOLD = "not_told"
    IMPOSSIBLE = "impossible"


class Obstacle(StrEnum):
    """Why two groups are not compared."""

    SAME = "same"
    INSIDE = "inside"
    WITHHELD = "withheld"
    NOBODY = "nobody"


@dataclass(frozen=True)
class Distance:
    """What an interval of a difference lets one retell, rounded outwards.

    Attributes
    ----------
    verdict : HigherGroup
    low, high : float
        In points of 100, or a number's own unit. Where one group is higher: by how much at least and at most. Where it
        is not told: how much higher the second may be, and how much higher the first.
    """

    verdict: HigherGroup
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class ComparedFigure:
    """A share or a mean in two groups; `value` and `interval` are the first less the second, None where unknown.

    `measures` says what else follows: the ratio, a test, and what could have been seen.
    """

    first: ShareRow | ReportMean
    second: ShareRow | ReportMean
    value: float | None
    interval: Interval
    measures: DifferenceMeasures

    @property
    def width(self) -> float:
        """How far apart the two could be at most."""
        return 1.0 if isinstance(self.first, ShareRow) else self.first.high - self.first.low

    @property
    def distance(self) -> Distance:
        """What can be said of it."""
        if isinstance(self.first, ShareRow):
            return interpret_difference((100 * self.interval[0], 100 * self.interval[1]), 100, 1)
        return interpret_difference(self.interval, self.width, count_parts(self.width))


@dataclass(frozen=True, eq=False)
class Compared:
    """A question in two groups: all of it at once, each interval widened for the number of comparisons.

    `obstacle` says why there is none; then there are no figures.
    """

    entry: QuestionReport
    first: StratumReport
    second: StratumReport
    keys: tuple[str, str]
    confidence: float
    obstacle: Obstacle | None
    figures: tuple[ComparedFigure, ...]


def interpret_difference(interval: Interval, width: float, parts: int) -> Distance:
    """What an interval says of a difference that is at most `width` either way, in so many parts of a unit."""
    low, high = interval
    if low > width or high < -width:
        return Distance(HigherGroup.IMPOSSIBLE, 0, 0)

    def down(value: float) -> float:
        return max(math.floor(value * parts) / parts, 0.0)

    def up(value: float) -> float:
        return min(max(math.ceil(value * parts) / parts, 0.0), width)

    if low > 0:
        return Distance(HigherGroup.FIRST, min(down(low), width), up(high))
    if high < 0:
        return Distance(HigherGroup.SECOND, min(down(-high), width), up(-low))
    return Distance(HigherGroup.NOT_TOLD, up(-low), up(high))


def compare_strata(report: Report, entry: QuestionReport, keys: tuple[str, str], anytime: bool) -> Compared:
    """A question in the two groups that are called so: by their paths, or `NO_STRATUM`.

    Raises
    ------
    InputError
        404 if there is no such stratum.
    """
    nodes = {node.path: node for node in walk(report.nodes)}
    for field, key in zip(("first_stratum", "second_stratum"), keys, strict=True):
        if key not in nodes and key != NO_STRATUM:
            raise refuse(404, field, N_("is not known; check the link"))
    pair = nodes.get(keys[0]), nodes.get(keys[1])
    versions = same_question(entry.question.name, report.waves)
    groups = group_of(versions, report.tree, pair[0]), group_of(versions, report.tree, pair[1])
    obstacle = _find_obstacle(pair, groups)
    reports = [group.report for group in groups if group.report is not None]
    found = () if obstacle else compare_reports(reports[0], reports[1], report.confidence, anytime)
    return Compared(entry, *groups, keys, report.confidence, obstacle, found)


def _find_obstacle(
    pair: tuple[Node | None, Node | None], groups: tuple[StratumReport, StratumReport]
) -> Obstacle | None:
    first, second = (None if node is None else node.names for node in pair)
    if first == second:
        return Obstacle.SAME
    if first is not None and second is not None:
        shorter = min(len(first), len(second))
        if first[:shorter] == second[:shorter]:
            return Obstacle.INSIDE
    if any(group.withheld for group in groups):
        return Obstacle.WITHHELD
    return Obstacle.NOBODY if any(group.report is None or not group.n for group in groups) else None


def compare_reports(
    first: QuestionReport,
    second: QuestionReport,
    confidence: float,
    anytime: bool,
    on_step: Callable[[], None] = do_nothing,
) -> tuple[ComparedFigure, ...]:
    """All that is estimated of a question in two groups of which nobody is in both, the first less the second."""
    compute_limits([first, second])
    pairs = [(one, other) for (_, one), (_, other) in zip(figures(first), figures(second), strict=True)]
    limits = GroupLimits(anytime, on_step)
    return tuple(
        compare_figures(one, other, limits, confidence, len(pairs), is_amount(first, one))
        for one, other in pairs
    )


def compare_figures(
    first: ShareRow | ReportMean,
    second: ShareRow | ReportMean,
    limits: GroupLimits,
    confidence: float,
    together: int = 1,
    amount: bool = True,
) -> ComparedFigure:
    """The first less the second, of two groups of which nobody is in both.

    Intervals of so many figures hold `together`; `amount` is whether one can be so many times the other.
    """
    return ComparedFigure(
        first,
        second,
        None if first.value is None or second.value is None else first.value - second.value,
        limits.subtract(first, second, split_error(confidence, together)),
        DifferenceMeasures(first, second, limits, confidence, together, amount),
    )


def is_amount(entry: QuestionReport, figure: ShareRow | ReportMean) -> bool:
    """Whether one can be so many times another: of levels of a scale, or a number below 0, that says nothing."""
    if isinstance(figure, ShareRow):
        return True
    return not entry.question.traits.levels and figure.low >= 0
