"""A question version by version, drawn for pages and paper."""

from collections.abc import Sequence

from server.output import charts
from server.output.charts import PlottedEstimate
from server.output.documents import Chart
from server.reports.contents.estimate_sections import percent_label
from server.reports.estimate_values import ReportMean, ShareRow
from server.reports.report_words import ReportWords
from server.reports.version_courses import VersionCourse, VersionPoint


def draw_course(words: ReportWords, course: VersionCourse) -> Chart:
    """The estimate of each version with its interval, joined by a line."""
    _ = words.gettext
    rows = [
        PlottedEstimate(
            _("version %(number)d", number=point.number),
            _word(words, course, point),
            point.figure.value,
            point.figure.interval(course.anytime),
        )
        for point in course.points
    ]
    caption = _("Version by version: %(question)s", question=course.entry.question.text)
    return draw_line(words, caption, rows, course.points[0].figure)


def draw_line(
    words: ReportWords, caption: str, points: Sequence[PlottedEstimate], figure: ShareRow | ReportMean
) -> Chart:
    """Estimates such as `figure`, one after the other, on the axis of shares or of that mean."""
    reached = [point.interval for point in points if point.interval is not None]
    if isinstance(figure, ShareRow):
        made = charts.course(caption, points, charts.share_axis(reached), percent_label)
    else:
        ends = min(low for low, _high in reached), max(high for _low, high in reached)
        made = charts.course(caption, points, charts.mean_axis(figure.low, figure.high, ends), words.number)
    return Chart(made.svg, caption, made.alternative)


def describe_course(words: ReportWords, course: VersionCourse, language: str) -> str:
    """What each version leaves possible, and how far the last is from the first."""
    return words.macro("words/versions.html", "versions_sentence", course, language)


def _word(words: ReportWords, course: VersionCourse, point: VersionPoint) -> str:
    low, high = point.figure.interval(course.anytime)
    if isinstance(point.figure, ShareRow):
        value, low_text, high_text = map(words.percent, (point.figure.value, low, high))
    else:
        width = point.figure.high - point.figure.low
        value, low_text, high_text = (words.measure(one, width) for one in (point.figure.value, low, high))
    return words.gettext("%(estimate)s (%(low)s to %(high)s)", estimate=value, low=low_text, high=high_text)
