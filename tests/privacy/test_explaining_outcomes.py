"""Scales, options and numbers that go with others: against likelihoods written down here, and repeated studies.

Expected values come from `reference_*`, one person after the other, maximised by SciPy without derivatives, and from
made-up people whose slopes are known. Coverage is held against 0.94 with a false-alarm rate of 1e-6; each has a twin,
wrong on purpose, that must fail the same test.
"""

import math
from dataclasses import replace
from functools import cache
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats

from server.privacy.designs import Design, coin_flip, custom, k_ary
from server.privacy.estimators import mean_coefficients, share_coefficients
from server.privacy.estimators.average_effects import EffectSetting
from server.privacy.estimators.climbing import add_ridge, climb
from server.privacy.estimators.explained_effects import Explanation
from server.privacy.estimators.explaining import Predictor, explain
from server.privacy.estimators.latent_likelihood import LatentData, evaluate_latent, list_scores
from server.privacy.estimators.number_explaining import NumberData, explain_number
from server.privacy.estimators.replicate_weights import make_bootstrap, make_jackknife
from server.privacy.estimators.sample_designs import SampleDesign
from server.privacy.estimators.sampled_rows import RowSample
from tests.support.scale import choose_size

COIN = coin_flip(0.25)
FOUR = k_ary(4, 2.0)
BARE = custom(np.eye(4) * 0.96 + 0.01)
Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Model = Literal["cumulative", "multinomial"]


def expit(eta: Floats | float) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.asarray(eta))))


def report(rng: np.random.Generator, design: Design, truths: Numbers) -> Numbers:
    """One draw for each truth."""
    ends = np.cumsum(design.matrix[truths], axis=1)
    return np.minimum((rng.random(len(truths))[:, None] > ends).sum(axis=1), design.matrix.shape[1] - 1)


def draw_level(rng: np.random.Generator, chances: Floats) -> Numbers:
    return np.asarray((rng.random(len(chances))[:, None] > np.cumsum(chances, axis=1)).sum(axis=1))


def order_chances(eta: Floats, first: float = 1.0, second: float = 0.0, third: float = -1.5) -> Floats:
    above = [np.ones(len(eta)), *(expit(level + eta) for level in (first, second, third)), np.zeros(len(eta))]
    return np.array([above[k] - above[k + 1] for k in range(4)]).T


@cache
def people(model: Model, n: int = 6000) -> tuple[Numbers, Numbers, Numbers]:
    """What is known, and the reports of a yes/no predictor and of an outcome of four levels."""
    rng = np.random.default_rng(19)
    known = rng.integers(0, 2, n)
    z = (rng.random(n) < 0.3 + 0.3 * known).astype(np.int64)
    if model == "cumulative":
        levels = draw_level(rng, order_chances(0.8 * known - 1.1 * z))
    else:
        eta = np.array([0 * known, 0.3 + 0.9 * known, -0.2 + 1.2 * z, 0.1 - 0.5 * known + 0.6 * z]).T
        levels = draw_level(rng, np.exp(eta) / np.exp(eta).sum(axis=1, keepdims=True))
    return known, report(rng, COIN, z), report(rng, FOUR, levels)


def latent(model: Model, seen: Design = COIN) -> LatentData:
    known, z, outcome = people(model)
    cells, counts = np.unique(np.stack([known, z, outcome]), axis=1, return_counts=True)
    return LatentData(
        counts.astype(np.float64),
        np.column_stack([np.ones(cells.shape[1]), cells[0]]).astype(np.float64),
        FOUR.matrix[:, cells[2]].T,
        seen.matrix[:, cells[1]].T,
        np.array([[0.0], [1.0]]),
        model=model,
    )


KNOWN = (EffectSetting(True, (1,), (0.0,)), EffectSetting(True, (1,), (1.0,)))
ANSWER = (EffectSetting(False, (0,), (0.0,)), EffectSetting(False, (0,), (1.0,)))


