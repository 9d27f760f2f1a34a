"""What was released and is no share, drawn: a number of people within its limits, and answers that were chosen."""

from collections.abc import Iterator
from dataclasses import replace

from server.output import charts
from server.output.charts import Axis, PlottedChoice, PlottedEstimate
from server.output.documents import Chart
from server.releases import Released
from server.reports.contents.figures import QuestionsByVersion, numbers, place
from server.reports.report_words import ReportWords


def draw_count(words: ReportWords, entry: Released, questions: QuestionsByVersion) -> Iterator[Chart]:
    """A number of respondents with its interval, on an axis three times as long; what is below 0 is hatched."""
    _ = words.gettext
    for figure in entry.figures:
        if figure.value is None or figure.low is None or figure.high is None:
            continue
        axis = axis_around(figure.value, (figure.low, figure.high), lowest=0)
        value, _error, least, most = (cell.text for cell in numbers(words, entry, figure, questions))
        text = _("%(estimate)s (%(low)s to %(high)s)", estimate=value, low=least, high=most)
        label = place(words, entry, figure, questions).text
        row = PlottedEstimate(label, text, figure.value, (figure.low, figure.high))
        confidence = words.level(entry.confidence)
        caption = (
            _("Number of rows, with the %(confidence)s %% interval of the noise", confidence=confidence)
            if entry.covers.of_table
            else _(
                "Number of responses, with the %(confidence)s %% interval of the noise", confidence=confidence
            )
        )
        made = charts.estimates(caption, (row,), axis, lambda number: words.integer(round(number)))
        yield Chart(made.svg, caption, made.alternative)


def axis_around(
    value: float, interval: tuple[float, float], lowest: float | None = None, highest: float | None = None
) -> Axis:
    """Three times as long as an interval, with the value in its middle; hatched where no true value can be."""
    reach = 3 * max(interval[1] - value, value - interval[0], 1)
    low, high = value - reach, value + reach
    first = low if lowest is None else min(max(low, lowest), high)
    last = high if highest is None else max(min(high, highest), first)
    return Axis(low, high, first, last, (), (first, last))


def draw_choices(words: ReportWords, entry: Released, questions: QuestionsByVersion) -> Iterator[Chart]:
    """Answers that were chosen among all of a question, or compared with a limit."""
    _ = words.gettext
    compared = [figure for figure in entry.figures if figure.statistic == "above"]
    chosen = [figure for figure in entry.figures if figure.statistic in ("most_common", "top")]
    rows: list[PlottedChoice] = []
    if compared:
        caption = _("Which answers came out above the limit, by comparisons with noise")
        said = {1: _("above"), 0: _("not above"), None: _("not compared")}
        for figure in compared:
            value = None if figure.value is None else int(figure.value)
            label = place(words, entry, figure, questions).text
            rows.append(PlottedChoice(label, said[value], None if value is None else bool(value)))
    elif chosen:
        caption = (
            _("Which answer was chosen as the most common, with noise")
            if len(chosen) == 1
            else _("Which answers were chosen as the most common, with noise and in no order")
        )
        name, taken = entry.item.questions[0], {figure.place: figure for figure in chosen}
        found = questions.question(name, entry.covers)
        answers = [answer for _name, answer in (figure.place[0] for figure in chosen)]
        for answer in answers if found is None else found[1].answers:
            own = taken.get(((name, answer),))
            label = place(words, entry, replace(chosen[0], place=((name, answer),)), questions).text
            rows.append(PlottedChoice(label, _("chosen") if own else _("not chosen"), own is not None))
    if rows:
        made = charts.choices(caption, rows)
        yield Chart(made.svg, caption, made.alternative)
