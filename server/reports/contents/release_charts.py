"""What was released, drawn: intervals, a heat map, a tree."""

from collections.abc import Iterator, Sequence

from server.output import charts
from server.output.charts import PlottedEstimate, PlottedGroup, TableCell
from server.output.documents import Chart, Plot
from server.releases import OWN_LINK, Figure, Released
from server.releases.plans.plan_reader import ItemKind
from server.reports.contents.chosen_charts import draw_choices, draw_count
from server.reports.contents.estimate_sections import MOST_DRAWN, MOST_ROWS, PERCENT, percent_label
from server.reports.contents.figures import QuestionsByVersion, part, span
from server.reports.contents.number_charts import draw_numbers, plot_figure
from server.reports.findings import round_share
from server.reports.report_words import ReportWords


def draw_entry(words: ReportWords, entry: Released, questions: QuestionsByVersion) -> Iterator[Chart]:
    """The charts of an entry."""
    for statistic in ("weighted_share", "share"):
        shares = [
            figure for figure in entry.figures if figure.statistic == statistic and figure.low is not None
        ]
        crossed = [figure for figure in shares if len(figure.place) > 1]
        drawn = entry.item.kind == ItemKind.TABLE and statistic == "share"
        table = _draw_table(words, entry, questions, crossed) if drawn else None
        if table is not None:
            yield table
        elif len(crossed) <= MOST_DRAWN:
            yield from _intervals(words, entry, questions, shares)
        else:  # what each answer has by itself
            yield from _intervals(words, entry, questions, [one for one in shares if len(one.place) == 1])
    if entry.item.kind == ItemKind.HIERARCHY:
        yield from draw_tree(words, entry)
    yield from _means(words, entry, questions)
    yield from draw_numbers(words, entry, questions)
    if entry.item.kind == ItemKind.COUNT:
        yield from draw_count(words, entry, questions)
    yield from draw_choices(words, entry, questions)


def _intervals(
    words: ReportWords, entry: Released, questions: QuestionsByVersion, shares: Sequence[Figure]
) -> Iterator[Chart]:
    _, confidence = words.gettext, words.level(entry.confidence)
    if not shares:
        return
    rows = [plot_figure(words, entry, figure, questions) for figure in shares]
    axis = charts.share_axis([row.interval for row in rows if row.interval is not None])
    draw = charts.histogram if entry.item.kind == ItemKind.HISTOGRAM else charts.estimates
    caption = (
        _("Estimated shares, not weighted, with %(confidence)s %% intervals", confidence=confidence)
        if shares[0].statistic == "share"
        else _(
            "Estimated shares, weighted by population, with %(confidence)s %% intervals",
            confidence=confidence,
        )
    )
    for first in range(0, len(rows), MOST_ROWS):
        shown = tuple(rows[first : first + MOST_ROWS])
        made = draw(caption, shown, axis, percent_label)
        yield Chart(made.svg, caption, made.alternative, Plot(shown, axis, PERCENT))


def _means(words: ReportWords, entry: Released, questions: QuestionsByVersion) -> Iterator[Chart]:
    for statistic in ("weighted_mean", "mean"):
        yield from _means_of(words, entry, questions, statistic)


def _means_of(
    words: ReportWords, entry: Released, questions: QuestionsByVersion, statistic: str
) -> Iterator[Chart]:
    """Of one question, whose numbers share an axis; of many strata a few at a time."""
    rows: list[PlottedEstimate] = []
    least = most = 0.0
    for figure in entry.figures:
        ends = span(entry, figure, questions) if figure.statistic == statistic else None
        if ends is not None:
            figure = figure.within(*ends)  # as it is printed
        if ends is not None and figure.low is not None and figure.high is not None:
            least, most = ends
            rows.append(plot_figure(words, entry, figure, questions))
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


def _draw_table(
    words: ReportWords, entry: Released, questions: QuestionsByVersion, shares: Sequence[Figure]
) -> Chart | None:
    """Of two variables, if every pair is there: with intervals, where the columns have room for them."""
    found = {figure.place: figure for figure in shares if len(figure.place) == 2}
    rows, columns = (list(dict.fromkeys(pair[side] for pair in found)) for side in (0, 1))
    if not found or len(found) != len(shares) or len(found) != len(rows) * len(columns):
        return None
    names = {pair: part(words, entry, pair, questions).text for pair in (*rows, *columns)}
    if len(columns) > len(rows) and not charts.fits_columns([names[pair] for pair in columns]):
        rows, columns = columns, rows
        found = {(second, first): figure for (first, second), figure in found.items()}
    heads = [names[pair] for pair in rows], [names[pair] for pair in columns]
    if not charts.fits_columns(heads[1]):
        caption = words.gettext("Joint table, not weighted, the stronger the colour the larger")
        filled = [[_fill_cell(words, found[row, column]) for column in columns] for row in rows]
        made = charts.heat_map(
            caption, *heads, [[(cell.value, cell.number) for cell in line] for line in filled]
        )
        return Chart(made.svg, caption, made.alternative)
    caption = words.gettext(
        "Joint table, not weighted, with %(confidence)s %% intervals, the stronger the colour the larger",
        confidence=words.level(entry.confidence),
    )
    cells = [[_fill_cell(words, found[row, column]) for column in columns] for row in rows]
    made = charts.share_table(caption, (), *heads, cells)
    return Chart(made.svg, caption, made.alternative)


def _fill_cell(words: ReportWords, figure: Figure) -> TableCell:
    """A share as it can be true: "–", without a shade, where nothing is told. The table has it as it was released."""
    assert figure.low is not None
    assert figure.high is not None
    says = round_share(figure.value, (figure.low, figure.high))[0]
    value, low, high = (
        min(max(number, 0.0), 1.0) for number in (figure.value or 0.0, figure.low, figure.high)
    )
    told = figure.value is not None and says.tells
    limits = f"{_bare(words.percent(low))}–{_bare(words.percent(high))}"
    return TableCell(value if told else 0.0, words.percent(value) if told else "–", limits)


def _bare(percent: str) -> str:
    return percent.removesuffix("\N{NO-BREAK SPACE}%")


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
        caption = (
            words.gettext("Respondents by stratum, made to add up")
            if all(branch.interval is None for branch in branches)
            else words.gettext(
                "Respondents by stratum, made to add up, with %(confidence)s %% intervals",
                confidence=words.level(entry.confidence),
            )
        )
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
    if figure.low is None or figure.high is None:
        return PlottedGroup(len(names), label, words.integer(value), value)
    low, high = int(figure.low), int(figure.high)
    limits = words.gettext("%(low)s to %(high)s", low=words.integer(low), high=words.integer(high))
    return PlottedGroup(len(names), label, words.integer(value), value, (low, high), limits)