def reference(model: Model, theta: Floats) -> float:
    """Minus the log-likelihood, cell by cell; theta ends with the log odds of z where x is 0, and what x adds."""
    data, total = people(model), 0.0
    for x in (0, 1):
        given = float(expit(theta[-2] + theta[-1] * x))
        chances = []
        for z in (0, 1):
            if model == "cumulative":
                ends = np.array(
                    [
                        theta[0],
                        theta[0] - math.exp(theta[3]),
                        theta[0] - math.exp(theta[3]) - math.exp(theta[4]),
                    ]
                )
                above = np.concatenate([[1.0], expit(ends + theta[1] * x + theta[2] * z), [0.0]])
                chances.append(above[:-1] - above[1:])
            else:
                eta = np.concatenate([[0.0], theta[:9].reshape(3, 3) @ [1, x, z]])
                chances.append(np.exp(eta) / np.exp(eta).sum())
        for s in (0, 1):
            for y in range(4):
                n = int(((data[0] == x) & (data[1] == s) & (data[2] == y)).sum())
                row = (1 - given) * COIN.matrix[0, s] * float(chances[0] @ FOUR.matrix[:, y])
                row += given * COIN.matrix[1, s] * float(chances[1] @ FOUR.matrix[:, y])
                total -= n * math.log(row)
    return total


def explain_model(model: Model, seen: Design = COIN) -> Explanation:
    if model == "cumulative":
        return explain(latent(model, seen), [Predictor((1,), (KNOWN,)), Predictor((2,), (ANSWER,))])
    scores = tuple(np.eye(4)[k] for k in (1, 2, 3))
    return explain(
        latent(model, seen),
        [
            Predictor((1, 4, 7), (KNOWN,) * 3, scores=scores),
            Predictor((2, 5, 8), (ANSWER,) * 3, scores=scores),
        ],
    )


@pytest.mark.parametrize("model", ["cumulative", "multinomial"])
def test_it_is_the_maximum_of_the_likelihood_of_one_person_after_the_other(model: Model) -> None:
    found, size = explain_model(model), 7 if model == "cumulative" else 11
    begin = np.zeros(size)
    made = optimize.minimize(
        lambda theta: reference(model, theta), begin, method="BFGS", options={"gtol": 1e-3}
    )
    assert found.log_likelihood == pytest.approx(-made.fun, abs=1e-3)
    places = [[1], [2]] if model == "cumulative" else [[1, 4, 7], [2, 5, 8]]
    for own, effects in zip(places, found.effects, strict=True):
        assert [effect.coefficient for effect in effects] == pytest.approx(made.x[own], abs=5e-3)
    # Left out, a predictor loses what its test says.
    kept = [place for place in range(size) if place not in places[1]]

    def without(theta: Floats) -> float:
        whole = np.zeros(size)
        whole[kept] = theta
        return reference(model, whole)

    smaller = optimize.minimize(without, np.zeros(len(kept)), method="BFGS", options={"gtol": 1e-3})
    assert found.tests[1].statistic == pytest.approx(2 * (smaller.fun - made.fun), abs=0.02)
    assert found.tests[1].degrees_of_freedom == len(places[1])


@pytest.mark.parametrize("model", ["cumulative", "multinomial"])
def test_derivatives_are_those_of_the_value(model: Model) -> None:
    data = replace(latent(model), written_out=True)
    theta = np.random.default_rng(1).normal(0, 0.4, data.parameters)
    here, step = evaluate_latent(data, theta), 1e-5
    for place in range(data.parameters):
        aside = [
            evaluate_latent(data, theta + side * step * np.eye(data.parameters)[place]) for side in (-1, 1)
        ]
        assert here.gradient[place] == pytest.approx(
            (aside[1].value - aside[0].value) / 2 / step, rel=1e-4, abs=1e-3
        )
        bend = -(aside[1].gradient - aside[0].gradient) / 2 / step
        assert here.information[place] == pytest.approx(bend, rel=1e-4, abs=1e-2)


def test_an_average_effect_is_how_many_levels_higher_people_are() -> None:
    """Of the truth that they were made of, by hand: everybody with x at 1 less everybody with x at 0, z as it is."""
    known, _, _ = people("cumulative")
    truth = np.mean(
        [
            (0.3 + 0.3 * x) * (levels(1, z=1) - levels(0, z=1))
            + (0.7 - 0.3 * x) * (levels(1, z=0) - levels(0, z=0))
            for x in known.tolist()
        ]
    )
    (effect,) = explain_model("cumulative").effects[0]
    assert abs(effect.average - truth) < 4 * effect.average_error < 0.5


