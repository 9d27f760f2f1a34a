"""How often intervals of slopes hold the true slope, by simulation, as a Markdown table with the simulation's error.

    python -m tests.benchmarks.coverage_slopes [STUDIES [CASE ...]]

People of two strata answer on one of ten days; what they say of themselves is randomised like the answer that is
explained. Everything is made up: truths by the model, reports by coins. The first table of coverage in
docs/privacy/regression.md is the output, of as many studies as it says. "Told" is the interval that pages, reports
and files show, of the profile or plus and minus; "likelihood ratio" is whether twice the log-likelihood lost at the
true slope is below the quantile of the chi-squared distribution, of studies that need no prior.
"""

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from server.privacy.designs import Design, coin_flip, k_ary, ordinal
from server.privacy.estimators.average_effects import EffectSetting
from server.privacy.estimators.climbing import add_ridge, bend, climb, climb_far
from server.privacy.estimators.coefficients import mean_coefficients, share_coefficients
from server.privacy.estimators.explained_effects import Explanation
from server.privacy.estimators.explaining import Predictor, explain
from server.privacy.estimators.latent_likelihood import LatentData
from server.privacy.estimators.number_explaining import NumberData, explain_number
from server.privacy.estimators.profiles import ENOUGH, move_along
from server.privacy.estimators.starting import find_start

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
COIN, LOSS = coin_flip(0.25), math.log(3)
REACH = float(stats.norm.ppf(0.975))


@dataclass(frozen=True)
class Case:
    """A model with its true slopes: of the stratum, of five days, of answers; of several levels, a tuple for each.

    `steps` are the intercepts: of a number its mean, of levels one for each but the first.
    """

    name: str
    people: int
    stratum: tuple[float, ...]
    days: tuple[float, ...]
    answers: tuple[tuple[float, ...], ...]
    steps: tuple[float, ...]
    design: Design
    kind: str = "cumulative"


CASES = {
    "known": Case("yes/no", 2_000, (0.5,), (0.4,), (), (-1.0,), COIN),
    "answers": Case("yes/no", 2_000, (0.5,), (0.0,), ((1.0,), (0.0,)), (-1.2,), COIN),
    "scale": Case("scale of 4", 8_000, (0.5,), (0.3,), ((1.0,),), (1.0, 0.0, -1.2), ordinal(4, LOSS)),
    "options": Case(
        "one of 3", 4_000, (0.5, 0.0), (0.0, 0.3), ((1.0, 0.0),), (-0.5, -0.3), k_ary(3, LOSS), "multinomial"
    ),
    "number": Case("number, 0 to 10", 4_000, (1.0,), (0.5,), ((2.0,), (0.0,)), (3.0,), COIN, "linear"),
}


@dataclass(frozen=True)
class Found:
    """What one study says of one slope; the last is None where the model has no likelihood, or a prior was needed."""

    estimate: float
    error: float
    told: bool
    wald: bool
    ratio: bool | None


def draw_reports(rng: np.random.Generator, design: Design, truths: Numbers) -> Numbers:
    """One for each truth."""
    ends = np.cumsum(design.matrix[truths], axis=1)[:, :-1]
    return np.asarray((rng.random(len(truths))[:, None] > ends).sum(axis=1))


def draw_truths(rng: np.random.Generator, case: Case, etas: Sequence[Floats]) -> Numbers:
    """Of the answer that is explained; `etas` are what predictors add, once or for each level but the first."""
    if case.kind == "linear":  # one bit of a number that varies around its mean
        mean = case.steps[0] + etas[0] + rng.uniform(-1.5, 1.5, len(etas[0]))
        return (rng.random(len(mean)) < mean / 10).astype(np.int64)
    if case.kind == "cumulative":
        height = stats.logistic.rvs(size=len(etas[0]), random_state=rng) + etas[0]
        return np.asarray((height > -np.array(case.steps)[:, None]).sum(axis=0))
    heights = [0 * etas[0], *(step + eta for step, eta in zip(case.steps, etas, strict=True))]
    return np.asarray(np.argmax(np.stack(heights) + rng.gumbel(size=(len(heights), len(etas[0]))), axis=0))


def draw_study(rng: np.random.Generator, case: Case) -> tuple[Floats, Numbers, Numbers]:
    """What is known of everybody, and the reports: of the answer first, then of what goes with it."""
    n = case.people
    stratum = rng.integers(0, 2, n)
    days = rng.integers(0, 10, n)
    answers = [(rng.random(n) < 0.3 + 0.2 * stratum).astype(np.int64) for _ in case.answers]
    known = np.column_stack([np.ones(n), stratum - 0.5, days / 5 - 0.9])
    etas = [
        case.stratum[k] * known[:, 1]
        + case.days[k] * known[:, 2]
        + sum((own[k] * answer for own, answer in zip(case.answers, answers, strict=True)), np.zeros(n))
        for k in range(len(case.stratum))
    ]
    outcome = draw_reports(rng, case.design, draw_truths(rng, case, etas))
    seen = [draw_reports(rng, COIN, answer) for answer in answers]
    return known, outcome, np.stack(seen, axis=1) if seen else np.zeros((n, 0), np.int64)


