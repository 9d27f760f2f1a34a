"""A report, the noisy responses and their codebook as CSV that no spreadsheet can be tricked with."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence

from server import responses
from server.definitions import Question
from server.reports.documents import finite
from server.reports.report import Mean, Report, ShareRow, value_range
from server.responses import Tally

_FORMULA_SIGNS = set("=+-@＝＋－＠")
# Where a semicolon separates cells (Excel in Spanish), one inside a text begins a new cell, and so does a line end.
_CELL_WITHIN = re.compile(r"([;\t\r\n]\s*)(?=[=+\-@＝＋－＠])")


def to_csv(report: Report) -> str:
    """The report as CSV, long format: one row for each estimate, a share or a mean."""
    header = (
        "survey,version,version_sha256,simulated,question,kind,text,answer,answer_text,statistic,n,"
        "count_reported,share_reported,estimate,standard_error,interval_low,interval_high,confidence,"
        "interval,impossible,impossible_p_value,epsilon"
    ).split(",")
    survey = (report.slug, report.version_number, report.version, report.simulated)
    rows: list[Sequence[object]] = []
    for entry in report.questions:
        question = entry.question
        asked = (*survey, question.name, question.kind, question.text)
        for row in entry.rows:
            text = _answer_text(question, row.index)
            cells = (row.answer, text, "share", report.n, row.count, *_share_cells(row))
            rows.append((*asked, *cells, question.epsilon))
        if entry.mean is not None:
            cells = ("", "", "mean", report.n, "", "", *_mean_cells(entry.mean), "")
            rows.append((*asked, *cells, question.epsilon))
    return _csv([header, *rows])


def responses_csv(report: Report, tally: Tally) -> str:
    """The noisy responses, one row each, without ids or days and in an order that says nothing.

    Reports are codes; `codebook_csv` says what they mean. A report of 1 is not an
    admission: it is what the coin let through.
    """
    header = [column.name for entry in report.questions for column in entry.columns]
    return _csv([header, *(list(pattern) for pattern in responses.expanded(tally))])


def codebook_csv(report: Report) -> str:
    """What the columns of `responses_csv` hold: one row for each column, truth and report.

    The probabilities of a column, a row for each truth, are its design. `low` and `high` are what its
    first and its last numeric truth stand for; where there is a `step`, numbers between them
    were rounded to one of the two at random, so as to keep their mean.
    """
    header = (
        "column,question,text,kind,encoding,truth,truth_text,code,report,report_text,probability,weight,"
        "epsilon,question_epsilon,low,high,step"
    ).split(",")
    rows: list[Sequence[object]] = []
    for entry in report.questions:
        question = entry.question
        low, high = value_range(question) or ("", "")
        step = question.grid.step if question.encoding == "line" and question.grid else ""
        for number, column in enumerate(entry.columns):
            asked = (column.name, question.name, question.text, question.kind, question.encoding)
            labels = _labels(question, number)
            for truth, weights in enumerate(column.design.weights.tolist()):
                for code, weight in enumerate(weights):
                    chances = (float(column.design.matrix[truth, code]), weight)
                    losses = (column.design.epsilon, question.epsilon)
                    rows.append(
                        (*asked, *labels[truth], code, *labels[code], *chances, *losses, low, high, step)
                    )
    return _csv([header, *rows])


def _labels(question: Question, number: int) -> list[tuple[str, str]]:
    """Name and text of each row of the design of a column."""
    if question.encoding in ("one_hot", "boxes"):
        answer = question.answers[number]
        return [(f"not {answer}", ""), (answer, _answer_text(question, number))]
    return [(answer, _answer_text(question, index)) for index, answer in enumerate(question.answers)]


def _answer_text(question: Question, index: int) -> str:
    """The option's own text; empty where an answer has none but its name."""
    return question.options[index].text if index < len(question.options) else ""


def _share_cells(row: ShareRow) -> tuple[object, ...]:
    estimate, code = row.column.estimate, row.code
    if estimate is None:
        return ("",) * 9
    return (
        float(estimate.observed[code]),
        float(estimate.shares[code]),
        finite(float(estimate.standard_errors[code])),
        *estimate.intervals[code].tolist(),
        estimate.confidence,
        estimate.interval,
        row.impossible,
        row.column.impossible_p_value,
    )


def _mean_cells(mean: Mean) -> tuple[object, ...]:
    estimate = mean.estimate
    if estimate is None:
        return ("",) * 7
    return (
        estimate.mean,
        finite(estimate.standard_error),
        *estimate.interval,
        estimate.confidence,
        estimate.kind,
        estimate.impossible,
    )


def _csv(rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: object) -> object:
    """Neutralise a text that a spreadsheet would run; numbers stay numbers."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # Spaces, line ends and invisible characters may be dropped before a cell is read.
        visible = (letter for letter in value if unicodedata.category(letter)[0] not in "CZ")
        if value.startswith(("\t", "\r", "\n")) or next(visible, "") in _FORMULA_SIGNS:
            value = f"'{value}"
        return _CELL_WITHIN.sub(r"\1'", value)
    return "" if value is None else value
