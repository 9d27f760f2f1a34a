"""Answers of a sample from elsewhere compared between groups, each as a table of a document."""

import math
from collections.abc import Iterator, Sequence

from server.output import formatting
from server.output.documents import Cell, Number, Table, Text
from server.privacy.estimators.weighted_rows import WeightedEstimate, WeightedOddsRatio
from server.reports.contents import cell_texts
from server.reports.elsewhere.sample_margins import STRATUM
from server.reports.elsewhere.sample_tables import SampleLine, SampleTable
from server.reports.report import Report
from server.reports.report_words import ReportWords


def draw_sample_tables(words: ReportWords, report: Report, tables: Sequence[SampleTable]) -> Iterator[Table]:
    """A row for each answer in each group."""
    _ = words.gettext
    confidence = words.level(report.confidence)
    columns = (
        _("Answer"),
        _("Group"),
        _("estimate"),
        _("%(confidence)s %% interval, from", confidence=confidence),
        _("to"),
        _("above the first group"),
        _("from"),
        _("to"),
        _("Odds ratio"),
        _("p value"),
    )
    notes = (
        _(
            "Estimated for the population, as the rows were drawn. Where groups are of another randomised answer, "
            "both are read through their coins."
        ),
        _(
            "The p value is of all groups of an answer together (an adjusted Wald test); intervals are each for itself."
        ),
    )
    for number, table in enumerate(tables, 1):
        by = _("Stratum") if table.by == STRATUM and report.nodes else table.by
        caption = _("%(question)s, by %(groups)s", question=table.question.name, groups=by)
        rows = tuple(row for line in table.lines for row in _list_rows(words, report, table, line))
        groups = _("Groups")
        yield Table(f"population-by-{number}", caption, columns, rows, notes, short=f"{groups} {number}")


def _list_rows(
    words: ReportWords, report: Report, table: SampleTable, line: SampleLine
) -> Iterator[tuple[Cell, ...]]:
    answer: Cell = Text(words.gettext("mean"))
    if line.index is not None:
        answer = cell_texts.answer(report.definition, table.question, line.index)
    for place, own in enumerate(line.groups):
        name: Cell = Text(table.names[place], from_survey=True)
        if table.other is not None:
            name = cell_texts.answer(report.definition, table.other, place)
        apart = _number(words, table, line, line.differences[place - 1]) if place else _leave_out(words)
        p_value = None if place or math.isnan(line.test.p_value) else line.test.p_value
        yield (
            answer,
            name,
            *_number(words, table, line, own),
            *apart,
            _say_odds(words, line.odds[place - 1] if place else None),
            cell_texts.p_value(words, p_value),
        )


def _number(
    words: ReportWords, table: SampleTable, line: SampleLine, estimate: WeightedEstimate
) -> tuple[Number, ...]:
    numbers = (estimate.value, *estimate.interval)
    if line.index is None:
        assert table.question.ends is not None
        width = float(table.question.ends[1]) - float(table.question.ends[0])
        return tuple(cell_texts.measure(words, number, width) for number in numbers)
    return tuple(cell_texts.share(words, number) for number in numbers)


def _say_odds(words: ReportWords, odds: WeightedOddsRatio | None) -> Text:
    """Over those in the first group, with its interval."""
    if odds is None:
        return Text("–")
    digits = formatting.count_digits((odds.value, *odds.interval, 1.0))
    ratio, low, high = (
        formatting.ratio(number, words.locale, digits) for number in (odds.value, *odds.interval)
    )
    return Text(words.gettext("%(estimate)s (%(low)s to %(high)s)", estimate=ratio, low=low, high=high))


def _leave_out(words: ReportWords) -> tuple[Number, ...]:
    return tuple(cell_texts.share(words, None) for _ in range(3))
