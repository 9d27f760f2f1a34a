"""A report, or an estimate, as JSON; what cannot be estimated, and what is withheld, is null."""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from server.output.formatting import finite
from server.privacy.estimators import AnsweredMeanEstimate, MeanEstimate, ShareEstimate
from server.releases.values import Ledger
from server.reports.answer_names import AnswerTexts
from server.reports.disclosure_values import disclosures_json
from server.reports.estimate_values import QuestionReport, ReportMean
from server.reports.forged_moves import moves_json
from server.reports.ledger_files import ledger_json
from server.reports.public_source import NOTHING
from server.reports.references import list_report_references
from server.reports.report import Report
from server.reports.report_columns import ReportColumn
from server.reports.stratum_estimates import StratumReport
from server.reports.survey_texts import admissions_json, routing_json, texts_json
from server.reports.together_values import together_json

WITHHELD = "fewer responses than the minimum, or as many as are needed to hide such a group"
"""The reason that JSON and CSV give where they hold nothing of a group."""


def to_json(report: Report, ledger: Ledger = NOTHING, more: Mapping[str, Any] = MappingProxyType({})) -> str:
    """The report as JSON, with the survey's ledger, and what `more` was asked for."""
    document = {
        "title": report.definition.title,
        **texts_json(report.definition),
        "survey": report.slug,
        "version": {
            "number": report.version_number,
            "sha256": report.version,
            "published_on": report.published_on.isoformat(),
        },
        "versions": list(report.versions),
        "made_on": report.made_on.isoformat(),
        "software": report.software,
        "study": report.study.as_json(),
        "simulated": report.simulated,
        "incomplete": report.incomplete,
        "admission": admissions_json(report.admissions),
        "forging": moves_json(report.answered, report.admissions),
        "n": report.n,
        "more_fewer_than": report.unseen.number or None,
        "strata_cut": report.strata_cut,
        "minimum": report.minimum,
        "left_out": {"versions": list(report.left_out), "without_stratum": report.without_left_out},
        "epsilon": report.answered.largest_loss,
        "days": [
            {"first": period.first.isoformat(), "last": period.last.isoformat(), "n": period.n}
            for period in report.days
        ],
        **disclosures_json(report),
        "questions": questions_json(report),
        "together": together_json(report),
        "references": [reference.as_json() for reference in list_report_references(report, ledger)],
        "ledger": ledger_json(ledger, names=True),
        **more,
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def questions_json(report: Report) -> list[dict[str, Any]]:
    """What a report estimates of each question."""
    return [_question_json(report, entry) for entry in report.questions]


def estimate_json(estimate: ShareEstimate) -> dict[str, Any]:
    """An estimate as JSON, an entry for each answer; infinite standard errors are null."""
    return {
        "n": estimate.n,
        "observed": estimate.observed.tolist(),
        "shares": estimate.shares.tolist(),
        "standard_errors": [finite(value) for value in estimate.standard_errors.tolist()],
        "intervals": estimate.intervals.tolist(),
        "covariance": [[finite(value) for value in row] for row in estimate.covariance.tolist()],
        "confidence": estimate.confidence,
        "interval": estimate.interval,
        "impossible": estimate.impossible,
    }


def mean_json(estimate: MeanEstimate | AnsweredMeanEstimate) -> dict[str, Any]:
    """An estimated mean as JSON; with the share that gave a number, where some might not have."""
    document = {
        "n": estimate.n,
        "mean": estimate.mean,
        "standard_error": finite(estimate.standard_error),
        "interval": list(estimate.interval),
        "confidence": estimate.confidence,
        "kind": estimate.kind,
        "impossible": estimate.impossible,
    }
    if isinstance(estimate, AnsweredMeanEstimate):
        document["answered"] = estimate.answered
    return document


def _question_json(report: Report, entry: QuestionReport) -> dict[str, Any]:
    question, groups = entry.question, report.told_strata(entry)
    document: dict[str, Any] = {
        "name": question.name,
        "kind": question.kind,
        "text": question.text,
        "answers": list(question.answers),
        "answer_texts": list(AnswerTexts(report.definition).of(question)),
        **routing_json(question),
        "encoding": question.encoding,
        "epsilon": finite(report.designs.loss(question.name, entry.versions)),
        "versions": list(entry.versions),
        **_weighting_json(report, entry),
        # Of what is weighted, the reports stand with the strata, or in the file that has these.
        **_found_json(entry, parts=not (entry.weighted and (groups or report.strata_cut))),
        "impossible_p_value": entry.impossible_p_value,
    }
    if entry.control is not None:
        document["control"] = {"above": entry.control.above, "below": entry.control.below}
    if groups:
        document["strata"] = _nest_groups(groups)
    return document


def _weighting_json(report: Report, entry: QuestionReport) -> dict[str, Any]:
    """Whether the first numbers are weighted, and how; then what is estimated with every response counting the same."""
    group = report.whole(entry)
    if group is None or not group.weighted:
        plain = None if report.by_row is None else _found_json(report.plain(entry))
        return {"weighting": str(report.weighting if group is None else group.weighting), "unweighted": plain}
    since = report.populations_since
    return {
        "weighting": str(group.weighting),
        **_collapsed_json(group),
        "populations_since": None if since is None else since.isoformat(),
        "design_effect": group.report.design_effect if group.report is not None else None,
        "unweighted": _found_json(report.plain(entry)),
    }


def _collapsed_json(group: StratumReport) -> dict[str, Any]:
    """Strata that do not stand alone: taken together, or counting as those beside them."""
    return {"taken_together": [list(paths) for paths in group.together], "not_used": list(group.unused)}


def _found_json(entry: QuestionReport, *, parts: bool = True) -> dict[str, Any]:
    """What is estimated, of whatever responses; with the reports of each part, or without."""
    if entry.by_option:
        boxes = zip(entry.question.answers, entry.columns, strict=True)
        document: dict[str, Any] = {
            "boxes": [{"name": name, **_column_json(column, parts=parts)} for name, column in boxes]
        }
    else:
        document = _column_json(entry.columns[0], parts=parts)
    if entry.mean is not None:
        document["mean"] = _mean_json(entry.mean)
    return document


def _mean_json(mean: ReportMean) -> dict[str, Any]:
    estimate = None
    if mean.estimate is not None:
        estimate = {
            **mean_json(mean.estimate),
            "kind": mean.method,
            "within_range": mean.within_range,
            "anytime_interval": list(mean.anytime),
        }
    return {"low": mean.low, "high": mean.high, "estimate": estimate}


def _column_json(column: ReportColumn, *, parts: bool) -> dict[str, Any]:
    """The reports as they arrived."""
    return {
        **({"parts": _parts_json(column)} if parts else {}),
        "counts": column.counts.tolist(),
        "estimate": _shares_json(column),
    }


def _parts_json(column: ReportColumn) -> list[dict[str, Any]]:
    """The reports part by part, each with the design that they were drawn from."""
    return [
        {
            "versions": list(part.versions),
            "weight": weight,
            "weights": part.design.weights.tolist(),
            "epsilon": finite(part.design.epsilon),  # of no design that we collect with
            "odds": {
                "people": part.design.odds.people,
                "counts": [list(row) for row in part.design.odds.counts],
            },
            "counts": part.counts.tolist(),
        }
        for part, weight in zip(column.parts, _weights(column), strict=True)
    ]


def _weights(column: ReportColumn) -> list[float | None]:
    """What each part counts."""
    if column.estimate is None:
        return [None] * len(column.parts)
    return list(column.estimate.weights.tolist())


def _shares_json(column: ReportColumn) -> dict[str, Any] | None:
    estimate = column.estimate
    if estimate is None:
        return None
    return {
        "n": estimate.n,
        "observed": column.observed.tolist(),
        "shares": estimate.shares.tolist(),
        "within_range": np.clip(estimate.shares, 0, 1).tolist(),
        "standard_errors": [finite(value) for value in estimate.standard_errors.tolist()],
        "intervals": estimate.intervals.tolist(),
        "anytime_intervals": column.anytime.tolist(),
        "covariance": [[finite(value) for value in row] for row in estimate.covariance.tolist()],
        "confidence": estimate.confidence,
        "interval": column.method,
        "impossible": estimate.impossible,
    }


def _nest_groups(groups: Sequence[StratumReport]) -> dict[str, Any]:
    """The groups inside each other, as they come: each before those that are deeper."""
    top, *rest = groups
    document = _stratum_json(top)
    inside: list[dict[str, Any]] = []
    while rest:
        end = next((k for k, group in enumerate(rest[1:], 1) if group.depth <= rest[0].depth), len(rest))
        inside.append(_nest_groups(rest[:end]))
        rest = rest[end:]
    return {**document, "strata": inside} if inside else document


def _stratum_json(group: StratumReport) -> dict[str, Any]:
    found = None if group.report is None else _found_json(group.report)
    return {
        "name": group.name,
        "path": group.path,
        "without_stratum": group.own_link,
        "population": group.population,
        "n": group.n,
        "withheld": WITHHELD if group.withheld else None,
        "weighting": str(group.weighting),
        **(_collapsed_json(group) if group.weighted else {}),
        "found": found,
    }
