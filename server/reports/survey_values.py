"""Surveys compared, as programs read it: JSON, and rows of a report as CSV."""

from collections.abc import Iterator, Sequence
from typing import Any

from server.output.formatting import finite
from server.reports.answer_names import AnswerTexts
from server.reports.comparison_values import figure_json, list_statistics
from server.reports.difference_measures import POWER
from server.reports.estimate_values import ReportMean, ShareRow
from server.reports.report import Report
from server.reports.stratum_comparison import HigherGroup
from server.reports.survey_comparison import ComparedSurveys
from server.reports.survey_trends import SurveyTrend

_DIRECTIONS = {HigherGroup.FIRST: "rises", HigherGroup.SECOND: "falls"}


def surveys_json(compared: ComparedSurveys) -> dict[str, Any]:
    """All of it; null is what cannot be told. In `rows` the last survey is the first of the two."""
    return {
        "question": compared.entry.question.name,
        "surveys": [
            {
                "survey": each.slug,
                "title": each.title,
                "published_on": each.since.isoformat(),
                "simulated": each.simulated,
                "n": each.n,
                "weighted": each.entry is not None and each.entry.weighted,
                "text": "" if each.entry is None else each.entry.question.text,
                "other_words": each.other_words,
                "other_coins": each.other_coins,
            }
            for each in compared.surveys
        ],
        "confidence": compared.confidence,
        "comparisons": len(compared.figures),
        "power": POWER,
        "rows": [figure_json(figure) for figure in compared.figures],
        "trends": [_trend_json(trend) for trend in compared.trends],
    }


def _trend_json(trend: SurveyTrend) -> dict[str, Any]:
    first, distance = trend.first, trend.distance
    return {
        "statistic": "share" if isinstance(first, ShareRow) else "mean",
        "answer": first.answer if isinstance(first, ShareRow) else None,
        "estimates": [finite(figure.value) for figure in trend.figures],
        "standard_errors": [finite(figure.standard_error) for figure in trend.figures],
        "step": finite(trend.value),
        "step_interval": None if trend.interval is None else list(trend.interval),
        "standard_error": finite(trend.standard_error),
        "direction": None if distance is None else _DIRECTIONS.get(distance.verdict, str(distance.verdict)),
        "p_value": finite(trend.p_value),
        "least_shown": finite(trend.least_shown),
        "power_at_estimate": finite(trend.power),
    }


def survey_rows(report: Report, compared: Sequence[ComparedSurveys]) -> Iterator[dict[str, object]]:
    """By the names of the columns of the report's CSV; `stratum` names surveys by their links."""
    texts = AnswerTexts(report.definition)
    for found in compared:
        question = found.entry.question
        slugs = [each.slug for each in found.surveys]
        about: dict[str, object] = {
            "question": question.name,
            "kind": question.kind,
            "text": question.text,
            "group": "surveys",
            "simulated": any(each.simulated for each in found.surveys),
        }

        def name_answer(figure: ShareRow | ReportMean) -> dict[str, object]:
            if not isinstance(figure, ShareRow):
                return {}
            return {"answer": figure.answer, "answer_text": texts.of(question)[figure.index]}  # noqa: B023

        for figure in found.figures:
            both = {
                **about,
                **name_answer(figure.first),
                "stratum": f"{slugs[-1]} / {slugs[0]}",
                "n": found.first.n + found.second.n,
            }
            for statistic, numbers in list_statistics(found.confidence, figure):
                yield {**both, "statistic": statistic, **numbers}
        for trend in found.trends:
            every = {
                **about,
                **name_answer(trend.first),
                "stratum": " / ".join(slugs),
                "n": sum(each.n for each in found.surveys),
            }
            for statistic, numbers in _list_steps(found.confidence, trend):
                yield {**every, "statistic": statistic, **numbers}


def _list_steps(confidence: float, trend: SurveyTrend) -> Iterator[tuple[str, dict[str, object]]]:
    what = "share" if isinstance(trend.first, ShareRow) else "mean"
    low, high = trend.interval or (None, None)
    yield (
        f"{what}_trend",
        {
            "estimate": finite(trend.value),
            "standard_error": finite(trend.standard_error),
            "interval_low": low,
            "interval_high": high,
            "confidence": confidence,
        },
    )
    for statistic, value in (
        ("p_value", trend.p_value),
        ("least_shown", trend.least_shown),
        ("power_at_estimate", trend.power),
    ):
        yield f"{what}_trend_{statistic}", {"estimate": finite(value)}