def levels(x: int, z: int) -> float:
    return float(order_chances(np.array([0.8 * x - 1.1 * z]))[0] @ np.arange(4))


def test_steps_that_differ_are_noticed_and_steps_alike_are_not() -> None:
    """A score test: of 100 made-up studies, about 5 in 100 below 0.05 where steps are alike; nearly all where not."""
    rng, below = np.random.default_rng(29), {"alike": 0, "apart": 0}
    for _ in range(100):
        known = rng.integers(0, 2, 800)
        for name, slopes in (("alike", (0.8, 0.8, 0.8)), ("apart", (2.0, 0.5, -0.8))):
            above = [
                expit(level + slope * known) for level, slope in zip((1.0, 0.0, -1.5), slopes, strict=True)
            ]
            ends = np.minimum.accumulate(np.array([np.ones(800), *above, np.zeros(800)]), axis=0)
            outcome = report(rng, BARE, draw_level(rng, (ends[:-1] - ends[1:]).T))
            cells, counts = np.unique(np.stack([known, outcome]), axis=1, return_counts=True)
            data = LatentData(
                counts.astype(np.float64),
                np.column_stack([np.ones(cells.shape[1]), cells[0]]).astype(np.float64),
                BARE.matrix[:, cells[1]].T,
                np.ones((cells.shape[1], 1)),
                np.zeros((1, 0)),
            )
            test = explain(data, [Predictor((1,), (KNOWN,))]).parallel
            assert test is not None
            assert test.degrees_of_freedom == 2
            below[name] += test.p_value < 0.05
    assert stats.binomtest(below["alike"], 100, 0.05, alternative="greater").pvalue > 1e-6
    assert below["apart"] > 90


@pytest.mark.scaled
@pytest.mark.parametrize("model", ["cumulative", "multinomial"])
def test_slopes_of_levels_are_covered_and_reports_taken_for_answers_are_not(model: Model) -> None:
    rng, studies, covered, twin = np.random.default_rng(31), choose_size(60, 600), 0, 0
    for _ in range(studies):
        known = rng.integers(0, 2, 1500)
        if model == "cumulative":
            outcome = report(rng, FOUR, draw_level(rng, order_chances(0.9 * known)))
        else:
            eta = np.array([0 * known, 0.3 + 0.9 * known, 0 * known, 0 * known]).T
            outcome = report(rng, FOUR, draw_level(rng, np.exp(eta) / np.exp(eta).sum(axis=1, keepdims=True)))
        cells, counts = np.unique(np.stack([known, outcome]), axis=1, return_counts=True)
        for design in (FOUR, BARE):
            data = LatentData(
                counts.astype(np.float64),
                np.column_stack([np.ones(cells.shape[1]), cells[0]]).astype(np.float64),
                design.matrix[:, cells[1]].T,
                np.ones((cells.shape[1], 1)),
                np.zeros((1, 0)),
                model=model,
            )
            ((effect, *_),) = explain(data, [Predictor((1,), (KNOWN,), scores=(np.eye(4)[1],))]).effects
            held = effect.interval[0] < 0.9 < effect.interval[1]
            covered += held and design is FOUR
            twin += held and design is BARE
    assert stats.binomtest(covered, studies, 0.94, alternative="less").pvalue > 1e-6
    assert stats.binomtest(twin, studies, 0.94, alternative="less").pvalue < 1e-6


def number_data(known: Numbers, number: Numbers, z: Numbers, seen: Design = COIN) -> NumberData:
    """A number from 0 to 10 by one bit, and a yes/no answer."""
    guesses = mean_coefficients([COIN], 0, 10).numerators[0]
    answers = share_coefficients([seen]).numerators[1]
    n = len(known)
    return NumberData(
        np.ones(n),
        np.column_stack([np.ones(n), known]).astype(np.float64),
        guesses[number],
        np.ones(n),
        answers[z][:, None],
        np.array([0]),
        10.0,
    )


def number_people(rng: np.random.Generator, n: int) -> tuple[Numbers, Numbers, Numbers]:
    """A mean of 3 + 2 x + 2.5 z, and as each reports."""
    known = rng.integers(0, 2, n)
    z = (rng.random(n) < 0.3 + 0.3 * known).astype(np.int64)
    mean = 3 + 2 * known + 2.5 * z + rng.uniform(-2, 2, n)
    rounded = (rng.random(n) < mean / 10).astype(np.int64)
    return known, report(rng, COIN, rounded), report(rng, COIN, z)


