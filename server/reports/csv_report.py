"""A report and the noisy responses as CSV."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import IO

import numpy as np

from server.collect.tallies import Tally
from server.collect.waves import in_groups
from server.output.formatting import finite
from server.reports.answer_names import AnswerTexts
from server.reports.codebook import routing_cells
from server.reports.csv_cells import csv_text
from server.reports.csv_lines import csv_lines, rows_of
from server.reports.disclosure_values import list_disclosures
from server.reports.estimate_values import QuestionReport, ReportMean, ShareRow, compute_all, compute_limits
from server.reports.json_report import WITHHELD
from server.reports.report import Report
from server.reports.response_order import in_order
from server.reports.stratum_estimates import StratumReport, describe_strata, name_strata
from server.reports.survey_texts import list_study_texts, list_texts
from server.reports.together_values import list_cells
from server.study.definitions import Definition

_REPORT = (
    "survey,version,version_sha256,simulated,question,kind,text,answer,answer_text,versions,group,stratum,"
    "weighting,statistic,n,count_reported,share_reported,estimate,within_range,standard_error,interval_low,interval_high,"
    "confidence,interval,anytime_low,anytime_high,impossible,impossible_p_value,epsilon,withheld,more_fewer_than,"
    "strata_together,strata_not_used,populations_since,shown_if,otherwise"
).split(",")


@dataclass(frozen=True)
class _RowGroup:
    """Whose answers some rows are about: all, a stratum or those without stratum, and what each response counts.

    Where a population is weighted, which strata are taken together, which count as those beside them, and since
    when populations have stood.
    """

    kind: str
    path: str = ""
    weighting: str = "responses"
    together: str = ""
    unused: str = ""
    since: date | None = None


def to_csv(report: Report, more: Iterable[Mapping[str, object]] = ()) -> str:
    """The report as CSV, long format: one row for each estimate, a share or a mean, of each group.

    Weighted numbers come first; those in which every response counts the same, after them. At the end the
    survey's own texts and what its study sheet says, a row each: their statistic is "text"; then what is disclosed
    beside estimates: "disclosure"; and what was asked for: questions together, and `more`.
    """
    rows: list[Sequence[object]] = [_REPORT]
    texts = AnswerTexts(report.definition)
    _compute_shown(report)
    for entry in report.questions:
        rows += _whole_rows(report, texts, entry)
        inside = [one for one in report.told_strata(entry) if one.depth]
        rows += _stratum_rows(report, texts, entry, inside)
    asked = [{**_describe_survey(report), **row} for row in (*list_cells(report), *more)]
    return csv_text([*rows, *_texts(report), *([row.get(name, "") for name in _REPORT] for row in asked)])


def question_csv(report: Report, entry: QuestionReport) -> str:
    """What `to_csv` has of one question for all responses together, weighted and not."""
    return csv_text([_REPORT, *_whole_rows(report, AnswerTexts(report.definition), entry)])


def _whole_rows(report: Report, texts: AnswerTexts, entry: QuestionReport) -> Iterator[Sequence[object]]:
    group = report.whole(entry)
    if group is not None and group.weighted:
        yield from _question_rows(report, texts, entry, _group(report, group), group.report)
    plain = report.plain(entry)
    yield from _question_rows(report, texts, plain, _RowGroup("all"), plain)


def _compute_shown(report: Report) -> None:
    """Compute all that the CSV says of all questions at once."""
    compute_limits(entry for entry in report.questions if entry.weighted)
    groups = [one for entry in report.questions for one in report.told_strata(entry) if one.depth]
    inside = [group.report for group in groups if group.report is not None]
    compute_all(dict.fromkeys([*report.questions, *report.unweighted, *inside]))


def write_strata(report: Report, names: Sequence[str], file: IO[bytes]) -> None:
    """Write estimates by every stratum of the questions of these names, as `to_csv` writes those that it tells."""
    file.write(csv_text([_REPORT]).encode())
    texts = AnswerTexts(report.definition)
    for name in names:
        entry = report.question(name)
        groups = report.strata(entry)
        compute_all(group.report for group in groups if group.report is not None)
        file.write(csv_text(list(_stratum_rows(report, texts, entry, groups))).encode())


def _stratum_rows(
    report: Report, texts: AnswerTexts, entry: QuestionReport, groups: Sequence[StratumReport]
) -> Iterator[Sequence[object]]:
    for group in groups:
        if group.depth or group.weighted:
            yield from _question_rows(report, texts, entry, _group(report, group), group.report)


def write_responses(report: Report, definition: Definition, number: int, file: IO[bytes]) -> None:
    """Write the noisy responses to a version in a pooled report as CSV, in an order that says nothing.

    A row for each, without id and day; where the survey has strata, with the path of the smallest one that
    may be named, or why there is none (`strata.stated`). Reports are codes; the codebook says what they mean. A report
    of 1 is not an admission: it is what the coin let through.
    """
    header = [column for question in definition.questions for column in question.columns]
    file.write(csv_text([[*(["stratum"] if report.nodes else []), *header]]).encode())
    paths, parts = responses_to(report, number, stated_strata(report))
    for rows in rows_of(parts, range(len(header)), len(header)):
        beginning = csv_text([[paths[rows.group]]]).removesuffix("\r\n") if report.nodes else None
        file.write(csv_lines(beginning, rows.cells))


def permitted_strata(report: Report) -> dict[int | None, str]:
    """The path under which single responses of each stratum may stand (`strata.named`)."""
    return name_strata([wave.sizes.tolist() for wave in report.waves], report.nodes, report.minimum)


def stated_strata(report: Report) -> dict[int | None, str]:
    """What files for people have in place of each stratum beside single responses (`strata.stated`)."""
    sizes = [wave.sizes.tolist() for wave in report.waves]
    return describe_strata(sizes, report.nodes, report.minimum, without=report.shows(None))


def responses_to(
    report: Report, number: int, permitted: Mapping[int | None, str]
) -> tuple[Sequence[str], Iterator[Tally]]:
    """The responses to a version, sorted; in groups (`waves.in_groups`), each of what stands for its stratum."""
    paths = sorted(set(permitted.values()))
    order = {path: place for place, path in enumerate(paths)}
    waves = [wave for wave in report.waves if wave.number == number]  # none, where nobody answered it

    def parts() -> Iterator[Tally]:
        for wave in waves:
            groups = np.array([order[permitted[stratum]] for stratum in wave.strata])
            yield from (in_groups(groups[block.places], block.tally) for block in wave.blocks())

    return paths, in_order(parts)


def _describe_survey(report: Report) -> dict[str, object]:
    return {
        "survey": report.slug,
        "version": report.version_number,
        "version_sha256": report.version,
        "simulated": report.simulated,
    }


def _texts(report: Report) -> Iterator[Sequence[object]]:
    survey = _describe_survey(report)
    for text in list_texts(report.definition):
        row = {**survey, "question": text.name, "kind": text.kind, "text": text.text, "statistic": "text"}
        if text.show_if is not None:
            row["shown_if"] = json.dumps(text.show_if, ensure_ascii=False)
        yield [row.get(column, "") for column in _REPORT]
    for name, written in list_study_texts(report.study):
        said = {**survey, "question": name, "kind": "study", "text": written, "statistic": "text"}
        yield [said.get(column, "") for column in _REPORT]
    for name, kind, written in list_disclosures(report):
        told = {**survey, "question": name, "kind": kind, "text": written, "statistic": "disclosure"}
        yield [told.get(column, "") for column in _REPORT]


def _group(report: Report, group: StratumReport) -> _RowGroup:
    kind = "without stratum" if group.own_link else "stratum" if group.depth else "all"
    weighting = "population" if group.weighted else "responses"
    together = "; ".join(" + ".join(paths) for paths in group.together)
    since = report.populations_since if group.weighted else None
    return _RowGroup(kind, group.path, weighting, together, "; ".join(group.unused), since)


def _question_rows(
    report: Report,
    texts: AnswerTexts,
    entry: QuestionReport,
    group: _RowGroup,
    question_report: QuestionReport | None,
) -> Iterator[Sequence[object]]:
    """What is `question_report` about the question in a group; None where it is withheld."""
    question = entry.question
    survey = (report.slug, report.version_number, report.version, report.simulated)
    asked = (*survey, question.name, question.kind, question.text)
    versions = " ".join(map(str, entry.versions))
    about = (versions, group.kind, group.path, group.weighting)
    hidden = question_report is None
    rest = (
        report.designs.loss(question.name, entry.versions),
        WITHHELD if hidden else "",
        report.unseen.number or "",
        group.together,
        group.unused,
        group.since or "",
        *routing_cells(question),
    )
    shares = entry.rows if question_report is None else question_report.rows
    for row in shares:
        cells = (
            ("",) * 14
            if question_report is None
            else (question_report.n, _or_empty(row.count), *_share_cells(row))
        )
        yield (*asked, row.answer, texts.of(question)[row.index], *about, "share", *cells, *rest)
    if entry.mean is not None:
        cells = (
            ("",) * 14
            if question_report is None
            else (question_report.n, "", "", *_mean_cells(question_report.mean), "")
        )
        yield (*asked, "", "", *about, "mean", *cells, *rest)


def _or_empty(value: float | None) -> object:
    return "" if value is None else value


def _share_cells(row: ShareRow) -> tuple[object, ...]:
    estimate, code = row.column.estimate, row.code
    if estimate is None:
        return ("",) * 12
    return (
        _or_empty(row.observed),
        row.value,
        row.within_range,
        finite(float(estimate.standard_errors[code])),
        *row.interval(anytime=False),
        estimate.confidence,
        row.column.method,
        *row.interval(anytime=True),
        row.impossible,
        row.column.impossible_p_value,
    )


def _mean_cells(mean: ReportMean | None) -> tuple[object, ...]:
    estimate = None if mean is None else mean.estimate
    if mean is None or estimate is None:
        return ("",) * 10
    return (
        estimate.mean,
        mean.within_range,
        finite(estimate.standard_error),
        *estimate.interval,
        estimate.confidence,
        mean.method,
        *mean.anytime,
        estimate.impossible,
    )
