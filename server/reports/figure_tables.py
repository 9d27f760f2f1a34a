"""The numbers behind figures of several groups or questions, as CSV: unrounded, a row for each thing drawn."""

from collections.abc import Sequence

from server.output.formatting import finite
from server.reports.answer_names import AnswerTexts
from server.reports.comparison_values import name_group
from server.reports.csv_cells import csv_text
from server.reports.estimate_values import ShareRow
from server.reports.report import Report
from server.reports.stratum_comparison import Compared

_COMPARED = (
    "survey,question,statistic,answer,answer_text,first_stratum,second_stratum,first_n,second_n,first_estimate,"
    "second_estimate,difference,interval_low,interval_high,confidence,comparisons,ratio,ratio_low,ratio_high,p_value,"
    "least_shown,power_at_estimate"
).split(",")


def comparison_csv(report: Report, compared: Compared) -> str:
    """Every difference; the intervals hold together at `confidence`."""
    rows: list[Sequence[object]] = [_COMPARED]
    texts = AnswerTexts(report.definition)
    question = compared.entry.question
    for figure in compared.figures:
        first, measures = figure.first, figure.measures
        what: tuple[object, ...] = ("mean", "", "")
        if isinstance(first, ShareRow):
            what = ("share", first.answer, texts.of(question)[first.index])
        rows.append(
            (
                report.slug,
                question.name,
                *what,
                *map(name_group, (compared.first, compared.second)),
                compared.first.n,
                compared.second.n,
                first.value,
                figure.second.value,
                figure.value,
                *figure.interval,
                compared.confidence,
                len(compared.figures),
                finite(measures.ratio),
                *map(finite, measures.ratio_interval or (None, None)),
                finite(measures.p_value),
                finite(measures.least_shown),
                finite(measures.power),
            )
        )
    return csv_text(rows)
