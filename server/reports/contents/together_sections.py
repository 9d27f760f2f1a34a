"""The questions that a reader asked to see together: what is found of them, and the numbers behind it."""

from collections.abc import Iterator

from server.inputs import N_
from server.output import formatting
from server.output.documents import Block, Cell, Facts, FindingBlock, Paragraph, Section, Table, Text
from server.reports.contents import cell_texts
from server.reports.contents.crossed_charts import draw_groups, draw_table
from server.reports.crossing import Crossed, CrossedSide, JointShare
from server.reports.crossing_findings import interpret_crossing
from server.reports.report import Report
from server.reports.report_words import ReportWords
from server.reports.three_together import ThreeTogether
from server.reports.weighting_notes import UNWEIGHTED, WITHIN_STRATA, list_weighting

_WORDS = "words/crossed.html"
"""Where the page of results has the same words."""


def describe_together(words: ReportWords, report: Report) -> Section | None:
    """A section for each pair and each three; None where none was asked for."""
    if not report.crossings:
        return None
    parts = tuple(
        _describe(words, report, number, one) for number, one in enumerate(report.crossings, start=1)
    )
    return Section("together", Text(words.gettext("Questions together")), (), parts)


def _describe(words: ReportWords, report: Report, number: int, together: Crossed | ThreeTogether) -> Section:
    title = cell_texts.quote_text(
        report.definition, " × ".join(side.question.text for side in together.sides)
    )
    name = f"together-{number}"
    blocks = tuple(_describe_any(words, report, name, together))
    if together.plain is None or together.too_large:
        return Section(name, title, blocks)
    plain = f"{name}-unweighted"
    below = Section(
        plain,
        Text(words.gettext(UNWEIGHTED)),
        tuple(_describe_any(words, report, plain, together.plain)),
    )
    return Section(name, title, blocks, (below,))


def _describe_any(
    words: ReportWords, report: Report, name: str, together: Crossed | ThreeTogether
) -> Iterator[Block]:
    if isinstance(together, ThreeTogether):
        return _describe_three(words, report, name, together)
    return _describe_pair(words, report, name, together)


def _describe_pair(words: ReportWords, report: Report, name: str, crossed: Crossed) -> Iterator[Block]:
    _ = words.gettext
    if crossed.too_large:
        yield Paragraph(Text(_("These two questions have too many answers for a joint table.")))
        return
    together, language = interpret_crossing(crossed), report.definition.language
    sentence = words.macro(_WORDS, "crossed_sentence", crossed, together, language)
    table = None if crossed.numeric else draw_table(words, report, crossed)
    charts = (draw_groups(words, report, crossed), *([] if table is None else [table]))
    notes = (*_list_weighting(words, crossed), words.macro(_WORDS, "how_sure", crossed))
    yield FindingBlock(sentence, notes=notes, charts=charts)
    if crossed.numeric:
        yield _tabulate_means(words, report, name, crossed)
        return
    if crossed.cells is not None:
        rows = [
            (*_answers(report, crossed, (row, column)), *_share(words, cell))
            for row, line in enumerate(crossed.cells)
            for column, cell in enumerate(line)
        ]
        headings = (crossed.row.question.text, crossed.column.question.text)
        yield _tabulate(words, report, name, headings, rows, crossed)
    yield Facts(tuple(_list_measures(words, crossed)))


def _list_weighting(words: ReportWords, together: Crossed | ThreeTogether) -> Iterator[str]:
    """How many responses it is of, and whether strata count by their populations."""
    n = together.n
    number = words.ngettext("%(num)s response", "%(num)s responses", n, num=words.integer(n))
    weighed = None if together.strata is None else together.strata.weighed
    yield f"{number} · {' '.join(list_weighting(weighed, words.gettext))}"
    if weighed is not None:
        yield words.gettext(WITHIN_STRATA)


def _answers(report: Report, crossed: Crossed, at: tuple[int, int]) -> tuple[Cell, Cell]:
    row, column = (
        cell_texts.answer(report.definition, side.question, index)
        for side, index in zip((crossed.row, crossed.column), at, strict=True)
    )
    return row, column


def _share(words: ReportWords, cell: JointShare) -> tuple[Cell, ...]:
    numbers = (cell.share, cell.standard_error, *cell.interval)
    return tuple(cell_texts.share(words, number) for number in numbers)


def _tabulate(
    words: ReportWords,
    report: Report,
    name: str,
    headings: tuple[str, ...],
    rows: list[tuple[Cell, ...]],
    together: Crossed | ThreeTogether,
) -> Table:
    """The share of every combination of answers."""
    _ = words.gettext
    columns = (
        *headings,
        _("estimate"),
        _("standard error"),
        _("%(confidence)s %% interval, from", confidence=words.level(report.confidence)),
        _("to"),
    )
    caption = _("Estimated shares of all who responded; not cut at 0 or 100 %%")
    if together.strata is not None:
        caption = _("Estimated shares of the population; not cut at 0 or 100 %%")
    note = words.macro(_WORDS, "how_cells", together.list_cells()[0].guaranteed)
    return Table(f"{name}-table", caption, columns, tuple(rows), (note,), _shorten(words, name))


def _shorten(words: ReportWords, name: str) -> str:
    """What a sheet with its numbers is called."""
    _, number, *plain = name.split("-")
    if plain:
        return words.gettext("Together %(number)s, unweighted", number=number)
    return words.gettext("Together %(number)s", number=number)


