"""Every question's estimates: one table of them all; of each its remarks, and its charts."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from server.output import charts
from server.output.charts import Axis, PlottedEstimate
from server.output.documents import Block, Cell, Chart, Paragraph, Plot, Table, Text
from server.reports.contents import cell_texts
from server.reports.estimate_values import QuestionReport, ReportMean, ShareRow
from server.reports.findings import list_marks
from server.reports.population_weights import Weighting
from server.reports.report import Report
from server.reports.report_words import ReportWords
from server.study.answer_texts import otherwise_text

MOST_ROWS = 16
"""Of a chart: so many fit on a page."""
PERCENT = "0.0%"
"""How a spreadsheet shows a share."""
MOST_DRAWN = 30
"""Groups in a chart: so many fit on a page."""


def estimates(words: ReportWords, report: Report) -> Iterator[Block]:
    """The estimates of all questions; where they are weighted, the unweighted ones at the end."""
    _ = words.gettext
    note = _("Weighted: every row counts as much as its weight.")
    if report.by_row is None:
        note = words.macro("words/weighting.html", "weighting_note", report)
    yield Paragraph(Text(note))
    yield _table(words, report, report.questions, "estimates", _("Estimates"))
    if report.weighting in (Weighting.BY_POPULATION, Weighting.BY_ROW):
        caption = _("Unweighted: every response counts the same")
        yield _table(words, report, report.unweighted, "estimates-unweighted", caption)
    yield cell_texts.explain_dash(words)


def _table(
    words: ReportWords, report: Report, questions: Sequence[QuestionReport], name: str, caption: str
) -> Table:
    _ = words.gettext
    confidence = words.level(report.confidence)
    columns: tuple[str, ...] = (
        _("Question"),
        _("Answer"),
        _("responses"),
        _("reported"),
        _("estimate"),
        _("within its range"),
        _("standard error"),
        _("%(confidence)s %% interval, from", confidence=confidence),
        _("to"),
    )
    rows = [row for entry in questions for row in _rows(words, report, entry)]
    notes: tuple[str, ...] = (
        _(
            "“Reported” is counted after the coins. Estimates are not cut at 0 or 100 %%; "
            "hatched is where no true share can lie."
        ),
        _("“Within its range” is the possible number that is nearest to the estimate."),
    )
    if any(row.observed is None for entry in questions if entry.n for row in entry.shown):
        notes += (_("“Reported” is left out where reports are others than answers."),)
    columns, rows, notes = keep_remarks(words, columns, rows, notes)
    short = _("Estimates, unweighted") if name == "estimates-unweighted" else ""
    return Table(name, caption, columns, tuple(rows), notes, short)


def _rows(words: ReportWords, report: Report, entry: QuestionReport) -> Iterator[tuple[Cell, ...]]:
    asked = cell_texts.quote_question(report.definition, entry.question)
    n = cell_texts.count(words, entry.n)
    for row in entry.shown:
        answer = cell_texts.answer(report.definition, entry.question, row.index)
        arrived = cell_texts.share(words, row.observed if entry.n else None)
        yield (asked, answer, n, arrived, *figures(words, row, displayed=True), remark_on(words, row))
    if entry.mean is not None:
        label = Text(words.macro("words/estimates.html", "mean_label", entry.question, entry.mean))
        numbers = figures(words, entry.mean, displayed=True)
        yield (asked, label, n, cell_texts.share(words, None), *numbers, remark_on(words, entry.mean))


def figures(
    words: ReportWords, figure: ShareRow | ReportMean, *, displayed: bool = False
) -> tuple[Cell, ...]:
    """Estimate, standard error, lower and upper limit of one look; where asked, the nearest possible number too."""
    known = figure.column.n > 0
    value = figure.value if known else None
    low, high = figure.interval(anytime=False) if known else (None, None)
    error = figure.standard_error if known else None
    numbers = [value, error, low, high]
    if displayed:
        numbers.insert(1, figure.within_range if known else None)
    if isinstance(figure, ShareRow):
        return tuple(cell_texts.share(words, number) for number in numbers)
    return tuple(cell_texts.measure(words, number, figure.high - figure.low) for number in numbers)


def remark_on(words: ReportWords, figure: ShareRow | ReportMean) -> Text:
    """What keeps an estimate from being read as a finding."""
    return Text(", ".join(map(words.gettext, list_marks(figure, anytime=False))))


def keep_remarks(
    words: ReportWords, columns: tuple[str, ...], rows: Sequence[tuple[Cell, ...]], notes: tuple[str, ...]
) -> tuple[tuple[str, ...], list[tuple[Cell, ...]], tuple[str, ...]]:
    """Columns, rows whose last cells are remarks, and notes: without remarks where there are none, else explained."""
    _ = words.gettext
    if all(row[-1] == Text("") for row in rows):
        return columns, [row[:-1] for row in rows], notes
    explained = _(
        "“Not told”: the interval leaves more than half of what is possible open, or nothing. The estimate is then "
        "only to calculate with. “Out of its range”: nothing is cut, so that estimates are right on average; where "
        "few responded, chance alone leads beyond what is possible."
    )
    return (*columns, _("remark")), list(rows), (*notes, explained)


def list_remarks(words: ReportWords, report: Report, entry: QuestionReport) -> list[str]:
    """What a reader must know of a question's estimates."""
    _ = words.gettext
    question = entry.question
    said = []
    for remark in entry.remarks:
        p_value = {} if remark.p_value is None else {"p": words.p_value(remark.p_value)}
        said.append(f"{_(remark.lead)} {_(remark.template, **p_value)}")
    if entry.versions != report.versions:
        numbers = ", ".join(map(str, sorted(entry.versions)))
        said.append(
            _("Not asked in these words in every version. Counted here: %(numbers)s.", numbers=numbers)
        )
    if question.show_if:
        otherwise = otherwise_text(question, report.definition.language)
        said.append(
            _(
                "Not shown to everybody. Whoever was not shown it counts as: %(answer)s.",
                answer=otherwise,
            )
        )
    return said


