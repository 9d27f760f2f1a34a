"""Two strata compared: what is found of them, and the numbers behind it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from server.output import formatting
from server.output.documents import Block, Cell, FindingBlock, Section, Table, Text
from server.output.formatting import finite
from server.reports.contents import cell_texts
from server.reports.contents.compared_charts import draw_compared
from server.reports.difference_measures import POWER
from server.reports.estimate_values import ReportMean, ShareRow
from server.reports.report import Report
from server.reports.report_words import ReportWords
from server.reports.stratum_comparison import Compared, ComparedFigure
from server.reports.survey_comparison import ComparedSurveys
from server.study.definitions import Question

Comparison = TypeVar("Comparison", Compared, ComparedSurveys)
_WORDS = "words/compared.html"
"""Where the page of results has the same words."""


def describe_comparisons(words: ReportWords, report: Report, compared: Sequence[Compared]) -> Section | None:
    """A section for each; None where none was asked for."""
    title = words.gettext("Two strata compared")
    return list_comparisons(report, "compared", title, compared, partial(_describe, words, report))


def list_comparisons(
    report: Report,
    name: str,
    title: str,
    compared: Sequence[Comparison],
    describe: Callable[[str, Comparison], Iterable[Block]],
) -> Section | None:
    """A section for each comparison, called by its question and described under a name of its own."""
    parts = tuple(
        Section(
            f"{name}-{number}",
            cell_texts.quote_question(report.definition, one.entry.question),
            tuple(describe(f"{name}-{number}", one)),
        )
        for number, one in enumerate(compared, start=1)
    )
    return Section(name, Text(title), (), parts) if parts else None


def _describe(words: ReportWords, report: Report, name: str, compared: Compared) -> Iterator[Block]:
    _ = words.gettext
    sentence = words.macro(_WORDS, "compared_sentence", compared, report.definition.language)
    notes = (
        words.macro(_WORDS, "how_many", compared),
        _("Choose the two beforehand: whoever compares many pairs finds differences by chance."),
    )
    yield FindingBlock(
        " ".join(sentence.split()), notes=notes, charts=(draw_compared(words, report, compared),)
    )
    caption = _("Estimates of both, and the first less the second")
    yield from list_numbers(words, report, name, compared, caption, words.macro(_WORDS, "how_far"))


def list_numbers(
    words: ReportWords,
    report: Report,
    name: str,
    compared: Compared | ComparedSurveys,
    caption: str,
    note: str,
) -> Iterator[Table]:
    """Differences, with a `note` on how their intervals are meant, and what follows from them."""
    _ = words.gettext
    groups = [words.macro(_WORDS, "call_group", group) for group in (compared.first, compared.second)]
    yield Table(
        f"{name}-differences",
        caption,
        (_("Estimate of"), *groups, _("difference"), _("from"), _("to")),
        tuple(_difference_row(words, report, compared, figure) for figure in compared.figures),
        (note,),
    )
    yield Table(
        f"{name}-measures",
        _("Ratio, test and power"),
        (
            _("Estimate of"),
            _("ratio"),
            _("from"),
            _("to"),
            _("p value"),
            _("told with a chance of %(power)s %%, from", power=words.level(POWER)),
            _("chance to tell one as estimated"),
        ),
        tuple(_measure_row(words, report, compared, figure) for figure in compared.figures),
        (words.macro(_WORDS, "how_measured", compared, POWER),),
    )


def _difference_row(
    words: ReportWords, report: Report, compared: Compared | ComparedSurveys, figure: ComparedFigure
) -> tuple[Cell, ...]:
    numbers = (figure.first.value, figure.second.value, figure.value, *figure.interval)
    return (
        name_figure(words, report, compared.entry.question, figure.first),
        *(write_value(words, figure.first, number) for number in numbers),
    )


def _measure_row(
    words: ReportWords, report: Report, compared: Compared | ComparedSurveys, figure: ComparedFigure
) -> tuple[Cell, ...]:
    measures = figure.measures
    ratio, ends = measures.ratio, measures.ratio_interval or (None, None)
    untold = "–" if measures.ratio_interval is None else words.gettext("not told")
    return (
        name_figure(words, report, compared.entry.question, figure.first),
        _write_ratio(words, ratio, untold),
        *(_write_ratio(words, end) for end in ends),
        cell_texts.p_value(words, measures.p_value),
        write_value(words, figure.first, measures.least_shown),
        cell_texts.share(words, measures.power),
    )


def name_figure(
    words: ReportWords, report: Report, question: Question, figure: ShareRow | ReportMean
) -> Cell:
    """The answer that it is the share of, or that it is the mean."""
    if isinstance(figure, ShareRow):
        return cell_texts.answer(report.definition, question, figure.index)
    return Text(words.gettext("mean"))


def write_value(words: ReportWords, figure: ShareRow | ReportMean, value: float | None) -> Cell:
    """A share, or a number of the mean's unit, in the place of an estimate such as this one."""
    if isinstance(figure, ReportMean):
        return cell_texts.measure(words, value, figure.high - figure.low)
    return cell_texts.share(words, value)


def _write_ratio(words: ReportWords, value: float | None, untold: str = "–") -> Text:
    return Text(untold if finite(value) is None else formatting.ratio(value or 0.0, words.locale))