def test_a_number_and_what_is_known_are_ordinary_least_squares_of_guesses() -> None:
    """With White's covariance times n/(n - p), written out."""
    known, number, z = number_people(np.random.default_rng(5), 900)
    data = number_data(known, number, z)
    alone = NumberData(
        data.counts, data.known, data.tops, data.bottoms, np.zeros((900, 0)), np.zeros(0, np.int64), 10.0
    )
    found = explain_number(alone, [Predictor((1,), (KNOWN,))])
    slopes = np.linalg.lstsq(data.known, data.tops, rcond=None)[0]
    rest = data.tops - data.known @ slopes
    inverse = np.linalg.inv(data.known.T @ data.known)
    white = inverse @ (data.known * rest[:, None] ** 2).T @ data.known @ inverse * 900 / 898
    (effect,) = found.effects[0]
    assert (effect.coefficient, effect.standard_error) == pytest.approx((slopes[1], math.sqrt(white[1, 1])))
    reach = stats.t.ppf(0.975, 898) * effect.standard_error
    assert effect.interval == pytest.approx((slopes[1] - reach, slopes[1] + reach))
    assert found.test.p_value == pytest.approx(stats.f.sf((slopes[1] / effect.standard_error) ** 2, 1, 898))


@pytest.mark.scaled
def test_slopes_of_a_number_are_covered_and_reports_taken_for_answers_are_not() -> None:
    rng, studies, covered, twin = np.random.default_rng(37), choose_size(150, 1000), [0, 0], 0
    predictors = [Predictor((1,), (KNOWN,)), Predictor((2,), (ANSWER,))]
    bare = custom([[0.999, 0.001], [0.001, 0.999]])
    for _ in range(studies):
        drawn = number_people(rng, 4000)
        (first,), (second,) = explain_number(number_data(*drawn), predictors).effects
        covered[0] += first.interval[0] < 2 < first.interval[1]
        covered[1] += second.interval[0] < 2.5 < second.interval[1]
        _, (wrong,) = explain_number(number_data(*drawn, bare), predictors).effects
        twin += wrong.interval[0] < 2.5 < wrong.interval[1]
    for own in covered:
        assert stats.binomtest(own, studies, 0.94, alternative="less").pvalue > 1e-6
    assert stats.binomtest(twin, studies, 0.94, alternative="less").pvalue < 1e-6


def test_a_number_of_few_rows_tells_nothing_by_an_answer() -> None:
    found = explain_number(
        number_data(*number_people(np.random.default_rng(3), 60)),
        [Predictor((1,), (KNOWN,)), Predictor((2,), (ANSWER,))],
    )
    assert not found.effects[1][0].tells


def sampled_people(rng: np.random.Generator) -> tuple[LatentData, RowSample, LatentData]:
    """Forty schools of 25, each with its own level and one x for all; weights differ, and rows that count once."""
    schools = np.repeat(np.arange(40), 25)
    known, level = rng.permutation(np.repeat([0, 1], 20))[schools], rng.normal(0, 1.2, 40)[schools]
    truth = (rng.random(1000) < expit(level + 1.0 * known)).astype(np.int64)
    outcome = report(rng, custom([[0.9, 0.1], [0.1, 0.9]]), truth)
    weights = np.where(rng.random(1000) < 0.5, 1.0, 3.0)
    matrix = custom([[0.9, 0.1], [0.1, 0.9]]).matrix
    cells, alike = np.unique(np.stack([known, outcome]), axis=1, return_inverse=True)
    alike = alike.ravel().astype(np.int64)

    def data(counts: Floats) -> LatentData:
        table = np.column_stack([np.ones(cells.shape[1]), cells[0]]).astype(np.float64)
        return LatentData(
            counts, table, matrix[:, cells[1]].T, np.ones((cells.shape[1], 1)), np.zeros((1, 0))
        )

    sample = RowSample(np.arange(1000), alike, SampleDesign(weights, clusters=schools))
    return data(sample.count_alike(weights)), sample, data(np.bincount(alike).astype(np.float64))