def _list_measures(words: ReportWords, crossed: Crossed) -> Iterator[tuple[str, Cell]]:
    """How strongly the two chosen answers go together; the limits follow from the two intervals of the sentence."""
    _ = words.gettext
    compared, association = crossed.comparison, crossed.association

    def bound(value: str, low: str, high: str) -> Text:
        return Text(_("%(value)s, between %(low)s and %(high)s", value=value, low=low, high=high))

    def points(share: float) -> str:
        return formatting.percent(share, words.locale)

    difference, ends = crossed.difference, compared.difference_limits
    yield (
        _("Difference of the two shares, in points"),
        bound("–" if difference is None else points(difference), points(ends[0]), points(ends[1])),
    )
    ratio = association.odds_ratio.value
    low, high = (formatting.ratio(limit, words.locale) for limit in compared.odds_ratio)
    yield (
        _("Odds ratio"),
        bound("–" if ratio is None else formatting.ratio(ratio, words.locale), low, high),
    )
    phi = crossed.phi
    yield (
        _("Correlation of the two answers (phi), without an interval"),
        Text("–" if phi is None else words.number(round(phi, 3))),
    )


def _tabulate_means(words: ReportWords, report: Report, name: str, crossed: Crossed) -> Table:
    _ = words.gettext
    low, high = crossed.ends
    width = high - low
    columns = (
        crossed.row.question.text,
        _("mean of those who gave it"),
        _("from"),
        _("to"),
        _("mean of the others"),
        _("from"),
        _("to"),
    )
    rows: list[tuple[Cell, ...]] = []
    for index, compared in enumerate(crossed.groups):
        numbers = [
            None if value is None else low + width * value
            for group in (compared.gave, compared.others)
            for value in (group.possible, *group.interval)
        ]
        answer = cell_texts.answer(report.definition, crossed.row.question, index)
        rows.append((answer, *(cell_texts.measure(words, number, width) for number in numbers)))
    note = _(
        "The two intervals of a row hold together at %(confidence)s %%.",
        confidence=words.level(report.confidence),
    )
    short = _shorten(words, name)
    return Table(f"{name}-table", crossed.column.question.text, columns, tuple(rows), (note,), short)


def _describe_three(words: ReportWords, report: Report, name: str, three: ThreeTogether) -> Iterator[Block]:
    _ = words.gettext
    for line in _list_weighting(words, three):
        yield Paragraph(Text(line))
    if three.too_large:
        yield Paragraph(Text(_("These three questions have too many answers for a joint table.")))
        return
    rows: list[tuple[Cell, ...]] = []
    cells = three.list_cells()
    for at, cell in zip(three.list_places(), cells, strict=True):
        answers = [
            name_answer(words, report, *own) for own in zip(three.sides, three.answers, at, strict=True)
        ]
        rows.append((*answers, *_share(words, cell)))
    headings = tuple(side.question.text for side in three.sides)
    yield _tabulate(words, report, name, headings, rows, three)
    if three.pairs:
        yield _tabulate_within(words, report, name, three)
    else:
        yield Paragraph(
            Text(_("Within each answer of the third, too many reports may arrive to compare two."))
        )


def _tabulate_within(words: ReportWords, report: Report, name: str, three: ThreeTogether) -> Table:
    """The chosen answers of two questions, among those who gave each answer to the third."""
    _ = words.gettext
    chosen = [1 if side.split else own for side, own in zip(three.sides, three.answers, strict=True)]
    rows: list[tuple[Cell, ...]] = []
    for pair in three.pairs:
        places = [*((place, chosen[place]) for place in pair.pair), (pair.third, pair.answer)]
        named = (
            name_answer(words, report, three.sides[place], three.answers[place], index)
            for place, index in places
        )
        asked = (three.sides[place].question.text for place, _index in places)
        compared, ends = pair.compared, pair.compared.difference_limits
        odds = [
            "–" if value is None else formatting.ratio(value, words.locale)
            for value in (pair.odds_ratio, *compared.odds_ratio)
        ]
        rows.append(
            (
                *(
                    cell_texts.quote_text(report.definition, f"{text} · {answer.text}")
                    for text, answer in zip(asked, named, strict=True)
                ),
                *(
                    Text(_range(words, group.possible, group.interval))
                    for group in (compared.gave, compared.others)
                ),
                Text(_range(words, pair.difference, ends)),
                Text(_("%(estimate)s (%(low)s to %(high)s)", estimate=odds[0], low=odds[1], high=odds[2])),
                Text("–" if pair.phi is None else words.number(round(pair.phi, 3))),
            )
        )
    columns = (
        _("First"),
        _("Second"),
        _("among those who gave this"),
        _("second, among those who gave the first"),
        _("second, among the others"),
        _("difference"),
        _("Odds ratio"),
        "phi",
    )
    note = _(
        "The two intervals of a row hold together at %(confidence)s %%.",
        confidence=words.level(report.confidence),
    )
    caption = _("Two of them, within each answer of the third")
    short = _("%(name)s, within", name=_shorten(words, name))
    return Table(f"{name}-within", caption, columns, tuple(rows), (note,), short)


def _range(words: ReportWords, value: float | None, ends: tuple[float, float]) -> str:
    low, high = map(words.percent, ends)
    return words.gettext(
        "%(estimate)s (%(low)s to %(high)s)", estimate=words.percent(value), low=low, high=high
    )


def name_answer(words: ReportWords, report: Report, side: CrossedSide, chosen: int, index: int) -> Text:
    """An answer of a question; of one that stands for its chosen answer, whether that was given."""
    if not side.split:
        return cell_texts.answer(report.definition, side.question, index)
    given = cell_texts.answer(report.definition, side.question, chosen).text
    template = N_("“%(answer)s” given") if index else N_("“%(answer)s” not given")
    return Text(words.gettext(template, answer=given))
