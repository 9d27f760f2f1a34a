"""Numbers of a table, drawn: sums, spreads and quantiles, with the interval that the noise leaves, if any."""

from collections.abc import Iterator

from server.output import charts
from server.output.charts import PlottedEstimate
from server.output.documents import Chart
from server.releases import Figure, Released
from server.reports.contents.chosen_charts import axis_around
from server.reports.contents.figures import QuestionsByVersion, numbers, place, span
from server.reports.report_words import ReportWords


def draw_numbers(words: ReportWords, entry: Released, questions: QuestionsByVersion) -> Iterator[Chart]:
    """The charts of an entry about a number of a table; of any other entry, none."""
    ends = span(entry, entry.figures[0], questions) if entry.figures else None
    if ends is None:
        return
    of = {figure.statistic: figure for figure in entry.figures}
    if "sum" in of:
        yield _draw_sum(words, entry, of["sum"], ends, questions)
    if "variance" in of:
        yield _draw_spread(words, entry, (of["variance"], of["standard_deviation"]), ends, questions)
    if "quantile" in of:
        yield _draw_quantiles(words, entry, ends, questions)


def plot_figure(
    words: ReportWords, entry: Released, figure: Figure, questions: QuestionsByVersion, label: str = ""
) -> PlottedEstimate:
    """A figure as a row of a chart: its number in words, with the interval where it has one."""
    value, _error, low, high = (cell.text for cell in numbers(words, entry, figure, questions))
    if figure.low is None or figure.high is None:
        limits, sentence = None, value
    else:
        limits = figure.low, figure.high
        sentence = words.gettext("%(estimate)s (%(low)s to %(high)s)", estimate=value, low=low, high=high)
    return PlottedEstimate(
        label or place(words, entry, figure, questions).text, sentence, figure.value, limits
    )


def _draw_sum(
    words: ReportWords,
    entry: Released,
    figure: Figure,
    ends: tuple[float, float],
    questions: QuestionsByVersion,
) -> Chart:
    """On an axis three times as long as the interval; where no number is below 0, no sum is, and the same above."""
    assert figure.value is not None
    assert figure.low is not None
    assert figure.high is not None
    width = max(map(abs, ends))
    caption = words.gettext(
        "Sum, with the %(confidence)s %% interval of the noise", confidence=words.level(entry.confidence)
    )
    axis = axis_around(
        figure.value,
        (figure.low, figure.high),
        lowest=0 if ends[0] >= 0 else None,
        highest=0 if ends[1] <= 0 else None,
    )
    row = plot_figure(words, entry, figure, questions)
    made = charts.estimates(caption, (row,), axis, _label(words, width))
    return Chart(made.svg, caption, made.alternative)


def _label(words: ReportWords, width: float) -> charts.Label:
    """How numbers of an axis are written: as those of a range so wide."""
    return lambda number: words.measure(number, width)


def _draw_spread(
    words: ReportWords,
    entry: Released,
    figures: tuple[Figure, Figure],
    ends: tuple[float, float],
    questions: QuestionsByVersion,
) -> Chart:
    """The variance from 0 to the most that it can be, and the standard deviation to half of the range."""
    _, half = words.gettext, (ends[1] - ends[0]) / 2
    caption = _(
        "Variance and standard deviation, with the %(confidence)s %% intervals of the noise",
        confidence=words.level(entry.confidence),
    )
    rows = []
    for figure, label, most in zip(
        figures, (_("Variance"), _("Standard deviation")), (half**2, half), strict=True
    ):
        row = plot_figure(words, entry, figure, questions, label)
        rows.append((row, charts.mean_axis(0.0, most, row.interval), _label(words, most)))
    made = charts.means(caption, rows)
    return Chart(made.svg, caption, made.alternative)


def _draw_quantiles(
    words: ReportWords, entry: Released, ends: tuple[float, float], questions: QuestionsByVersion
) -> Chart:
    """On one axis, of all numbers that were declared; how many rows they may be off has no place on it."""
    caption = words.gettext("Quantiles, chosen with noise among all declared numbers")
    rows = tuple(plot_figure(words, entry, figure, questions) for figure in entry.figures)
    made = charts.estimates(caption, rows, charts.mean_axis(*ends, None), _label(words, ends[1] - ends[0]))
    return Chart(made.svg, caption, made.alternative)
