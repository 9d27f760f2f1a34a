"""What a question found in each version that asked it, in their order: pooled alone, a change would not be seen."""

from dataclasses import dataclass

from server.collect.waves import by_option, same_question
from server.reports.estimate_values import QuestionReport, ReportMean, ShareRow, compute_limits
from server.reports.findings import MeanFinding, ShareFinding, find_mean, find_share
from server.reports.group_limits import GroupLimits
from server.reports.question_estimates import estimate_question
from server.reports.report import Report
from server.reports.stratum_comparison import ComparedFigure, compare_figures


@dataclass(frozen=True, eq=False)
class VersionPoint:
    """What one version found: as the results of that version alone show it."""

    number: int
    n: int
    figure: ShareRow | ReportMean
    finding: ShareFinding | MeanFinding


@dataclass(frozen=True, eq=False)
class VersionCourse:
    """One estimate of a question, version by version, the oldest first.

    Attributes
    ----------
    entry : QuestionReport
        Of all versions together.
    points : tuple of VersionPoint
        At least two.
    change : ComparedFigure
        The last version less the first.
    anytime : bool
        Whether intervals hold at every look.
    """

    entry: QuestionReport
    points: tuple[VersionPoint, ...]
    change: ComparedFigure
    anytime: bool


def follow_versions(report: Report, entry: QuestionReport, anytime: bool) -> VersionCourse | None:
    """The mean of a question, its only share, or that of its most common answer; None unless two versions have it.

    Every response counts the same. Versions that are too few to stand alone are in none of a report's numbers, and
    what is shown of each of the others is what its own results show.
    """
    question_versions = same_question(entry.question.name, report.waves)
    told = [one for one in sorted(question_versions, key=lambda each: each.wave.number) if one.wave.n]
    if len(told) < 2 or not entry.n:
        return None
    split = by_option(question_versions)
    places = range(len(told[0].wave.strata))
    alone = [estimate_question([asking], places, report.confidence, split=split) for asking in told]
    compute_limits(alone)
    chosen = _choose(entry)
    figures = [_find(version, chosen) for version in alone]
    points = []
    for asking, figure in zip(told, figures, strict=True):
        found = _interpret(figure, anytime)
        if found is None:
            return None
        points.append(VersionPoint(asking.wave.number, asking.wave.n, figure, found))
    change = compare_figures(figures[-1], figures[0], GroupLimits(anytime), report.confidence)
    return VersionCourse(entry, tuple(points), change, anytime)


def _choose(entry: QuestionReport) -> int | None:
    """Which answer is followed; None for the mean."""
    if entry.mean is not None:
        return None
    return max(entry.shown, key=lambda row: row.value).index


def _find(entry: QuestionReport, chosen: int | None) -> ShareRow | ReportMean:
    if chosen is None:
        assert entry.mean is not None
        return entry.mean
    return next(row for row in entry.shown if row.index == chosen)


def _interpret(figure: ShareRow | ReportMean, anytime: bool) -> ShareFinding | MeanFinding | None:
    if isinstance(figure, ShareRow):
        return find_share(figure, figure.value, figure.interval(anytime))
    return find_mean(figure, anytime)
