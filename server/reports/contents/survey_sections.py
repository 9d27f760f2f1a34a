"""Surveys compared, one after the other: what is found of them, and the numbers behind it."""

from collections.abc import Iterator, Sequence
from functools import partial

from server.output.documents import Block, Cell, FindingBlock, Section, Table, Text
from server.reports.contents import cell_texts
from server.reports.contents.compared_charts import draw_compared, draw_surveys
from server.reports.contents.comparison_sections import (
    list_comparisons,
    list_numbers,
    name_figure,
    write_value,
)
from server.reports.difference_measures import POWER
from server.reports.report import Report
from server.reports.report_words import ReportWords
from server.reports.survey_comparison import ComparedSurveys
from server.reports.survey_trends import SurveyTrend

_WORDS = "words/surveys.html"
"""Where the page of results has the same words."""


def describe_surveys(
    words: ReportWords, report: Report, compared: Sequence[ComparedSurveys]
) -> Section | None:
    """A section for each; None where none was asked for."""
    title = words.gettext("Surveys compared")
    return list_comparisons(report, "surveys", title, compared, partial(_describe, words, report))


def _describe(words: ReportWords, report: Report, name: str, compared: ComparedSurveys) -> Iterator[Block]:
    _ = words.gettext
    sentence = words.macro(_WORDS, "surveys_sentence", compared, report.definition.language)
    notes = (
        *(words.macro(_WORDS, "simulated_note", each) for each in compared.surveys if each.simulated),
        *(words.macro(_WORDS, "words_note", each) for each in compared.other_words),
        *([words.macro(_WORDS, "coins_note", compared.other_coins)] if compared.other_coins else []),
        words.macro(_WORDS, "surveys_sizes", compared),
        words.macro(_WORDS, "nobody_followed"),
        _("Choose question and surveys beforehand: whoever compares many finds differences by chance."),
    )
    yield FindingBlock(
        " ".join(sentence.split()),
        notes=notes,
        charts=(draw_surveys(words, report, compared), draw_compared(words, report, compared)),
    )
    yield Table(
        f"{name}-each",
        _("Each survey by itself"),
        (
            _("Survey"),
            _("first published"),
            _("responses"),
            _("Estimate of"),
            _("estimate"),
            _("from"),
            _("to"),
        ),
        tuple(_list_estimates(words, report, compared)),
    )
    caption = _("The last survey less the earliest")
    yield from list_numbers(words, report, name, compared, caption, words.macro(_WORDS, "how_far_surveys"))
    if compared.trends:
        yield Table(
            f"{name}-trends",
            _("Trend over all surveys"),
            (
                _("Estimate of"),
                _("step to the next"),
                _("from"),
                _("to"),
                _("p value"),
                _("told with a chance of %(power)s %%, from", power=words.level(POWER)),
                _("chance to tell one as estimated"),
            ),
            tuple(_trend_row(words, report, compared, trend) for trend in compared.trends),
            (words.macro(_WORDS, "how_steps", compared, POWER),),
        )


def _list_estimates(
    words: ReportWords, report: Report, compared: ComparedSurveys
) -> Iterator[tuple[Cell, ...]]:
    for survey, figures in compared.listed:
        called = Text(words.macro("words/compared.html", "call_survey", survey))
        for figure in figures:
            numbers = (figure.value, *figure.interval(compared.anytime))
            yield (
                called,
                Text(words.day(survey.since)),
                cell_texts.count(words, survey.n),
                name_figure(words, report, compared.entry.question, figure),
                *(write_value(words, figure, number) for number in numbers),
            )


def _trend_row(
    words: ReportWords, report: Report, compared: ComparedSurveys, trend: SurveyTrend
) -> tuple[Cell, ...]:
    low, high = trend.interval or (None, None)
    return (
        name_figure(words, report, compared.entry.question, trend.first),
        *(write_value(words, trend.first, number) for number in (trend.value, low, high)),
        cell_texts.p_value(words, trend.p_value),
        write_value(words, trend.first, trend.least_shown),
        cell_texts.share(words, trend.power),
    )
