"""A report, or an estimate, as JSON; what cannot be estimated is null."""

import json
import math
from typing import Any

from server.privacy.estimators import ShareEstimate
from server.reports.report import QuestionReport, Report


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
    """An estimate as JSON, ordered (no, yes); infinite standard errors are null."""
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


def _question_json(entry: QuestionReport) -> dict[str, Any]:
    return {
        "name": entry.question.name,
        "kind": entry.question.kind,
        "text": entry.question.text,
        "answers": ["no", "yes"],
        "weights": entry.design.weights.tolist(),
        "epsilon": entry.design.epsilon,
        "counts": list(entry.counts),
        "estimate": None if entry.estimate is None else estimate_json(entry.estimate),
        "impossible_p_value": entry.impossible_p_value,
    }


def finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
