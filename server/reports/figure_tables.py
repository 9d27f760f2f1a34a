"""The numbers behind figures of several groups or questions, as CSV: unrounded, a row for each thing drawn."""

from collections.abc import Sequence

from server.output.documents import Block, Number, Table
from server.output.formatting import finite
from server.reports.answer_names import AnswerTexts
from server.reports.collection_progress import CollectionProgress
from server.reports.comparison_values import name_group
from server.reports.csv_cells import csv_text
from server.reports.estimate_values import ShareRow
from server.reports.report import Report
from server.reports.stratum_comparison import Compared
from server.reports.stratum_estimates import NO_STRATUM
from server.reports.version_courses import VersionCourse

_COMPARED = (
    "survey,question,statistic,answer,answer_text,first_stratum,second_stratum,first_n,second_n,first_estimate,"
    "second_estimate,difference,interval_low,interval_high,confidence,comparisons,ratio,ratio_low,ratio_high,p_value,"
    "least_shown,power_at_estimate"
).split(",")

_BY_VERSION = (
    "survey,question,statistic,answer,answer_text,version,n,estimate,interval_low,interval_high,confidence,interval"
).split(",")


def versions_csv(report: Report, course: VersionCourse) -> str:
    """The estimate of each version, the oldest first."""
    rows: list[Sequence[object]] = [_BY_VERSION]
    texts, question = AnswerTexts(report.definition), course.entry.question
    for point in course.points:
        figure = point.figure
        what: tuple[object, ...] = ("mean", "", "")
        if isinstance(figure, ShareRow):
            what = ("share", figure.answer, texts.of(question)[figure.index])
        limits = figure.interval(course.anytime)
        holds = "anytime" if course.anytime else "once"
        rows.append(
            (
                report.slug,
                question.name,
                *what,
                point.number,
                point.n,
                figure.value,
                *limits,
                report.confidence,
                holds,
            )
        )
    return csv_text(rows)


def comparison_csv(report: Report, compared: Compared) -> str:
    """Every difference; the intervals hold together at `confidence`."""
    rows: list[Sequence[object]] = [_COMPARED]
    texts = AnswerTexts(report.definition)
    question = compared.entry.question
    for figure in compared.figures:
        first, measures = figure.first, figure.measures
        what: tuple[object, ...] = ("mean", "", "")
        if isinstance(first, ShareRow):
            what = ("share", first.answer, texts.of(question)[first.index])
        rows.append(
            (
                report.slug,
                question.name,
                *what,
                *map(name_group, (compared.first, compared.second)),
                compared.first.n,
                compared.second.n,
                first.value,
                figure.second.value,
                figure.value,
                *figure.interval,
                compared.confidence,
                len(compared.figures),
                finite(measures.ratio),
                *map(finite, measures.ratio_interval or (None, None)),
                finite(measures.p_value),
                finite(measures.least_shown),
                finite(measures.power),
            )
        )
    return csv_text(rows)


def days_csv(report: Report) -> str:
    """Responses per day or, as the figure has them, per week; or in several taken together."""
    timeline = report.timeline
    unit = "week" if timeline.weekly else "day"
    rows: list[Sequence[object]] = [("survey", "unit", "first_day", "last_day", "responses")]
    rows += [(report.slug, unit, period.first, period.last, period.n) for period in timeline.periods]
    return csv_text(rows)


def targets_csv(report: Report, progress: CollectionProgress) -> str:
    """Responses of each stratum that are shown, and its target; empty where they are withheld or not known."""
    rows: list[Sequence[object]] = [("survey", "stratum", "responses", "target")]
    for stratum in progress.strata:
        path = stratum.path or NO_STRATUM
        rows.append((report.slug, path, "" if stratum.n is None else stratum.n, stratum.target or ""))
    return csv_text(rows)


def explained_csv(blocks: Sequence[Block]) -> str:
    """The table of an explanation, as it stands on the page; numbers that stand alone are unrounded."""
    (table,) = (block for block in blocks if isinstance(block, Table))
    rows: list[Sequence[object]] = [table.columns]
    rows += [[cell.value if isinstance(cell, Number) else cell.text for cell in row] for row in table.rows]
    return csv_text(rows)
