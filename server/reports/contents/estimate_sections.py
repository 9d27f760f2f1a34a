"""Every question's estimates: one table of them all, remarks, and charts."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from server.output import charts
from server.output.charts import Axis, PlottedEstimate
from server.output.documents import Block, Cell, Chart, Paragraph, Table, Text
from server.reports.contents import cell_texts
from server.reports.estimate_values import QuestionReport, ReportMean, ShareRow
from server.reports.population_weights import Weighting
from server.reports.report import Report
from server.reports.report_words import ReportWords
from server.study.answer_texts import otherwise_text

MOST_ROWS = 16
"""Of a chart: so many fit on a page."""
MOST_DRAWN = 30
"""Groups in a chart: so many fit on a page."""


def estimates(words: ReportWords, report: Report) -> Iterator[Block]:
    """The estimates of all questions; where they are weighted, the unweighted ones at the end."""
    _ = words.gettext
    yield Paragraph(Text(words.macro("results/_weighting.html", "weighting_note", report)))
    yield _table(words, report, report.questions, "estimates", _("Estimates"))
    told = tuple(_told(words, report))
    if told:
        yield Table("remarks", _("Remarks"), (_("Question"), _("Remark")), told)
    yield from _charts(words, report)
    if report.weighting == Weighting.BY_POPULATION:
        caption = _("Unweighted: every response counts the same")
        yield _table(words, report, report.unweighted, "estimates-unweighted", caption)


def _table(
    words: ReportWords, report: Report, questions: Sequence[QuestionReport], name: str, caption: str
) -> Table:
    _ = words.gettext
    confidence = words.level(report.confidence)
    columns = (
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
    notes = (
        _(
            "“Reported” is counted after the coins. Estimates are not cut at 0 or 100 %%; "
            "hatched is where no true share can lie."
        ),
        _("“Within its range” is the possible number that is nearest to the estimate."),
    )
    return Table(name, caption, columns, tuple(rows), notes)


def _rows(words: ReportWords, report: Report, entry: QuestionReport) -> Iterator[tuple[Cell, ...]]:
    asked = cell_texts.quote_question(report.definition, entry.question)
    n = cell_texts.count(words, entry.n)
    for row in entry.shown:
        answer = cell_texts.answer(report.definition, entry.question, row.index)
        arrived = cell_texts.share(words, float(row.column.observed[row.code]) if entry.n else None)
        yield (asked, answer, n, arrived, *figures(words, row, displayed=True))
    if entry.mean is not None:
        label = Text(words.macro("results/_estimates.html", "mean_label", entry.question, entry.mean))
        yield (asked, label, n, cell_texts.share(words, None), *figures(words, entry.mean, displayed=True))


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


def _told(words: ReportWords, report: Report) -> Iterator[tuple[Cell, Cell]]:
    _ = words.gettext
    for entry in report.questions:
        question = entry.question
        asked = cell_texts.quote_question(report.definition, question)
        for remark in entry.remarks:
            p_value = {} if remark.p_value is None else {"p": words.p_value(remark.p_value)}
            yield asked, Text(f"{_(remark.lead)} {_(remark.template, **p_value)}")
        if not entry.n:
            yield asked, Text(cell_texts.describe_nobody(words, report))
        if entry.versions != report.versions:
            numbers = ", ".join(map(str, sorted(entry.versions)))
            yield (
                asked,
                Text(
                    _(
                        "Not asked in these words in every version. Counted here: %(numbers)s.",
                        numbers=numbers,
                    )
                ),
            )
        if question.show_if:
            otherwise = otherwise_text(question, report.definition.language)
            yield (
                asked,
                Text(
                    _(
                        "Not shown to everybody. Whoever was not shown it counts as: %(answer)s.",
                        answer=otherwise,
                    )
                ),
            )


def _charts(words: ReportWords, report: Report) -> Iterator[Chart]:
    """Shares on one axis, as many to a chart as fit on a page; bins as a histogram; means."""
    drawn = [entry for entry in report.questions if entry.n]
    parts = _pack_charts([rows_of(words, report, entry) for entry in drawn if not entry.question.grid])
    for rows in parts:
        yield _draw_shares(words, report, rows)
    for entry in drawn:
        if entry.question.traits.in_ranges:
            yield _draw_histogram(words, report, entry)
    numbers = [_mean(words, entry) for entry in drawn if entry.mean is not None]
    if numbers:
        yield _draw_means(words, report, numbers)


def draw_question(words: ReportWords, report: Report, entry: QuestionReport) -> Chart:
    """A question that has responses by itself: its shares, or the mean of a number that has no answers to count."""
    if entry.question.traits.in_ranges:
        return _draw_histogram(words, report, entry, heading=True)
    if entry.shown:
        return _draw_shares(words, report, rows_of(words, report, entry))
    return _draw_means(words, report, [_mean(words, entry)])


def _draw_shares(words: ReportWords, report: Report, rows: Sequence[PlottedEstimate]) -> Chart:
    confidence = words.level(report.confidence)
    caption = words.gettext("Estimated shares with %(confidence)s %% intervals", confidence=confidence)
    made = charts.estimates(caption, rows, report.axis(anytime=False), percent_label)
    return Chart(made.svg, caption, made.alternative)


def _draw_histogram(
    words: ReportWords, report: Report, entry: QuestionReport, *, heading: bool = False
) -> Chart:
    caption = words.gettext("Histogram: %(question)s", question=entry.question.text)
    rows = rows_of(words, report, entry)
    if not heading:  # the caption has it
        rows = [replace(row, heading="") for row in rows]
    made = charts.histogram(caption, rows, report.axis(anytime=False), percent_label)
    return Chart(made.svg, caption, made.alternative)


def _draw_means(
    words: ReportWords, report: Report, numbers: Sequence[tuple[PlottedEstimate, Axis, charts.Label]]
) -> Chart:
    confidence = words.level(report.confidence)
    caption = words.gettext("Estimated means with %(confidence)s %% intervals", confidence=confidence)
    made = charts.means(caption, numbers)
    return Chart(made.svg, caption, made.alternative)


def rows_of(words: ReportWords, report: Report, entry: QuestionReport) -> list[PlottedEstimate]:
    """The shown shares of a question that has responses."""
    question = entry.question
    alone = question.answers == ("no", "yes")
    return [
        PlottedEstimate(
            question.text if alone else cell_texts.answer(report.definition, question, row.index).text,
            word_estimate(words, row),
            row.value,
            row.interval(anytime=False),
            "" if alone or place else question.text,
        )
        for place, row in enumerate(entry.shown)
    ]


def word_estimate(words: ReportWords, figure: ShareRow | ReportMean) -> str:
    """An estimate with its interval, in words."""
    value, _error, low, high = (cell.text for cell in figures(words, figure))
    return words.gettext("%(estimate)s (%(low)s to %(high)s)", estimate=value, low=low, high=high)


def percent_label(mark: float) -> str:
    """0.5 -> "50 %"."""
    return f"{round(mark * 100)}\N{NO-BREAK SPACE}%"


def _mean(words: ReportWords, entry: QuestionReport) -> tuple[PlottedEstimate, Axis, charts.Label]:
    mean, question = entry.mean, entry.question
    assert mean is not None
    label = words.macro("results/_estimates.html", "mean_label", question, mean)
    row = PlottedEstimate(
        label, word_estimate(words, mean), mean.value, mean.interval(anytime=False), question.text
    )
    return row, mean.axis(anytime=False), words.number


def _pack_charts(questions: Sequence[Sequence[PlottedEstimate]]) -> Iterator[list[PlottedEstimate]]:
    """The rows of questions in charts: a question's together, unless it fills one by itself."""
    waiting: list[PlottedEstimate] = []
    for rows in questions:
        if waiting and len(waiting) + len(rows) > MOST_ROWS:
            yield waiting
            waiting = []
        for first in range(0, len(rows), MOST_ROWS):
            if len(waiting) + len(rows[first : first + MOST_ROWS]) > MOST_ROWS:
                yield waiting
                waiting = []
            waiting += rows[first : first + MOST_ROWS]
    if waiting:
        yield waiting
