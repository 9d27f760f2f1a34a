"""The numbers behind the figures of two questions together, as CSV: unrounded, a row for each thing drawn."""

from collections.abc import Sequence

from server.inputs import N_, refuse
from server.reports.answer_names import AnswerTexts
from server.reports.crossing import Crossed
from server.reports.csv_cells import csv_text
from server.reports.report import Report
from server.reports.together_values import name_weighting

_CELLS = (
    "survey,row_question,row_answer,row_answer_text,column_question,column_answer,column_answer_text,n,share,"
    "standard_error,interval_low,interval_high,confidence,weighting"
).split(",")
_GROUPS = (
    "survey,row_question,row_answer,row_answer_text,group,group_share,column_question,statistic,column_answer,"
    "column_answer_text,n,estimate,interval_low,interval_high,interval,confidence_of_both,weighting"
).split(",")


def crossing_csv(report: Report, crossed: Crossed) -> str:
    """The share of every pair of answers; each interval by itself is at `confidence`.

    Raises
    ------
    InputError
        409 if there are too many for a table.
    """
    if crossed.cells is None:
        raise refuse(409, "column", N_("has too many answers for a picture"))
    rows: list[Sequence[object]] = [_CELLS]
    texts = AnswerTexts(report.definition)
    first, second = crossed.row.question, crossed.column.question
    for row, line in enumerate(crossed.cells):
        for column, cell in enumerate(line):
            rows.append(
                (
                    report.slug,
                    *(first.name, first.answers[row], texts.of(first)[row]),
                    *(second.name, second.answers[column], texts.of(second)[column]),
                    crossed.n,
                    cell.share,
                    cell.standard_error,
                    *cell.interval,
                    report.confidence,
                    name_weighting(crossed),
                )
            )
    return csv_text(rows)


def groups_csv(report: Report, crossed: Crossed) -> str:
    """The chosen answer, or the mean, in two groups; their intervals hold together at `confidence_of_both`."""
    rows: list[Sequence[object]] = [_GROUPS]
    texts = AnswerTexts(report.definition)
    first, second = crossed.row.question, crossed.column.question
    low, high = crossed.ends if crossed.numeric else (0.0, 1.0)
    what: tuple[str, ...] = ("mean", "", "")
    if not crossed.numeric:
        what = "share", second.answers[crossed.chosen[1]], texts.of(second)[crossed.chosen[1]]
    compared = enumerate(crossed.groups) if crossed.numeric else [(crossed.chosen[0], crossed.comparison)]
    for index, comparison in compared:
        for name, group in (("gave", comparison.gave), ("others", comparison.others)):
            rows.append(
                (
                    report.slug,
                    *(first.name, first.answers[index], texts.of(first)[index]),
                    *(name, group.people, second.name, *what, crossed.n),
                    None if group.value is None else low + (high - low) * group.value,
                    *(low + (high - low) * end for end in group.interval),
                    group.kind,
                    comparison.confidence,
                    name_weighting(crossed),
                )
            )
    return csv_text(rows)
