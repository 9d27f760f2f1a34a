"""A report, the noisy responses and their codebook as CSV that no spreadsheet can be tricked with."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence

from server import responses
from server.reports.documents import finite
from server.reports.report import QuestionReport, Report
from server.responses import Tally

_FORMULA_SIGNS = set("=+-@＝＋－＠")
# Where a semicolon separates cells (Excel in Spanish), one inside a text begins a new cell, and so does a line end.
_CELL_WITHIN = re.compile(r"([;\t\r\n]\s*)(?=[=+\-@＝＋－＠])")


def to_csv(report: Report) -> str:
    """The report as CSV, long format: one row for each question and answer."""
    header = (
        "survey,version,version_sha256,simulated,question,text,answer,n,count_reported,share_reported,"
        "share_estimated,standard_error,interval_low,interval_high,confidence,interval,impossible,"
        "impossible_p_value,epsilon"
    ).split(",")
    rows: list[Sequence[object]] = []
    for entry in report.questions:
        for index, answer in enumerate(("no", "yes")):
            fixed = (
                report.slug,
                report.version_number,
                report.version,
                report.simulated,
                entry.question.name,
                entry.question.text,
                answer,
                report.n,
                entry.counts[index],
            )
            rows.append((*fixed, *_estimate_cells(entry, index), entry.design.epsilon))
    return _csv([header, *rows])


def responses_csv(report: Report, tally: Tally) -> str:
    """The noisy responses, one row each, without ids or days and in an order that says nothing.

    Reports are codes; `codebook_csv` says what they mean. A report of 1 is not an
    admission: it is what the coin let through.
    """
    header = [entry.question.name for entry in report.questions]
    return _csv([header, *(list(pattern) for pattern in responses.expanded(tally))])


def codebook_csv(report: Report) -> str:
    """What the columns of `responses_csv` hold: one row for each column and code, with the design."""
    header = "column,text,kind,code,report,pr_if_no,pr_if_yes,weight_if_no,weight_if_yes,epsilon".split(",")
    rows: list[Sequence[object]] = []
    for entry in report.questions:
        for code, name in enumerate(("no", "yes")):
            rows.append(
                (
                    entry.question.name,
                    entry.question.text,
                    entry.question.kind,
                    code,
                    name,
                    *entry.design.matrix[:, code].tolist(),
                    *entry.design.weights[:, code].tolist(),
                    entry.design.epsilon,
                )
            )
    return _csv([header, *rows])


def _estimate_cells(entry: QuestionReport, index: int) -> tuple[object, ...]:
    estimate = entry.estimate
    if estimate is None:
        return ("",) * 9
    return (
        float(estimate.observed[index]),
        float(estimate.shares[index]),
        finite(float(estimate.standard_errors[index])),
        *estimate.intervals[index].tolist(),
        estimate.confidence,
        estimate.interval,
        estimate.impossible,
        entry.impossible_p_value,
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
