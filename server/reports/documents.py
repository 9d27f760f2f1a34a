"""A report, or an estimate, as JSON; what cannot be estimated is null."""

import json
import math
from typing import Any

from server.privacy.designs import Design
from server.privacy.estimators import AnsweredMeanEstimate, MeanEstimate, ShareEstimate
from server.reports.report import Column, QuestionReport, Report


def to_json(report: Report) -> str:
    """The report as JSON; what cannot be estimated is null."""
    document = {
        "title": report.definition.title,
        "survey": report.slug,
        "version": {
            "number": report.version_number,
            "sha256": report.version,
            "published_on": report.published_on.isoformat(),
        },
        "made_on": report.made_on.isoformat(),
        "software": report.software,
        "simulated": report.simulated,
        "n": report.n,
        "epsilon": report.definition.epsilon,
        "questions": [_question_json(entry) for entry in report.questions],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


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


def finite(value: float | None) -> float | None:
    """A number that JSON and CSV can hold, or none."""
    return value if value is not None and math.isfinite(value) else None


def _question_json(entry: QuestionReport) -> dict[str, Any]:
    question = entry.question
    document: dict[str, Any] = {
        "name": question.name,
        "kind": question.kind,
        "text": question.text,
        "answers": list(question.answers),
        "encoding": question.encoding,
    }
    if question.encoding in ("one_hot", "boxes"):
        boxes = zip(question.answers, entry.columns, strict=True)
        document["epsilon"] = question.epsilon
        document["boxes"] = [{"name": answer, **_column_json(column)} for answer, column in boxes]
    else:
        document |= _column_json(entry.columns[0])
    document["impossible_p_value"] = entry.impossible_p_value
    if entry.mean is not None:
        document["mean"] = {
            "low": entry.mean.low,
            "high": entry.mean.high,
            "estimate": None if entry.mean.estimate is None else mean_json(entry.mean.estimate),
        }
    if entry.control is not None:
        document["control"] = {"above": entry.control.above, "below": entry.control.below}
    return document


def _column_json(column: Column) -> dict[str, Any]:
    return {
        **_design_json(column.design),
        "counts": list(column.counts),
        "estimate": None if column.estimate is None else estimate_json(column.estimate),
    }


def _design_json(design: Design) -> dict[str, Any]:
    return {"weights": design.weights.tolist(), "epsilon": design.epsilon}
