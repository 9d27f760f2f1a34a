"""The findings of a public report, drawn as the other charts are."""

from collections.abc import Iterator
from dataclasses import replace

from server.output import charts
from server.output.charts import Drawing, PlottedEstimate
from server.output.documents import Chart, Plot
from server.reports.contents import cell_texts
from server.reports.contents.estimate_sections import MOST_ROWS, PERCENT
from server.reports.contents.figures import QuestionsByVersion, part
from server.reports.contents.finding_values import FindingRange, Picture, ReleaseFinding, says_something
from server.reports.contents.release_charts import draw_tree
from server.reports.findings import Says
from server.reports.report_words import ReportWords
from server.study.definitions import Question


def draw_finding(
    words: ReportWords, finding: ReleaseFinding, questions: QuestionsByVersion
) -> tuple[Chart, ...]:
    """A finding as charts: one, none, or several where its rows fill more than a page."""
    match finding.picture:
        case Picture.DOTS:
            (only,) = finding.ranges
            return (_draw_dots(words, finding, only),)
        case Picture.BARS:
            return tuple(_draw_bars(words, finding, part) for part in _pages(finding))
        case Picture.LINES:
            return tuple(_draw_lines(words, finding, part, questions) for part in _pages(finding))
        case Picture.TABLE:
            drawn = _draw_table(words, finding, questions)
            return () if drawn is None else (_name(finding, drawn),)
        case Picture.TREE:
            return tuple(draw_tree(words, finding.entry))
        case Picture.NOTHING:
            return ()


def _name(finding: ReleaseFinding, drawn: Drawing, plot: Plot | None = None) -> Chart:
    return Chart(drawn.svg, _title(finding), drawn.alternative, plot)


def _pages(finding: ReleaseFinding) -> Iterator[tuple[FindingRange, ...]]:
    """Its rows, as many as fit on a page."""
    for first in range(0, len(finding.ranges), MOST_ROWS):
        yield finding.ranges[first : first + MOST_ROWS]


def _title(finding: ReleaseFinding) -> str:
    """What was asked; the sentence stands above the drawing already."""
    return " × ".join(wording.text for wording in finding.wordings) or finding.sentence


def _draw_dots(words: ReportWords, finding: ReleaseFinding, extent: FindingRange) -> Chart:
    sure, may = round(extent.low), round(extent.high - extent.low)
    sentence = words.gettext(
        "Of 100 dots %(sure)s are filled: very likely; %(may)s more are rings: possible.",
        sure=sure,
        may=may,
    )
    made = charts.hundred_dots(_title(finding), sure, may, sentence)
    point = PlottedEstimate(extent.label.text, sentence, extent.value, extent.interval)
    chart = _name(finding, made, Plot((point,), charts.share_axis([extent.interval]), PERCENT))
    return replace(chart, reading=sentence)


def _place(extent: FindingRange, ends: tuple[float, float]) -> tuple[float | None, tuple[float, float]]:
    """Where a row's estimate and interval are drawn: where nothing is told, no estimate, and what is possible alone."""
    if extent.says == Says.NOT_TOLD:
        low, high = (min(max(end, ends[0]), ends[1]) for end in extent.interval)
        return None, (low, high)
    return (extent.value if says_something(extent) else None), extent.interval


def _draw_bars(words: ReportWords, finding: ReleaseFinding, ranges: tuple[FindingRange, ...]) -> Chart:
    rows = tuple(
        PlottedEstimate(
            each.label.text,
            words.gettext("%(low)s to %(high)s of 100", low=each.low, high=each.high),
            *_place(each, (0.0, 1.0)),
        )
        for each in ranges
    )
    # One axis for all, however many charts they take.
    axis = charts.share_axis([_place(each, (0.0, 1.0))[1] for each in finding.ranges])
    made = charts.histogram(_title(finding), rows, axis, lambda mark: words.number(round(100 * mark)))
    return _name(finding, made, Plot(rows, axis, PERCENT))


def _draw_lines(
    words: ReportWords,
    finding: ReleaseFinding,
    ranges: tuple[FindingRange, ...],
    questions: QuestionsByVersion,
) -> Chart:
    assert finding.ends is not None
    first, last = finding.ends
    asked_as = questions.question(finding.questions[0], finding.entry.covers)
    rows = []
    for extent in ranges:
        value, interval = _place(extent, finding.ends)
        low, high = (min(max(end, first), last) for end in interval)
        value = None if value is None else min(max(value, first), last)
        sentence = words.gettext(
            "%(low)s to %(high)s",
            low=words.number(extent.low),
            high=_with_unit(words, extent.high, None if asked_as is None else asked_as[1]),
        )
        of = extent.label.text if len(finding.ranges) > 1 else ""
        rows.append(PlottedEstimate(of, sentence, value, (low, high)))
    axis = charts.mean_axis(first, last, None)
    made = charts.estimates(_title(finding), rows, axis, words.number)
    form = cell_texts.measure(words, None, last - first).form
    return _name(finding, made, Plot(tuple(rows), axis, form, bars=False))


def _draw_table(
    words: ReportWords, finding: ReleaseFinding, by_version: QuestionsByVersion
) -> Drawing | None:
    """Of two questions, if every pair of answers is there: the darker, the larger. It is higher than wide."""
    entry = finding.entry
    places = (
        figure.place
        for figure in entry.figures
        if figure.statistic == "share" and len(figure.place) == 2 and figure.low is not None
    )
    cells = dict(zip(places, finding.ranges, strict=True))
    rows, columns = (list(dict.fromkeys(pair[side] for pair in cells)) for side in (0, 1))
    if len(cells) != len(rows) * len(columns):
        return None
    if len(columns) > len(rows):
        rows, columns = columns, rows
        cells = {(second, first): extent for (first, second), extent in cells.items()}
    return charts.heat_map(
        _title(finding),
        [part(words, entry, row, by_version).text for row in rows],
        [part(words, entry, column, by_version).text for column in columns],
        [
            [
                (min(max(_place(extent, (0.0, 1.0))[0] or 0.0, 0.0), 1.0), f"{extent.low}–{extent.high}")
                for extent in (cells[row, column] for column in columns)
            ]
            for row in rows
        ],
    )


def _with_unit(words: ReportWords, number: float, question: Question | None) -> str:
    text = words.number(number)
    return text if question is None or not question.unit else f"{text}\N{NO-BREAK SPACE}{question.unit}"