def draw_shares(
    words: ReportWords, report: Report, entry: QuestionReport, shares: Sequence[ShareRow]
) -> Chart:
    """Some of the shares of a question that has responses, below its wording: bars where there are several."""
    rows = [_plot(words, report, entry, row) for row in shares]
    confidence = words.level(report.confidence)
    caption = words.gettext("Estimated shares with %(confidence)s %% intervals", confidence=confidence)
    return _draw(caption, rows, report.axis(anytime=False), bars=len(entry.shown) > 1)


def draw_mean(words: ReportWords, report: Report, entry: QuestionReport, mean: ReportMean) -> Chart:
    """The mean of a question that has responses, below its wording."""
    row, axis, label = _mean(words, entry, mean)
    confidence = words.level(report.confidence)
    caption = words.gettext("Estimated mean with its %(confidence)s %% interval", confidence=confidence)
    rows = (replace(row, heading=""),)
    made = charts.estimates(caption, rows, axis, label)
    form = cell_texts.measure(words, None, mean.high - mean.low).form
    return Chart(made.svg, caption, made.alternative, Plot(rows, axis, form, bars=False))


def draw_question(words: ReportWords, report: Report, entry: QuestionReport) -> Chart:
    """A question that has responses by itself: its shares, or the mean of a number that has no answers to count."""
    confidence = words.level(report.confidence)
    if entry.question.traits.in_ranges:
        caption = words.gettext("Histogram: %(question)s", question=entry.question.text)
        return _draw(caption, _with_wording(words, report, entry), report.axis(anytime=False), bars=True)
    if entry.shown:
        caption = words.gettext("Estimated shares with %(confidence)s %% intervals", confidence=confidence)
        bars = len(entry.shown) > 1
        return _draw(caption, _with_wording(words, report, entry), report.axis(anytime=False), bars=bars)
    assert entry.mean is not None
    caption = words.gettext("Estimated means with %(confidence)s %% intervals", confidence=confidence)
    made = charts.means(caption, [_mean(words, entry, entry.mean)])
    return Chart(made.svg, caption, made.alternative)


def _draw(caption: str, rows: Sequence[PlottedEstimate], axis: Axis, *, bars: bool) -> Chart:
    made = (charts.histogram if bars else charts.estimates)(caption, rows, axis, percent_label)
    return Chart(made.svg, caption, made.alternative, Plot(tuple(rows), axis, PERCENT))


def _with_wording(words: ReportWords, report: Report, entry: QuestionReport) -> list[PlottedEstimate]:
    """The shown shares; the question's wording stands above them, or is the label of a Yes."""
    text = entry.question.text
    first, *rest = [_plot(words, report, entry, row) for row in entry.shown]
    alone = entry.question.answers == ("no", "yes")
    return [replace(first, label=text) if alone else replace(first, heading=text), *rest]


def _plot(words: ReportWords, report: Report, entry: QuestionReport, row: ShareRow) -> PlottedEstimate:
    answer = cell_texts.answer(report.definition, entry.question, row.index).text
    return PlottedEstimate(answer, word_estimate(words, row), row.value, row.interval(anytime=False))


def word_estimate(words: ReportWords, figure: ShareRow | ReportMean) -> str:
    """An estimate with its interval, in words."""
    value, _error, low, high = (cell.text for cell in figures(words, figure))
    return words.gettext("%(estimate)s (%(low)s to %(high)s)", estimate=value, low=low, high=high)


def percent_label(mark: float) -> str:
    """0.5 -> "50 %"."""
    return f"{round(mark * 100)}\N{NO-BREAK SPACE}%"


def _mean(
    words: ReportWords, entry: QuestionReport, mean: ReportMean
) -> tuple[PlottedEstimate, Axis, charts.Label]:
    question = entry.question
    label = words.macro("words/estimates.html", "mean_label", question, mean)
    row = PlottedEstimate(
        label, word_estimate(words, mean), mean.value, mean.interval(anytime=False), question.text
    )
    return row, mean.axis(anytime=False), words.number
