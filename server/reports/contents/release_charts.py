"""What was released, drawn: intervals, a heat map, a tree."""

from collections.abc import Iterator, Sequence

from server.output import charts
from server.output.charts import PlottedEstimate, PlottedGroup
from server.output.documents import Chart, Plot
from server.releases import OWN_LINK, Figure, Released
from server.releases.plans.plan_reader import ItemKind
from server.reports.contents.chosen_charts import draw_choices, draw_count
from server.reports.contents.estimate_sections import MOST_DRAWN, MOST_ROWS, PERCENT, percent_label
from server.reports.contents.figures import QuestionsByVersion, numbers, part, place, span
from server.reports.report_words import ReportWords


def draw_entry(words: ReportWords, entry: Released, asked: QuestionsByVersion) -> Iterator[Chart]:
    """The charts of an entry."""
    shares = [figure for figure in entry.figures if figure.statistic == "share" and figure.low is not None]
    if entry.item.kind == ItemKind.TABLE and shares:
        yield from _heat_map(words, entry, asked, shares)
    elif shares:
        yield from _intervals(words, entry, asked, shares)
    if entry.item.kind == ItemKind.HIERARCHY:
        yield from draw_tree(words, entry)
    yield from _means(words, entry, asked)
    if entry.item.kind == ItemKind.COUNT:
        yield from draw_count(words, entry, asked)
    yield from draw_choices(words, entry, asked)


def _intervals(
    words: ReportWords, entry: Released, asked: QuestionsByVersion, shares: Sequence[Figure]
) -> Iterator[Chart]:
    _ = words.gettext
    rows = []
    for figure in shares:
        assert figure.low is not None
        assert figure.high is not None
        rows.append(
            PlottedEstimate(
                place(words, entry, figure, asked).text,
                _said(words, entry, figure, asked),
                figure.value,
                (figure.low, figure.high),
            )
        )
    axis = charts.share_axis([row.interval for row in rows if row.interval is not None])
    draw = charts.histogram if entry.item.kind == ItemKind.HISTOGRAM else charts.estimates
    caption = _(
        "Estimated shares, not weighted, with %(confidence)s %% intervals",
        confidence=words.level(entry.confidence),
    )
    for first in range(0, len(rows), MOST_ROWS):
        shown = tuple(rows[first : first + MOST_ROWS])
        made = draw(caption, shown, axis, percent_label)
        yield Chart(made.svg, caption, made.alternative, Plot(shown, axis, PERCENT))


def _means(words: ReportWords, entry: Released, asked: QuestionsByVersion) -> Iterator[Chart]:
    for statistic in ("weighted_mean", "mean"):
        yield from _means_of(words, entry, asked, statistic)


def _means_of(
    words: ReportWords, entry: Released, asked: QuestionsByVersion, statistic: str
) -> Iterator[Chart]:
    """Of one question, whose numbers share an axis; of many strata a few at a time."""
    rows: list[PlottedEstimate] = []
    least = most = 0.0
    for figure in entry.figures:
        ends = span(entry, figure, asked) if figure.statistic == statistic else None
        if ends is not None:
            figure = figure.within(*ends)  # as it is printed
        if ends is not None and figure.low is not None and figure.high is not None:
            least, most = ends
            row = PlottedEstimate(
                place(words, entry, figure, asked).text,
                _said(words, entry, figure, asked),
                figure.value,
                (figure.low, figure.high),
            )
            rows.append(row)
    for first in range(0, len(rows), MOST_ROWS):
        shown = rows[first : first + MOST_ROWS]
        _, confidence = words.gettext, words.level(entry.confidence)
        caption = (
            _("Estimated means, not weighted, with %(confidence)s %% intervals", confidence=confidence)
            if statistic == "mean"
            else _("Estimated mean, weighted, with %(confidence)s %% interval", confidence=confidence)
        )
        # What is printed of a mean lies where a mean can lie.
        made = charts.estimates(caption, shown, charts.mean_axis(least, most, None), words.number)
        yield Chart(made.svg, caption, made.alternative)


def _said(words: ReportWords, entry: Released, figure: Figure, asked: QuestionsByVersion) -> str:
    """An estimate with its interval, in words."""
    value, _error, low, high = (cell.text for cell in numbers(words, entry, figure, asked))
    return words.gettext("%(estimate)s (%(low)s to %(high)s)", estimate=value, low=low, high=high)


def _heat_map(
    words: ReportWords, entry: Released, asked: QuestionsByVersion, shares: Sequence[Figure]
) -> Iterator[Chart]:
    """Of two variables, if every pair is there."""
    found = {figure.place: figure for figure in shares if len(figure.place) == 2}
    rows = list(dict.fromkeys(first for first, _second in found))
    columns = list(dict.fromkeys(second for _first, second in found))
    if not found or any((row, column) not in found for row in rows for column in columns):
        return
    table = [
        [(value if (value := found[row, column].value) is not None else 0.0) for column in columns]
        for row in rows
    ]
    caption = words.gettext("Joint table, not weighted, the darker the larger")
    made = charts.heat_map(
        caption,
        [part(words, entry, row, asked).text for row in rows],
        [part(words, entry, column, asked).text for column in columns],
        [[(value, words.percent(value)) for value in line] for line in table],
    )
    yield Chart(made.svg, caption, made.alternative)


def draw_tree(words: ReportWords, entry: Released) -> Iterator[Chart]:
    """The numbers that add up."""
    counts = [
        figure
        for figure in entry.figures
        if figure.statistic in ("respondents", "fitted") and len(figure.place) == 1
    ]
    fitted = [figure for figure in counts if figure.statistic == "fitted"] or counts
    branches = [_branch(words, figure) for figure in _downwards(fitted)]
    if 1 < len(branches) <= MOST_DRAWN:
        caption = words.gettext("Respondents by stratum, made to add up")
        made = charts.tree(caption, branches)
        yield Chart(made.svg, caption, made.alternative)


def _downwards(figures: Sequence[Figure]) -> list[Figure]:
    """Each stratum before those below it, whatever the order of levels in the release."""
    places = {figure.place[0][1]: place for place, figure in enumerate(figures)}

    def above(figure: Figure) -> list[int]:
        names = figure.place[0][1].split(" > ") if figure.place[0][1] not in ("", OWN_LINK) else []
        way = (" > ".join(names[: depth + 1]) for depth in range(len(names)))
        return [places.get(path, -1) for path in way] or [places[figure.place[0][1]]]

    return sorted(figures, key=above)


def _branch(words: ReportWords, figure: Figure) -> PlottedGroup:
    path = figure.place[0][1]
    names = [path] if path == OWN_LINK else path.split(" > ") if path else []
    label = (
        words.gettext("Without stratum")
        if path == OWN_LINK
        else names[-1]
        if names
        else words.gettext("All strata")
    )
    value = int(figure.value or 0)
    return PlottedGroup(len(names), label, words.integer(value), value)