@pytest.mark.scaled
@pytest.mark.parametrize("way", ["sandwich", "jackknife", "bootstrap"])
def test_slopes_of_rows_drawn_by_schools_are_covered_and_rows_that_count_for_schools_do_not(way: str) -> None:
    """The marginal slope of levels that vary with a standard deviation of 1.2, by numerical integration."""
    shares = [
        float(np.mean(expit(stats.norm.ppf((np.arange(4000) + 0.5) / 4000) * 1.2 + x))) for x in (0.0, 1.0)
    ]
    truth = math.log(shares[1] / (1 - shares[1])) - math.log(shares[0] / (1 - shares[0]))
    rng = np.random.default_rng(43)
    studies, covered, twin = choose_size(100, 1000) if way == "sandwich" else choose_size(80, 300), 0, 0
    predictor = Predictor((1,), (KNOWN,))
    for _ in range(studies):
        data, sample, people_alone = sampled_people(rng)
        if way != "sandwich":
            design = sample.design
            made = make_jackknife(design) if way == "jackknife" else make_bootstrap(design, 60, 3)
            sample = RowSample(sample.rows, sample.alike, SampleDesign(design.weights, replicates=made))
        ((effect,),) = explain(data, [predictor], sample=sample).effects
        covered += effect.interval[0] < truth < effect.interval[1]
        ((plain,),) = explain(people_alone, [predictor]).effects
        twin += plain.interval[0] < truth < plain.interval[1]
    assert stats.binomtest(covered, studies, 0.94, alternative="less").pvalue > 1e-6
    assert stats.binomtest(twin, studies, 0.94, alternative="less").pvalue < 1e-6


def test_a_sandwich_is_written_out_and_its_test_is_the_wald_one_where_the_estimate_is_near() -> None:
    """A group each: the log odds of two weighted shares, and their variances between schools by the delta method."""
    data, sample, _ = sampled_people(np.random.default_rng(2))
    found = explain(data, [Predictor((1,), (KNOWN,))], sample=sample)
    weights, schools = sample.design.weights, sample.design.clusters
    assert schools is not None
    known = data.known[sample.alike, 1]
    guesses = ((data.outcome[sample.alike, 1] > 0.5) - 0.1) / 0.8
    value, variance = 0.0, 0.0
    sums = np.zeros(40)
    for x, sign in ((0, -1), (1, 1)):
        own = known == x
        share = float(weights[own] @ guesses[own] / weights[own].sum())
        value += sign * math.log(share / (1 - share))
        pulls = own * weights * (guesses - share) / weights[own].sum() / (share * (1 - share))
        sums += sign * np.bincount(schools, pulls)
    variance = 40 / 39 * float(((sums - sums.mean()) ** 2).sum())
    (effect,) = found.effects[0]
    assert effect.coefficient == pytest.approx(value, abs=1e-4)
    # What is left of schools once they were fitted, as a matrix: Bell and McCaffrey (2002), scores one by one.
    scores = list_scores(data, climb(add_ridge(data), np.zeros(2)).theta)[sample.alike]
    bread = np.linalg.inv((scores * weights[:, None]).T @ scores)
    parts = [
        (scores[own] * (weights[own] ** power)[:, None]).T @ scores[own]
        for power in (1, 2)
        for own in (schools == school for school in range(40))
    ]
    told, varied = np.array(parts[:40]) @ bread[:, 1] @ bread, np.array(parts[40:])
    twice = varied @ bread[:, 1]
    left = np.diag(twice @ bread[:, 1]) - twice @ told.T - told @ twice.T + told @ varied.sum(axis=0) @ told.T
    turned = 40 / 39 * (np.eye(40) - 1 / 40) @ left
    variance *= float(twice.sum(axis=0) @ bread[:, 1]) / float(np.trace(turned))
    freedom = float(np.trace(turned)) ** 2 / float(np.trace(turned @ turned))
    assert 25 < freedom < 38
    assert effect.standard_error == pytest.approx(math.sqrt(variance), rel=2e-3)
    reach = stats.t.ppf(0.975, freedom) * math.sqrt(variance)
    assert effect.interval == pytest.approx((value - reach, value + reach), abs=0.05)
    assert found.test.statistic == pytest.approx(value**2 / variance, rel=0.05)
    assert found.test.p_value == pytest.approx(stats.f.sf(found.test.statistic, 1, freedom), rel=0.02)
