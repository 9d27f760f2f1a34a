"""The planner's promise: at the planned number of respondents, intervals are as wide as was asked for.

Each plan is made from a definition; then its reports are drawn as counts, at the true shares that it was made
for, many times, and the real estimator is asked for its default interval. Twins that plan by the formula of a
direct question, or for another epsilon, must break the promise.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from server.privacy.designs import Design
from server.privacy.estimators import estimate_answered_mean, estimate_mean, estimate_shares
from server.privacy.planning import worst_shares, worst_shares_mean
from server.study import planning
from server.study.definitions import Question
from server.study.definitions.definition_reader import parse_definition
from tests.support import factories

REPETITIONS = 60
TOLERANCE = 0.05
"""Of the margin. The standard error of the mean of 60 half-widths is below 0.5 % of it (asserted), so that a
kept promise fails by chance with a probability far below 1e-6."""


@dataclass(frozen=True)
class Planned:
    """A question whose plan is tried, and which of its targets."""

    entry: Mapping[str, Any]
    margin: float
    what: str


def options(number: int) -> list[dict[str, str]]:
    return [{"name": f"o{place}", "text": f"Option {place}"} for place in range(number)]


def entry(
    kind: str, mechanism: str, more: Mapping[str, Any] | None = None, **parameters: Any
) -> dict[str, Any]:
    design = {"mechanism": mechanism, **parameters}
    return {"name": "asked", "kind": kind, "text": "Asked?", **(more or {}), "design": design}


HOURS = {"low": 0, "high": 40, "step": 0.5}
REFUSED = {**HOURS, "prefer_not_to_say": True}
PLANS = {
    "coin flip": Planned(entry("yes_no", "coin_flip", gamma=0.25), 0.05, "share"),
    "coin flip, few respondents": Planned(entry("yes_no", "coin_flip", gamma=0.45), 0.1, "share"),
    "Kuk, asymmetric": Planned(entry("yes_no", "kuk", if_yes=0.9, if_no=0.2), 0.04, "share"),
    "forced response, asymmetric": Planned(
        entry("yes_no", "forced_response", truth=0.75, yes=0.05), 0.03, "share"
    ),
    "k-ary, 4 options": Planned(
        entry("select_one", "k_ary", {"options": options(4)}, epsilon=1.0), 0.05, "shares"
    ),
    "unary, 20 options": Planned(
        entry("select_one", "unary", {"options": options(20)}, epsilon=1.0), 0.04, "shares"
    ),
    "tick all, 5 boxes": Planned(
        entry("select_multiple", "coin_flip", {"options": options(5)}, epsilon=4.0), 0.05, "boxes"
    ),
    "ordinal, 5 levels, mean": Planned(
        entry("scale", "ordinal", {"options": options(5)}, epsilon=2.0), 0.03, "mean"
    ),
    "ordinal, 5 levels, shares": Planned(
        entry("scale", "ordinal", {"options": options(5)}, epsilon=2.0), 0.1, "shares"
    ),
    "k-ary scale, mean": Planned(entry("scale", "k_ary", {"options": options(4)}, epsilon=1.5), 0.05, "mean"),
    "number, mean": Planned(entry("number", "stochastic_rounding", HOURS, epsilon=0.7), 0.05, "mean"),
    "number or nothing, mean": Planned(
        entry("number", "stochastic_rounding", REFUSED, epsilon=1.5), 0.05, "mean"
    ),
}


def question_of(planned: Planned, **design: Any) -> Question:
    asked = {**planned.entry, "design": {**planned.entry["design"], **design}}
    return parse_definition(factories.definition(questions=[asked])).questions[0]


def target_of(planned: Planned, question: Question) -> planning.Target:
    made = planning.plan_question(question, 1, None, planned.margin)
    return next(target for target in made.targets if target.what == planned.what)


def half_width_of(planned: Planned, question: Question) -> tuple[NDArray[np.float64], Callable[..., float]]:
    """The true shares that the plan is made for, and the half-width that the estimator gives to counts."""
    design = question.designs[0]
    if planned.what == "mean":
        refusals = question.prefer_not_to_say
        shares = worst_shares_mean(design, 1.0 if refusals else None)
        estimate = estimate_answered_mean if refusals else estimate_mean
        return shares, lambda counts: float(np.ptp(estimate(counts, design, 0, 1).interval)) / 2
    # The widest interval: that of the answer whose expected half-width is largest.
    return worst_shares(
        design
    ), lambda counts: float(np.ptp(estimate_shares(counts, design).intervals, axis=1).max()) / 2


def is_kept(planned: Planned, respondents: int) -> bool:
    """Whether the simulated half-width at so many respondents is within 5 % of the margin asked for."""
    question = question_of(planned)
    design: Design = question.designs[0]
    shares, half_width = half_width_of(planned, question)
    generator = np.random.default_rng(20261121)
    drawn = generator.multinomial(respondents, shares @ design.matrix, size=REPETITIONS)
    widths = np.array([half_width(counts) for counts in drawn])
    assert widths.std() / math.sqrt(REPETITIONS) < 0.005 * widths.mean()
    return bool(abs(widths.mean() / planned.margin - 1) <= TOLERANCE)


@pytest.mark.parametrize("name", PLANS)
def test_the_planned_respondents_give_the_margin(name: str) -> None:
    planned = PLANS[name]
    assert is_kept(planned, target_of(planned, question_of(planned)).respondents)


@pytest.mark.parametrize("name", PLANS)
def test_the_formula_of_a_direct_question_breaks_the_promise(name: str) -> None:
    planned = PLANS[name]
    assert not is_kept(planned, math.ceil(norm.ppf(0.975) ** 2 / 4 / planned.margin**2))


@pytest.mark.parametrize("name", [name for name in PLANS if "epsilon" in PLANS[name].entry["design"]])
@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_a_plan_for_another_epsilon_breaks_the_promise(name: str, factor: float) -> None:
    planned = PLANS[name]
    other = question_of(planned, epsilon=factor * planned.entry["design"]["epsilon"])
    assert not is_kept(planned, target_of(planned, other).respondents)


@pytest.mark.parametrize("name", PLANS)
def test_the_price_is_the_ratio_of_the_respondents_needed(name: str) -> None:
    planned = PLANS[name]
    target = target_of(planned, question_of(planned))
    # A direct question at its worst: half of the people at each end, variance 1/4.
    direct = norm.ppf(0.975) ** 2 / 4 / planned.margin**2
    assert target.respondents == pytest.approx(target.price * direct, abs=1)
