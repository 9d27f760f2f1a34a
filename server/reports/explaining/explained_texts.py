"""An explanation as words and as JSON. Where responses do not tell, no odds ratio is named."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from server.inputs import N_
from server.output.formatting import count_digits, finite, p_value
from server.privacy.estimators.explained_effects import ExplainedEffect
from server.privacy.estimators.limits import normal_quantile
from server.privacy.estimators.regression import LikelihoodRatioTest
from server.reports.explaining.explained_answer import ExplainedAnswer, ExplainedPredictor
from server.reports.explaining.explained_columns import ExplainedStep
from server.reports.explaining.explained_notes import list_notes
from server.reports.population_weights import Weighting
from server.reports.weighting_notes import Translate, say_in_english

DOES_NOT_TELL = N_("These responses do not tell.")
_ODDS = (
    N_("Higher: %(ratio)s times the odds (%(low)s to %(high)s)."),
    N_("Lower: %(ratio)s times the odds (%(low)s to %(high)s)."),
    N_("Not sure whether higher or lower: %(ratio)s times the odds (%(low)s to %(high)s)."),
)
_OPEN_ODDS = (
    N_("Higher: %(ratio)s times the odds (at least %(low)s)."),
    N_("Lower: %(ratio)s times the odds (at most %(high)s)."),
)
_AMOUNT = (
    N_("Higher by %(amount)s (%(low)s to %(high)s)."),
    N_("Lower by %(amount)s (%(low)s to %(high)s)."),
    N_("Not sure whether higher or lower: a difference of %(amount)s (%(low)s to %(high)s)."),
)


def say_effect(
    explained: ExplainedAnswer,
    effect: ExplainedEffect,
    translate: Translate,
    write: Callable[[float, int], str],
) -> str:
    """What a step of a predictor does; numbers are written with so many digits at most."""
    if not effect.tells:
        return translate(DOES_NOT_TELL)
    templates = _AMOUNT if explained.model == "linear" else _ODDS
    low, high = effect.interval
    template = templates[0] if low > 0 else templates[1] if high < 0 else templates[2]
    if explained.model != "linear":
        if effect.open:
            template = _OPEN_ODDS[low < 0]
        odds = (effect.odds_ratio, *effect.odds_ratio_interval)
        digits = count_digits((*odds, 1.0))
        ratio, least, most = (write(value, digits) for value in odds)
        return translate(template, ratio=ratio, low=least, high=most)
    digits = count_digits((effect.coefficient, low, high, 0.0))
    amounts = (effect.coefficient, low, high)
    if high < 0:  # lower by so much, which is no negative number
        amounts = (-effect.coefficient, -high, -low)
    amount, least, most = (write(value, digits) for value in amounts)
    return translate(template, amount=amount, low=least, high=most)


def name_step(explained: ExplainedAnswer, predictor: ExplainedPredictor, step: ExplainedStep) -> str:
    """A level beside the one that it is compared with, or one more of a number; of several answers which."""
    name = f"{step.name} / {predictor.reference}" if predictor.reference else step.name
    levels = explained.outcome.levels
    return name if step.answer is None else f"{name}: {levels[step.answer]} / {levels[0]}"


def explanation_lines(explained: ExplainedAnswer) -> tuple[list[list[str]], list[str]]:
    """Rows of a table in English, and what stands below it."""
    rows = [
        [
            predictor.name,
            name_step(explained, predictor, step),
            say_effect(explained, effect, say_in_english, lambda value, digits: f"{value:.{digits}g}"),
            _say_average(explained, effect),
            cut_letter(predictor.test.p_value),
        ]
        for predictor in explained.predictors
        for step, effect in predictor.steps
    ]
    return rows, _list_english_notes(explained)


def _say_average(explained: ExplainedAnswer, effect: ExplainedEffect) -> str:
    if not effect.tells or explained.model == "linear":
        return "-"
    times, digits = (1, 2) if explained.model == "cumulative" else (100, 1)
    average = f"{times * effect.average:+.{digits}f}"
    if effect.open:
        # The error says too little at such ends: docs/privacy/regression.md has how often it covers.
        return average
    reach = normal_quantile(explained.explanation.confidence) * effect.average_error
    low, high = times * (effect.average - reach), times * (effect.average + reach)
    return f"{average} ({low:.{digits}f} to {high:.{digits}f})"


def cut_letter(value: float) -> str:
    """A p value in a column that is called so; a dash where there is none."""
    return "-" if math.isnan(value) else write_p(value).removeprefix("p ").removeprefix("= ")


def write_p(value: float) -> str:
    """As pages do, in English and with plain spaces."""
    return p_value(value, "en").replace("\N{NO-BREAK SPACE}", " ")


def _list_english_notes(explained: ExplainedAnswer) -> list[str]:
    levels = explained.outcome.levels
    first = levels[0] if levels else ""
    return list(list_notes(explained, say_in_english, first, write_p, str))


def explanation_json(explained: ExplainedAnswer) -> dict[str, Any]:
    """The whole; an effect that the responses do not tell has its interval, and null in place of an odds ratio."""
    found = explained.explanation
    return {
        "answer": explained.name,
        "model": explained.model,
        "n": explained.rows,
        "versions": list(explained.versions),
        "weighted": explained.weighted,
        **_weighting_json(explained),
        "without_week": explained.unknown,
        "prior": "log-F(1, 1)" if found.prior else None,
        "confidence": found.confidence,
        "log_likelihood": finite(found.log_likelihood),
        "likelihood_ratio": _test_json(found.test),
        "parallel_slopes": None if found.parallel is None else _test_json(found.parallel),
        "predictors": [
            {
                "name": predictor.name,
                "randomised": predictor.randomised,
                "reference": predictor.reference or None,
                "likelihood_ratio": _test_json(predictor.test),
                "steps": [
                    {
                        "step": step.name,
                        "answer": None if step.answer is None else explained.outcome.levels[step.answer],
                        **_effect_json(explained, effect),
                    }
                    for step, effect in predictor.steps
                ],
            }
            for predictor in explained.predictors
        ],
        "notes": _list_english_notes(explained),
        "unweighted": None if explained.unweighted is None else explanation_json(explained.unweighted),
    }


def _weighting_json(explained: ExplainedAnswer) -> dict[str, Any]:
    """By what rows count, and which strata do not stand alone."""
    if explained.weighed is None:
        return {"weighting": str(Weighting.BY_ROW) if explained.weighted else "responses"}
    weighed = explained.weighed
    together = [list(paths) for paths in weighed.together]
    return {
        "weighting": str(weighed.weighting),
        "taken_together": together,
        "not_used": list(weighed.unused),
    }


def explanation_rows(explained: ExplainedAnswer) -> Iterator[dict[str, object]]:
    """Rows of a report as CSV: an odds ratio and an average effect of each step, and what tests say of each predictor.

    `group` is "explained", `stratum` the predictor and `text` the step; of what is not told, the number is empty.
    """
    found, question = explained.explanation, explained.outcome.question
    about = {
        "question": question.name,
        "kind": question.kind,
        "answer": _name_answer(explained),
        "versions": " ".join(map(str, explained.versions)),
        "group": "explained",
        "weighting": "responses" if explained.weighed is None else "population",
        "n": explained.rows,
    }
    for predictor in explained.predictors:
        by = {**about, "stratum": predictor.name}
        for step, effect in predictor.steps:
            numeric = explained.model == "linear"
            low, high = map(finite, effect.interval if numeric else effect.odds_ratio_interval)
            own = {
                **by,
                "text": name_step(explained, predictor, step),
                "confidence": found.confidence,
            }
            size = finite(effect.coefficient if numeric else effect.odds_ratio)
            yield {
                **own,
                **{"statistic": "difference" if numeric else "odds_ratio"},
                **{"interval_low": low, "interval_high": high},
                **({"estimate": size} if effect.tells else {}),
                "interval": effect.method,
            }
            if effect.tells and not numeric:
                error = {} if effect.open else {"standard_error": effect.average_error}
                average = {"estimate": effect.average, **error}
                yield {**own, "statistic": "average_effect", **average}
        yield {**by, "statistic": "likelihood_ratio_p_value", "estimate": predictor.test.p_value}
    yield {**about, "statistic": "likelihood_ratio_p_value", "estimate": found.test.p_value}
    if explained.unweighted is not None:
        yield from explanation_rows(explained.unweighted)


def _name_answer(explained: ExplainedAnswer) -> str:
    """The one that is explained; none of a question that is explained whole."""
    if explained.model != "binary":
        return ""
    question = explained.outcome.question.name
    return explained.name.removeprefix(f"{question}.") if "." in explained.name else "yes"


def _effect_json(explained: ExplainedAnswer, effect: ExplainedEffect) -> dict[str, Any]:
    odds = explained.model != "linear"
    return {
        "tells": effect.tells,
        "odds_ratio": finite(effect.odds_ratio) if effect.tells and odds else None,
        "odds_ratio_interval": [finite(end) for end in effect.odds_ratio_interval] if odds else None,
        "coefficient": effect.coefficient if effect.tells else None,
        "coefficient_interval": [finite(end) for end in effect.interval],
        "standard_error": effect.standard_error,
        "interval": effect.method,
        "average_effect": effect.average if effect.tells else None,
        "average_effect_error": None if effect.open else effect.average_error,
    }


def _test_json(test: LikelihoodRatioTest) -> Mapping[str, float | None]:
    return {
        "statistic": finite(test.statistic),
        "degrees_of_freedom": test.degrees_of_freedom,
        "p_value": finite(test.p_value),
    }
