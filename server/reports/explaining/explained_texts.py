"""An explanation as words and as JSON. Where responses do not tell, no odds ratio is named."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from server.inputs import N_
from server.privacy.estimators.explaining import ExplainedEffect
from server.reports.explaining.explained_answer import ExplainedAnswer, ExplainedPredictor

Translate = Callable[..., str]

DOES_NOT_TELL = N_("These responses do not tell.")
HIGHER = N_("Higher: %(ratio)s times the odds (%(low)s to %(high)s).")
LOWER = N_("Lower: %(ratio)s times the odds (%(low)s to %(high)s).")
UNDECIDED = N_("Not sure whether higher or lower: %(ratio)s times the odds (%(low)s to %(high)s).")
PRIOR = N_(
    "The responses alone leave some odds ratio without an end: some group reports “yes” as seldom, or as often, as "
    "the coins alone would, or there are few responses. So a weak prior was added to each coefficient (log-F(1, 1)), "
    "which tells as much as one person whose answer is known."
)
CAUSE = N_(
    "What goes together need not be cause and effect, and what is not among the predictors may be behind it."
)
THROUGH_COINS = N_("Other randomised answers are read through their own coins, which makes intervals wider.")
WEIGHTED = N_(
    "Rows count as often as their weights say; intervals and tests take a weight as so many people."
)


def say_effect(effect: ExplainedEffect, translate: Translate, number: Callable[[float], str]) -> str:
    """What a step of a predictor does."""
    if not effect.tells:
        return translate(DOES_NOT_TELL)
    low, high = effect.odds_ratio_interval
    template = HIGHER if low > 1 else LOWER if high < 1 else UNDECIDED
    return translate(template, ratio=number(effect.odds_ratio), low=number(low), high=number(high))


def list_notes(explained: ExplainedAnswer) -> Iterator[str]:
    """What must be known of the whole, to be translated."""
    if explained.explanation.prior:
        yield PRIOR
    if any(predictor.randomised for predictor in explained.predictors):
        yield THROUGH_COINS
    if explained.weighted:
        yield WEIGHTED
    yield CAUSE


def name_step(predictor: ExplainedPredictor, step: str) -> str:
    """A level beside the one that it is compared with, or one more of a number."""
    return f"{step} / {predictor.reference}" if predictor.reference else step


def explanation_lines(explained: ExplainedAnswer) -> tuple[list[list[str]], list[str]]:
    """Rows of a table in English, and what stands below it."""

    def in_english(template: str, **values: object) -> str:
        return template % values

    rows = [
        [
            predictor.name,
            name_step(predictor, step),
            say_effect(effect, in_english, lambda value: f"{value:.3g}"),
            f"{100 * effect.average:+.1f} ± {100 * effect.average_error:.1f}" if effect.tells else "-",
            f"{predictor.test.p_value:.3f}",
        ]
        for predictor in explained.predictors
        for step, effect in predictor.steps
    ]
    return rows, list(list_notes(explained))


def explanation_json(explained: ExplainedAnswer) -> dict[str, Any]:
    """The whole; an effect that the responses do not tell has its interval, and null in place of an odds ratio."""
    found = explained.explanation
    return {
        "answer": explained.name,
        "n": explained.rows,
        "versions": list(explained.versions),
        "weighted": explained.weighted,
        "prior": "log-F(1, 1)" if found.prior else None,
        "confidence": found.confidence,
        "log_likelihood": found.log_likelihood,
        "likelihood_ratio": _test_json(
            found.test.statistic, found.test.degrees_of_freedom, found.test.p_value
        ),
        "predictors": [
            {
                "name": predictor.name,
                "randomised": predictor.randomised,
                "reference": predictor.reference or None,
                "likelihood_ratio": _test_json(
                    predictor.test.statistic, predictor.test.degrees_of_freedom, predictor.test.p_value
                ),
                "steps": [{"step": step, **_effect_json(effect)} for step, effect in predictor.steps],
            }
            for predictor in explained.predictors
        ],
        "notes": list(list_notes(explained)),
    }


def explanation_rows(explained: ExplainedAnswer) -> Iterator[dict[str, object]]:
    """Rows of a report as CSV: an odds ratio and an average effect of each step, and what tests say of each predictor.

    `group` is "explained", `stratum` the predictor and `text` the step; of what is not told, the number is empty.
    """
    found, question = explained.explanation, explained.outcome.question
    about = {
        "question": question.name,
        "kind": question.kind,
        "answer": explained.name.removeprefix(f"{question.name}.") if "." in explained.name else "yes",
        "versions": " ".join(map(str, explained.versions)),
        "group": "explained",
        "weighting": "responses",
        "n": explained.rows,
    }
    for predictor in explained.predictors:
        by = {**about, "stratum": predictor.name}
        for step, effect in predictor.steps:
            low, high = effect.odds_ratio_interval
            own = {**by, "text": name_step(predictor, step), "confidence": found.confidence}
            odds = {"estimate": effect.odds_ratio} if effect.tells else {}
            yield {
                **own,
                **{"statistic": "odds_ratio", "interval_low": low, "interval_high": high},
                **odds,
                "interval": effect.method,
            }
            if effect.tells:
                average = {"estimate": effect.average, "standard_error": effect.average_error}
                yield {**own, "statistic": "average_effect", **average}
        yield {**by, "statistic": "likelihood_ratio_p_value", "estimate": predictor.test.p_value}
    yield {**about, "statistic": "likelihood_ratio_p_value", "estimate": found.test.p_value}


def _effect_json(effect: ExplainedEffect) -> dict[str, Any]:
    return {
        "tells": effect.tells,
        "odds_ratio": effect.odds_ratio if effect.tells else None,
        "odds_ratio_interval": list(effect.odds_ratio_interval),
        "coefficient": effect.coefficient if effect.tells else None,
        "standard_error": effect.standard_error,
        "interval": effect.method,
        "average_effect": effect.average if effect.tells else None,
        "average_effect_error": effect.average_error,
    }


def _test_json(statistic: float, freedom: int, p_value: float) -> Mapping[str, float]:
    return {"statistic": statistic, "degrees_of_freedom": freedom, "p_value": p_value}
