"""Two strata compared, as programs read it: JSON, and rows of a report as CSV."""

from collections.abc import Iterator, Sequence
from typing import Any

from server.output.formatting import finite
from server.reports.answer_names import AnswerTexts
from server.reports.difference_measures import POWER
from server.reports.estimate_values import ShareRow
from server.reports.report import Report
from server.reports.stratum_comparison import Compared, ComparedFigure
from server.reports.stratum_estimates import NO_STRATUM, StratumReport


def comparison_json(compared: Compared) -> dict[str, Any]:
    """All of it; null is what cannot be told, also the upper end of a ratio that has none."""
    return {
        "question": compared.entry.question.name,
        "groups": [
            {"stratum": name_group(group), "n": group.n, "weighting": str(group.weighting)}
            for group in (compared.first, compared.second)
        ],
        "confidence": compared.confidence,
        "comparisons": len(compared.figures),
        "power": POWER,
        "rows": [figure_json(figure) for figure in compared.figures],
    }


def figure_json(figure: ComparedFigure) -> dict[str, Any]:
    """The difference of one estimate, and what follows from it."""
    measures = figure.measures
    ends = measures.ratio_interval
    return {
        "statistic": "share" if isinstance(figure.first, ShareRow) else "mean",
        "answer": figure.first.answer if isinstance(figure.first, ShareRow) else None,
        "first": finite(figure.first.value),
        "second": finite(figure.second.value),
        "difference": finite(figure.value),
        "difference_interval": list(figure.interval),
        "standard_error": finite(measures.standard_error),
        "higher": str(figure.distance.verdict),
        "ratio": finite(measures.ratio),
        "ratio_interval": None if ends is None else [finite(end) for end in ends],
        "p_value": finite(measures.p_value),
        "least_shown": finite(measures.least_shown),
        "power_at_estimate": finite(measures.power),
    }


def comparison_rows(report: Report, compared: Sequence[Compared]) -> Iterator[dict[str, object]]:
    """By the names of the columns of the report's CSV; `stratum` names both."""
    texts = AnswerTexts(report.definition)
    for found in compared:
        question = found.entry.question
        about = {
            "question": question.name,
            "kind": question.kind,
            "text": question.text,
            "versions": " ".join(map(str, report.versions)),
            "group": "compared",
            "stratum": " / ".join(map(name_group, (found.first, found.second))),
            "n": (found.first.n or 0) + (found.second.n or 0),
            "more_fewer_than": report.unseen.number or "",
        }
        for figure in found.figures:
            answer = {}
            if isinstance(figure.first, ShareRow):
                text = texts.of(question)[figure.first.index]
                answer = {"answer": figure.first.answer, "answer_text": text}
            for statistic, numbers in list_statistics(found.confidence, figure):
                yield {**about, **answer, "statistic": statistic, **numbers}


def list_statistics(confidence: float, figure: ComparedFigure) -> Iterator[tuple[str, dict[str, object]]]:
    """What a CSV calls each number of a difference, and its columns."""
    what = "share" if isinstance(figure.first, ShareRow) else "mean"
    measures = figure.measures
    low, high = figure.interval
    ends: dict[str, object] = {
        "interval_low": low,
        "interval_high": high,
        "confidence": confidence,
    }
    error = finite(measures.standard_error)
    yield f"{what}_difference", {"estimate": finite(figure.value), "standard_error": error, **ends}
    if measures.ratio_interval is not None:
        low, high = measures.ratio_interval
        ends |= {"interval_low": low, "interval_high": finite(high)}
        yield f"{what}_ratio", {"estimate": finite(measures.ratio), **ends}
    for statistic, value in (
        ("p_value", measures.p_value),
        ("least_shown", measures.least_shown),
        ("power_at_estimate", measures.power),
    ):
        yield f"{what}_difference_{statistic}", {"estimate": finite(value)}


def name_group(group: StratumReport) -> str:
    """Its path, or that it is the responses without one."""
    return NO_STRATUM if group.own_link else group.path