def list_predictors(case: Case) -> tuple[list[Predictor], list[float]]:
    """One for each slope, as `explain` numbers them, with the true slopes."""
    width, found, truths = 3 + len(case.answers), [], []
    starts = range(0, width * len(case.steps), width) if case.kind == "multinomial" else (0,)
    for level, start in enumerate(starts):
        for place, slopes in enumerate((case.stratum, case.days, *case.answers), 1):
            known = place < 3
            own = (place,) if known else (place - 3,)
            pair = tuple(EffectSetting(known, own, (side,)) for side in (0.0, 1.0))
            found.append(Predictor((start + place,), ((pair[0], pair[1]),)))
            truths.append(slopes[level])
    return found, truths


def lose(data: LatentData, places: Sequence[int], truths: Sequence[float]) -> list[float]:
    """Twice the log-likelihood that is lost where a slope is what it is in truth, of each of them by itself."""
    objective = add_ridge(data)
    top = bend(objective, climb_far(objective, find_start(data)))
    lower = [
        climb(objective, move_along(top, place, at), np.arange(top.theta.size) != place, least=ENOUGH).value
        for place, at in zip(places, truths, strict=True)
    ]
    return [2 * (top.value - value) for value in lower]


def describe(case: Case, known: Floats, outcome: Numbers, seen: Numbers) -> LatentData | NumberData:
    """What a study is to the model; rows that are alike once, but for a number."""
    if case.kind == "linear":
        tops = mean_coefficients([COIN], 0, 10).numerators[0][outcome]
        guesses = share_coefficients([COIN]).numerators[1][seen]
        ones, questions = np.ones(len(tops)), np.arange(seen.shape[1])
        return NumberData(ones, known, tops, ones, guesses, questions, 10.0)
    cells, counts = np.unique(np.column_stack([known, outcome, seen]), axis=0, return_counts=True)
    reports = cells[:, 3:].astype(np.int64)
    parts = tuple(COIN.matrix[:, column].T for column in reports[:, 1:].T)
    others = np.ones((len(cells), 1))
    for part in parts:
        others = (others[:, :, None] * part[:, None, :]).reshape(len(cells), -1)
    dummies = np.array(list(np.ndindex(*(2,) * len(parts))), dtype=np.float64)
    return LatentData(
        counts.astype(np.float64),
        cells[:, :3],
        case.design.matrix[:, reports[:, 0]].T,
        others,
        dummies.reshape(2 ** len(parts), len(parts)),
        model="multinomial" if case.kind == "multinomial" else "cumulative",
        parts=parts,
    )


def explain_study(case: Case, data: LatentData | NumberData) -> Explanation:
    """All that is told of it."""
    predictors, _ = list_predictors(case)
    return explain_number(data, predictors) if isinstance(data, NumberData) else explain(data, predictors)


def judge(case: Case, data: LatentData | NumberData) -> list[Found]:
    """All slopes of a study beside the true ones."""
    predictors, truths = list_predictors(case)
    told = explain_study(case, data)
    lost: list[float | None] = [None] * len(truths)
    if isinstance(data, LatentData) and not told.prior:
        lost = [*lose(data, [predictor.columns[0] for predictor in predictors], truths)]
    found = []
    for (effect,), truth, own_loss in zip(told.effects, truths, lost, strict=True):
        wald = abs(effect.coefficient - truth) <= REACH * effect.standard_error
        own = effect.interval[0] <= truth <= effect.interval[1]
        ratio = None if own_loss is None else own_loss <= REACH**2
        found.append(Found(effect.coefficient - truth, effect.standard_error, own, wald, ratio))
    return found


def state(held: Sequence[bool]) -> str:
    """A share, with its standard error: of a share of 1, what one study less would make it."""
    if not held:
        return ""
    share, n = sum(held) / len(held), len(held)
    return f"{share:.3f} ± {max(math.sqrt(share * (1 - share) / n), 1 / n):.3f}"


def name_slopes(case: Case) -> list[str]:
    """What each is of, with its true value."""
    words = ["stratum", "five days", *("a randomised answer" for _ in case.answers)]
    _, truths = list_predictors(case)
    return [f"{words[place % len(words)]}: {truth}" for place, truth in enumerate(truths)]


def table(studies: int, names: Sequence[str], seed: int = 1) -> Iterator[str]:
    """The Markdown table, line by line."""
    yield (
        "| explained | people | slope | studies | told | Wald | likelihood ratio | need a prior "
        "| off by, in errors | vary by, in errors |"
    )
    yield "|---|---:|---|---:|---|---|---|---:|---:|---:|"
    for name in names:
        case = CASES[name]
        slopes = name_slopes(case)
        every = [_draw_and_judge(case, seed, number) for number in range(studies)]
        for place, slope in enumerate(slopes):
            own = [found[place] for found in every]
            ratios = [found.ratio for found in own if found.ratio is not None]
            apart = np.array([found.estimate / found.error for found in own])
            prior = "" if case.kind == "linear" else f"{1 - len(ratios) / studies:.3f}"
            yield (
                f"| {case.name} | {case.people:,} | {slope} | {studies:,} "
                f"| {state([found.told for found in own])} | {state([found.wald for found in own])} "
                f"| {state(ratios)} | {prior} | {apart.mean():.2f} | {apart.std():.2f} |"
            )


def _draw_and_judge(case: Case, seed: int, number: int) -> list[Found]:
    return judge(case, describe(case, *draw_study(np.random.default_rng([seed, number, case.people]), case)))


if __name__ == "__main__":
    for line in table(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000, sys.argv[2:] or list(CASES)):
        print(line, flush=True)
