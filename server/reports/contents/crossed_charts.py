"""Two questions together, drawn: the table of all pairs of answers, and an answer or a mean in groups."""

from collections.abc import Iterator

from server.output import charts
from server.output.charts import PlottedEstimate, TableCell
from server.output.documents import Chart
from server.privacy.estimators import ConditionalShare
from server.reports.contents.cell_texts import answer
from server.reports.crossing import Crossed, JointShare
from server.reports.crossing_findings import Interval, interpret_crossing
from server.reports.findings import round_share
from server.reports.report import Report
from server.reports.report_words import ReportWords


def draw_table(words: ReportWords, report: Report, crossed: Crossed) -> Chart | None:
    """Of 100 people how many gave each pair of answers; None where there is no room for so many.

    Lying where that fits better; the chosen pair has a frame.
    """
    if not crossed.cells:
        return None
    cells = [
        [_cell(words, share, (row, column) == crossed.chosen) for column, share in enumerate(line)]
        for row, line in enumerate(crossed.cells)
    ]
    names = [
        [answer(report.definition, side.question, index).text for index in range(len(side.question.answers))]
        for side in (crossed.row, crossed.column)
    ]
    headings = [crossed.row.question.text, f"× {crossed.column.question.text}"]
    if not charts.fits_columns(names[1]) or (
        len(names[1]) > len(names[0]) and len(names[1]) > 4 and charts.fits_columns(names[0])
    ):
        names.reverse()
        headings = [crossed.column.question.text, f"× {crossed.row.question.text}"]
        cells = [list(line) for line in zip(*cells, strict=True)]
    if not charts.fits_columns(names[1]):
        return None
    caption = words.gettext(
        "Of 100 people, how many gave both answers: estimate and %(confidence)s %% interval",
        confidence=words.level(report.confidence),
    )
    made = charts.share_table(caption, headings, names[0], names[1], cells)
    return Chart(made.svg, caption, made.alternative)


def draw_groups(words: ReportWords, report: Report, crossed: Crossed) -> Chart:
    """The chosen answer among those who gave the other chosen one, and among the others; or the mean, by answer."""
    _ = words.gettext
    confidence = words.level(report.confidence)
    column = crossed.column.question
    if crossed.numeric:
        low, high = crossed.ends
        caption = _(
            "Estimated mean among those who gave each answer, with %(confidence)s %% intervals",
            confidence=confidence,
        )
        rows = list(_plot_means(words, report, crossed))
        made = charts.estimates(caption, rows, charts.mean_axis(low, high, None), words.number)
        return Chart(made.svg, caption, made.alternative)
    second = answer(report.definition, column, crossed.chosen[1]).text
    caption = _(
        "Of 100 in two groups, with intervals that hold together at %(confidence)s %%", confidence=confidence
    )
    first = answer(report.definition, crossed.row.question, crossed.chosen[0]).text
    named = _(
        "of those who answered “%(answer)s” to “%(question)s”",
        answer=first,
        question=crossed.row.question.text,
    )
    crossing, compared = interpret_crossing(crossed), crossed.comparison
    rows = [
        _plot_share(words, named, compared.gave, crossing.gave, f"{column.text} – {second}"),
        _plot_share(words, _("of the others"), compared.others, crossing.others),
    ]
    made = charts.estimates(
        caption, rows, charts.share_axis([]), lambda mark: words.integer(round(100 * mark))
    )
    return Chart(made.svg, caption, made.alternative)


def _cell(words: ReportWords, share: JointShare, chosen: bool) -> TableCell:
    _says, low, high, guess = round_share(share.share, share.interval)
    number = "–" if guess is None else words.integer(guess)
    interval = words.gettext("%(low)s to %(high)s", low=words.integer(low), high=words.integer(high))
    return TableCell(share.share, number, interval, chosen)


def _plot_share(
    words: ReportWords, name: str, share: ConditionalShare, interval: Interval, heading: str = ""
) -> PlottedEstimate:
    """With the numbers that the sentence has."""
    value = share.possible
    text = words.gettext(
        "%(estimate)s (%(low)s to %(high)s)",
        estimate="–" if value is None else words.integer(round(100 * value)),
        low=words.number(interval[0]),
        high=words.number(interval[1]),
    )
    return PlottedEstimate(name, text, value, share.interval, heading)


def _plot_means(words: ReportWords, report: Report, crossed: Crossed) -> Iterator[PlottedEstimate]:
    first, last = crossed.ends
    width = last - first
    for index, compared in enumerate(crossed.groups):
        value = compared.gave.possible
        low, high = (first + width * end for end in compared.gave.interval)
        place = None if value is None else first + width * value
        sentence = words.gettext(
            "%(estimate)s (%(low)s to %(high)s)",
            estimate=words.measure(place, width),
            low=words.measure(low, width),
            high=words.measure(high, width),
        )
        name = answer(report.definition, crossed.row.question, index).text
        heading = "" if index else crossed.column.question.text
        yield PlottedEstimate(name, sentence, place, (low, high), heading)
