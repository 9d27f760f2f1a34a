"""Two strata compared, drawn for paper."""

from collections.abc import Sequence

from server.output import charts
from server.output.charts import Axis, PlottedEstimate
from server.output.documents import Chart
from server.reports.contents.stratum_sections import label
from server.reports.estimate_values import ShareRow
from server.reports.report import Report
from server.reports.report_words import ReportWords
from server.reports.stratum_comparison import Compared, ComparedFigure


def axis_of(compared: Compared, shares: bool) -> Axis:
    """What the differences of shares, or that of a mean, are drawn on."""
    own = [figure for figure in compared.figures if isinstance(figure.first, ShareRow) == shares]
    return charts.difference_axis([figure.interval for figure in own], own[0].width)


def draw_compared(words: ReportWords, report: Report, compared: Compared) -> Chart:
    """Every difference of shares on one axis; of a question that has none, that of the mean."""
    shares = [figure for figure in compared.figures if isinstance(figure.first, ShareRow)]
    drawn: Sequence[ComparedFigure] = shares or compared.figures
    first, second = (
        words.macro("results/_compared.html", "call_group", group)
        for group in (compared.first, compared.second)
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
    mark = _label_points if shares else words.number
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


def _label_points(mark: float) -> str:
    return f"{round(100 * mark)}"
