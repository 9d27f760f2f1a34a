"""Two strata compared, or surveys, drawn for paper; surveys one after the other for pages, too."""

import textwrap
from collections.abc import Sequence

from server.output import charts
from server.output.charts import Axis, PlottedEstimate
from server.output.documents import Chart
from server.reports.contents.stratum_sections import label
from server.reports.contents.version_charts import draw_line
from server.reports.estimate_values import ReportMean, ShareRow
from server.reports.report import Report
from server.reports.report_words import ReportWords
from server.reports.stratum_comparison import Compared, ComparedFigure
from server.reports.survey_comparison import ComparedSurveys

_LONGEST = 24
"""Letters of a survey's title below its point."""


def axis_of(compared: Compared | ComparedSurveys, shares: bool) -> Axis:
    """What the differences of shares, or that of a mean, are drawn on."""
    own = [figure for figure in compared.figures if isinstance(figure.first, ShareRow) == shares]
    return charts.difference_axis([figure.interval for figure in own], own[0].width)


def draw_compared(words: ReportWords, report: Report, compared: Compared | ComparedSurveys) -> Chart:
    """Every difference of shares on one axis; of a question that has none, that of the mean."""
    shares = [figure for figure in compared.figures if isinstance(figure.first, ShareRow)]
    drawn: Sequence[ComparedFigure] = shares or compared.figures
    first, second = (
        words.macro("words/compared.html", "call_group", group) for group in (compared.first, compared.second)
    )
    caption = words.gettext("%(first)s less %(second)s", first=first, second=second)
    rows = [
        PlottedEstimate(
            label(words, report, compared.entry, figure.first).text,
            _word(words, figure),
            figure.value,
            figure.interval,
            "" if place else compared.entry.question.text,
        )
        for place, figure in enumerate(drawn)
    ]
    mark: charts.Label = (lambda points: words.integer(round(100 * points))) if shares else words.number
    made = charts.estimates(caption, rows, axis_of(compared, bool(shares)), mark, 0.0)
    return Chart(made.svg, caption, made.alternative)


def _word(words: ReportWords, figure: ComparedFigure) -> str:
    def write(value: float | None) -> str:
        if value is None:
            return "–"
        shown = isinstance(figure.first, ShareRow)
        return words.percent(value) if shown else words.measure(value, figure.width)

    low, high = figure.interval
    return words.gettext(
        "%(estimate)s (%(low)s to %(high)s)", estimate=write(figure.value), low=write(low), high=write(high)
    )


def draw_surveys(words: ReportWords, report: Report, compared: ComparedSurveys) -> Chart:
    """The mean, or one share, in each survey, joined by a line; of several answers it is the one that is leading."""
    place = _choose_leading(compared)
    rows = [figures[place] for _survey, figures in compared.listed]
    days = [words.day(survey.since) for survey in compared.surveys]
    # Numbered, as the ends that tell them apart may be cut off.
    titles = [
        f"{place}. {textwrap.shorten(survey.title, _LONGEST, placeholder='…')}"
        for place, survey in enumerate(compared.surveys, start=1)
    ]
    names = days if len(set(days)) == len(days) else titles
    first = rows[0]
    of = label(words, report, compared.entry, first).text
    caption = words.gettext("Survey by survey: %(question)s", question=compared.entry.question.text)
    if len(compared.figures) > 1:
        caption = words.gettext("%(caption)s: %(estimate)s", caption=caption, estimate=of)
    points = [
        PlottedEstimate(
            name, _word_estimate(words, row, compared.anytime), row.value, row.interval(compared.anytime)
        )
        for name, row in zip(names, rows, strict=True)
    ]
    return draw_line(words, caption, points, first)


def _choose_leading(compared: ComparedSurveys) -> int:
    """Where the mean stands among a question's estimates; else the most common answer of the last survey."""
    last = [figure.first for figure in compared.figures]
    if not isinstance(last[-1], ShareRow):
        return len(last) - 1
    values = [-1.0 if figure.value is None else figure.value for figure in last]
    return values.index(max(values))


def _word_estimate(words: ReportWords, figure: ShareRow | ReportMean, anytime: bool) -> str:
    def write(value: float | None) -> str:
        if value is None:
            return "–"
        if isinstance(figure, ShareRow):
            return words.percent(value)
        return words.measure(value, figure.high - figure.low)

    low, high = figure.interval(anytime)
    return words.gettext(
        "%(estimate)s (%(low)s to %(high)s)", estimate=write(figure.value), low=write(low), high=write(high)
    )
