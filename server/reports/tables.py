"""A report, the noisy responses and their codebook as CSV."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np

from server.definitions import Definition, Question
from server.reports.cells import csv_text
from server.reports.documents import WITHHELD, finite
from server.reports.lines import csv_lines, rows_of
from server.reports.questions import Mean, QuestionReport, ShareRow, value_range
from server.reports.report import Report
from server.reports.sorting import in_order
from server.reports.strata import StratumReport, named
from server.tallies import Tally
from server.waves import in_groups

_REPORT = (
    "survey,version,version_sha256,simulated,question,kind,text,answer,answer_text,versions,group,stratum,"
    "weighting,statistic,n,count_reported,share_reported,estimate,within_range,standard_error,interval_low,interval_high,"
    "confidence,interval,anytime_low,anytime_high,impossible,impossible_p_value,epsilon,withheld,more_fewer_than,"
    "strata_together,strata_not_used"
).split(",")
CODEBOOK = (
    "column,question,text,kind,encoding,truth,truth_text,code,report,report_text,probability,weight,"
    "epsilon,question_epsilon,low,high,step"
).split(",")
"""The columns of a codebook."""


@dataclass(frozen=True)
class _Group:
    """Whose answers some rows are about: all, a stratum or those without stratum, and what each response counts.

    Where a population is weighted, which strata are taken together, and which count as those beside them.
    """

    kind: str
    path: str = ""
    weighting: str = "responses"
    together: str = ""
    unused: str = ""


def to_csv(report: Report) -> str:
    """The report as CSV, long format: one row for each estimate, a share or a mean, of each group.

    Weighted numbers come first; those in which every response counts the same, after them.
    """
    rows: list[Sequence[object]] = [_REPORT]
    for entry in report.questions:
        group = report.whole(entry)
        if group is not None and group.weighted:
            rows += _question_rows(report, entry, _group(group), group.report)
        plain = report.plain(entry)
        rows += _question_rows(report, plain, _Group("all"), plain)
        rows += _stratum_rows(report, entry, [one for one in report.told_strata(entry) if one.depth])
    return csv_text(rows)


def write_strata(report: Report, names: Sequence[str], file: IO[bytes]) -> None:
    """Write estimates by every stratum of the questions of these names, as `to_csv` writes those that it tells."""
    file.write(csv_text([_REPORT]).encode())
    for name in names:
        entry = report.question(name)
        file.write(csv_text(list(_stratum_rows(report, entry, report.strata(entry)))).encode())


def _stratum_rows(
    report: Report, entry: QuestionReport, groups: Sequence[StratumReport]
) -> Iterator[Sequence[object]]:
    for group in groups:
        if group.depth or group.weighted:
            yield from _question_rows(report, entry, _group(group), group.report)


def write_responses(report: Report, definition: Definition, number: int, file: IO[bytes]) -> None:
    """Write the noisy responses to a version in a pooled report as CSV, in an order that says nothing.

    A row for each, without id and day; where the survey has strata, with the path of the smallest one that
    may be named (`strata.named`). Reports are codes; `codebook_csv` says what they mean. A report
    of 1 is not an admission: it is what the coin let through.
    """
    header = [column for question in definition.questions for column in question.columns]
    file.write(csv_text([[*(["stratum"] if report.nodes else []), *header]]).encode())
    paths, parts = responses_to(report, number)
    for rows in rows_of(parts, range(len(header)), len(header)):
        beginning = csv_text([[paths[rows.group]]]).removesuffix("\r\n") if report.nodes else None
        file.write(csv_lines(beginning, rows.cells))


def codebook_csv(definition: Definition) -> str:
    """What the columns of `responses_csv` hold: one row for each column, truth and report.

    The probabilities of a column, a row for each truth, are its design. `low` and `high` are what its
    first and its last numeric truth stand for; where there is a `step`, numbers between them
    were rounded to one of the two at random, so as to keep their mean.
    """
    return csv_text([CODEBOOK, *codebook_rows(definition)])


def codebook_rows(definition: Definition) -> Iterator[Sequence[object]]:
    """The rows of `codebook_csv`, under the names in `CODEBOOK`."""
    for question in definition.questions:
        low, high = value_range(question) or ("", "")
        step = question.grid.step if question.encoding == "line" and question.grid else ""
        for number, (column, design) in enumerate(zip(question.columns, question.designs, strict=True)):
            asked = (column, question.name, question.text, question.kind, question.encoding)
            labels = _labels(question, number)
            for truth, weights in enumerate(design.weights.tolist()):
                for code, weight in enumerate(weights):
                    chances = (float(design.matrix[truth, code]), weight)
                    losses = (design.epsilon, question.epsilon)
                    yield *asked, *labels[truth], code, *labels[code], *chances, *losses, low, high, step


def permitted_strata(report: Report) -> dict[int | None, str]:
    """The path under which single responses of each stratum may stand (`strata.named`)."""
    return named([wave.sizes.tolist() for wave in report.waves], report.nodes, report.minimum)


def responses_to(
    report: Report, number: int, *, by_stratum: bool = True
) -> tuple[Sequence[str], Iterator[Tally]]:
    """The responses to a version, sorted; in groups (`waves.in_groups`), each of the path that may be named."""
    permitted = permitted_strata(report) if by_stratum else {}
    paths = sorted({"", *permitted.values()})
    order = {path: place for place, path in enumerate(paths)}
    waves = [wave for wave in report.waves if wave.number == number]  # none, where nobody answered it

    def parts() -> Iterator[Tally]:
        for wave in waves:
            groups = np.array([order[permitted.get(stratum, "")] for stratum in wave.strata])
            yield from (in_groups(groups[block.places], block.tally) for block in wave.blocks())

    return paths, in_order(parts)


def _group(group: StratumReport) -> _Group:
    kind = "without stratum" if group.own_link else "stratum" if group.depth else "all"
    weighting = "population" if group.weighted else "responses"
    together = "; ".join(" + ".join(paths) for paths in group.together)
    return _Group(kind, group.path, weighting, together, "; ".join(group.unused))


def _question_rows(
    report: Report, entry: QuestionReport, group: _Group, found: QuestionReport | None
) -> Iterator[Sequence[object]]:
    """What is `found` about the question in a group; None where it is withheld."""
    question = entry.question
    survey = (report.slug, report.version_number, report.version, report.simulated)
    asked = (*survey, question.name, question.kind, question.text)
    versions = " ".join(map(str, entry.versions))
    about = (versions, group.kind, group.path, group.weighting)
    hidden = found is None
    rest = (
        question.epsilon,
        WITHHELD if hidden else "",
        report.unseen.number or "",
        group.together,
        group.unused,
    )
    shares = entry.rows if found is None else found.rows
    for row in shares:
        cells = ("",) * 14 if found is None else (found.n, row.count, *_share_cells(row))
        yield (*asked, row.answer, _answer_text(question, row.index), *about, "share", *cells, *rest)
    if entry.mean is not None:
        cells = ("",) * 14 if found is None else (found.n, "", "", *_mean_cells(found.mean), "")
        yield (*asked, "", "", *about, "mean", *cells, *rest)


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
        return ("",) * 12
    return (
        float(row.column.observed[code]),
        row.value,
        row.within_range,
        finite(float(estimate.standard_errors[code])),
        *row.interval(anytime=False),
        estimate.confidence,
        estimate.interval,
        *row.interval(anytime=True),
        row.impossible,
        row.column.impossible_p_value,
    )


def _mean_cells(mean: Mean | None) -> tuple[object, ...]:
    estimate = None if mean is None else mean.estimate
    if mean is None or estimate is None:
        return ("",) * 10
    return (
        estimate.mean,
        mean.within_range,
        finite(estimate.standard_error),
        *estimate.interval,
        estimate.confidence,
        estimate.kind,
        *mean.anytime,
        estimate.impossible,
    )
