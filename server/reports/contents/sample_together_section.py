"""Questions of a sample from elsewhere together, as tables of a document: every combination, and two answers."""

from collections.abc import Callable, Iterator, Sequence

from server.output import formatting
from server.output.documents import Cell, Table, Text
from server.privacy.estimators.association import Measure
from server.reports.contents import cell_texts
from server.reports.contents.together_sections import name_answer
from server.reports.elsewhere.sample_together import SampleTogether, SampleWithin
from server.reports.report import Report
from server.reports.report_words import ReportWords


def draw_sampled_together(
    words: ReportWords, report: Report, together: Sequence[SampleTogether]
) -> Iterator[Table]:
    """Of each that was asked for a table of shares, and one of how two chosen answers go together."""
    for number, sample_together in enumerate(together, 1):
        name = f"population-together-{number}"
        yield _tabulate_cells(words, report, name, number, sample_together)
        yield _tabulate_pairs(words, report, name, number, sample_together)


def _tabulate_cells(
    words: ReportWords, report: Report, name: str, number: int, together: SampleTogether
) -> Table:
    _ = words.gettext
    rows: list[tuple[Cell, ...]] = []
    for at, cell in zip(together.list_places(), together.cells, strict=True):
        answers = (
            name_answer(words, report, *own) for own in zip(together.sides, together.answers, at, strict=True)
        )
        numbers = (cell.value, cell.standard_error, *cell.interval)
        rows.append((*answers, *(cell_texts.share(words, each) for each in numbers)))
    columns = (
        *(side.question.text for side in together.sides),
        _("estimate"),
        _("standard error"),
        _("%(confidence)s %% interval, from", confidence=words.level(report.confidence)),
        _("to"),
    )
    note = _(
        "Estimated for the population, as the rows were drawn; all answers of a row are read through their coins. Of "
        "%(count)s rows that were asked all.",
        count=words.integer(together.n),
    )
    caption = _("%(questions)s together", questions=_name_questions(together))
    return Table(name, caption, columns, tuple(rows), (note,), _("Together %(number)s", number=number))


def _tabulate_pairs(
    words: ReportWords, report: Report, name: str, number: int, together: SampleTogether
) -> Table:
    _, three = words.gettext, len(together.sides) == 3
    columns = (
        _("First"),
        _("Second"),
        *[_("among those who gave this")] * three,
        _("second, among those who gave the first"),
        _("second, among the others"),
        _("difference"),
        _("Odds ratio"),
        "phi",
    )
    notes = (
        _(
            "Nothing stands where a group’s share is less than three standard errors above 0, or the estimates define "
            "no such number; numbers are not cut at what is possible. Intervals are by the delta method and Student’s "
            "t, each for itself at %(confidence)s %%.",
            confidence=words.level(report.confidence),
        ),
    )
    caption = _("%(questions)s: how the chosen answers go together", questions=_name_questions(together))
    rows = tuple(_pair_row(words, report, together, within) for within in together.pairs)
    short = _("%(name)s, within", name=_("Together %(number)s", number=number))
    return Table(f"{name}-within", caption, columns, rows, notes, short)


def _pair_row(
    words: ReportWords, report: Report, together: SampleTogether, within: SampleWithin
) -> tuple[Cell, ...]:
    places = [(place, together.chosen_places[place]) for place in within.pair]
    places += [] if within.third is None else [(within.third, within.answer)]
    named = [
        f"{together.sides[place].question.text} · "
        f"{name_answer(words, report, together.sides[place], together.answers[place], index).text}"
        for place, index in places
    ]
    texts = tuple(cell_texts.quote_text(report.definition, text) for text in named)
    if within.measures is None:
        return (*texts, *(Text("–") for _ in range(5)))
    association = within.measures.association
    shares = (within.measures.gave, within.measures.others, association.difference)
    return (
        *texts,
        *(_say(words, own, words.percent) for own in shares),
        _say(words, association.odds_ratio, lambda number: formatting.ratio(number, words.locale)),
        _say(words, association.phi, lambda number: words.number(round(number, 3))),
    )


def _say(words: ReportWords, measure: Measure, write: Callable[[float], str]) -> Text:
    """A number with its interval."""
    if measure.value is None:
        return Text("–")
    value, low, high = map(write, (measure.value, *measure.interval))
    return Text(words.gettext("%(estimate)s (%(low)s to %(high)s)", estimate=value, low=low, high=high))


def _name_questions(together: SampleTogether) -> str:
    return " × ".join(side.question.name for side in together.sides)
