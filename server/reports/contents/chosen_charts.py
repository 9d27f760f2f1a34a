"""What was released and is no share, drawn: a number of people within its limits, and answers that were chosen."""

from collections.abc import Iterator
from dataclasses import replace

from server.output import charts
from server.output.charts import Axis, PlottedChoice, PlottedEstimate
from server.output.documents import Chart
from server.releases import Released
from server.reports.contents.figures import QuestionsByVersion, numbers, place
from server.reports.report_words import ReportWords


def draw_count(words: ReportWords, entry: Released, asked: QuestionsByVersion) -> Iterator[Chart]:
    """A number of respondents with its interval, on an axis three times as long; what is below 0 is hatched."""
    _ = words.gettext
    for figure in entry.figures:
        if figure.value is None or figure.low is None or figure.high is None:
            continue
        reach = 3 * max(figure.high - figure.value, figure.value - figure.low, 1)
        low, high = figure.value - reach, figure.value + reach
        first = min(max(low, 0), high)
        axis = Axis(low, high, first, high, (), (first, high))
        value, _error, least, most = (cell.text for cell in numbers(words, entry, figure, asked))
        said = _("%(estimate)s (%(low)s to %(high)s)", estimate=value, low=least, high=most)
        label = place(words, entry, figure, asked).text
        row = PlottedEstimate(label, said, figure.value, (figure.low, figure.high))
        caption = _(
            "Number of responses, with the %(confidence)s %% interval of the noise",
            confidence=words.level(entry.confidence),
        )
        made = charts.estimates(caption, (row,), axis, lambda number: words.integer(round(number)))
        yield Chart(made.svg, caption, made.alternative)


def draw_choices(words: ReportWords, entry: Released, asked: QuestionsByVersion) -> Iterator[Chart]:
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
            label = place(words, entry, figure, asked).text
            rows.append(PlottedChoice(label, said[value], None if value is None else bool(value)))
    elif chosen:
        caption = (
            _("Which answer was chosen as the most common, with noise")
            if len(chosen) == 1
            else _("Which answers were chosen as the most common, with noise and in no order")
        )
        name, taken = entry.item.questions[0], {figure.place: figure for figure in chosen}
        found = asked.question(name, entry.covers)
        answers = [answer for _name, answer in (figure.place[0] for figure in chosen)]
        for answer in answers if found is None else found[1].answers:
            own = taken.get(((name, answer),))
            label = place(words, entry, replace(chosen[0], place=((name, answer),)), asked).text
            rows.append(PlottedChoice(label, _("chosen") if own else _("not chosen"), own is not None))
    if rows:
        made = charts.choices(caption, rows)
        yield Chart(made.svg, caption, made.alternative)
