"""Strata that count by their populations: what goes with an answer is of the population, and varies inside strata."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from server.privacy.designs import custom
from server.privacy.estimators.average_effects import EffectSetting
from server.privacy.estimators.explained_effects import ExplainedEffect
from server.privacy.estimators.explaining import Predictor, explain
from server.privacy.estimators.latent_likelihood import LatentData
from server.privacy.estimators.number_explaining import NumberData, explain_number
from server.privacy.estimators.sample_designs import Floats, SampleDesign
from server.privacy.estimators.sampled_rows import RowSample
from server.privacy.estimators.stratum_samples import StratumSample
from tests.support.scale import choose_size

MATRIX = custom([[0.9, 0.1], [0.1, 0.9]]).matrix
SIDE = Predictor((1,), ((EffectSetting(True, (1,), (0.0,)), EffectSetting(True, (1,), (1.0,))),))
SHARES, SIZES = np.array([0.8, 0.2]), (100, 900)
ON_SIDE = (0.4, 0.6)
YES = np.array([[0.3, 0.6], [0.6, 0.3]])
"""Of each stratum the share of yes on either side: they go the other way."""


def find_truth() -> float:
    """The log odds ratio in the population, from its table of sides and answers."""
    side = SHARES[:, None] * np.array([[1 - own, own] for own in ON_SIDE])
    odds = [p / (1 - p) for p in (side * YES).sum(axis=0) / side.sum(axis=0)]
    return math.log(odds[1] / odds[0])


def draw(rng: np.random.Generator, sizes: tuple[int, ...] = SIZES) -> Floats:
    """How many of each stratum are on each side and report what, shape (strata, sides, reports)."""
    found = np.empty((2, 2, 2))
    for stratum, size in enumerate(sizes):
        chances = np.array([1 - ON_SIDE[stratum], ON_SIDE[stratum]])[:, None]
        truth = np.stack([1 - YES[stratum], YES[stratum]], axis=1) * chances
        found[stratum] = rng.multinomial(size, (truth @ MATRIX).ravel()).reshape(2, 2)
    return found


def arrange(counts: Floats) -> tuple[LatentData, StratumSample]:
    """Rows that are alike in a stratum once."""
    strata, sides, reports = (each.ravel() for each in np.indices(counts.shape))
    people = counts.ravel()
    sample = StratumSample.of(people, strata, SHARES)
    known = np.column_stack([np.ones(len(sides)), sides]).astype(np.float64)
    rows = len(people)
    return LatentData(
        sample.counts, known, MATRIX[:, reports].T, np.ones((rows, 1)), np.zeros((1, 0))
    ), sample


def take_effect(data: LatentData, sample: RowSample | None) -> ExplainedEffect:
    ((effect,),) = explain(data, [SIDE], sample=sample).effects
    return effect


@pytest.mark.scaled
def test_intervals_hold_what_is_true_of_the_population_and_both_twins_miss_it() -> None:
    """A fifth of the people gave nine tenths of the responses. Twins: all count the same; weights as if of people."""
    rng, studies, truth = np.random.default_rng(11), choose_size(100, 1500), find_truth()
    held = {"weighted": 0, "unweighted": 0, "no sandwich": 0}
    for _ in range(studies):
        data, sample = arrange(draw(rng))
        for name, own, drawn in (
            ("weighted", data, sample),
            ("unweighted", replace(data, counts=sample.people), None),
            ("no sandwich", data, None),
        ):
            effect = take_effect(own, drawn)
            held[name] += effect.interval[0] < truth < effect.interval[1]
    assert stats.binomtest(held["weighted"], studies, 0.94, alternative="less").pvalue > 1e-6
    for twin in ("unweighted", "no sandwich"):
        assert stats.binomtest(held[twin], studies, 0.94, alternative="less").pvalue < 1e-6, twin


def test_a_coefficient_and_its_error_are_those_written_out_by_stratum() -> None:
    """A group each: the log odds of two weighted shares; people vary around the means of their stratum alone."""
    counts = 10 * draw(np.random.default_rng(2), (400, 600))
    effect = take_effect(*arrange(counts))
    weights = SHARES / counts.sum(axis=(1, 2))
    guesses = (np.array([0.0, 1.0]) - 0.1) / 0.8
    value, pulls = 0.0, np.zeros((2, 2, 2))
    for side, sign in ((0, -1), (1, 1)):
        masses = weights[:, None] * counts[:, side]
        share = float((masses * guesses).sum() / masses.sum())
        value += sign * math.log(share / (1 - share))
        pulls[:, side] += sign * weights[:, None] * (guesses - share) / masses.sum() / (share * (1 - share))
    variance = 0.0
    for own, pull in zip(counts, pulls, strict=True):
        n, mean = own.sum(), (own * pull).sum() / own.sum()
        variance += n / (n - 1) * float((own * (pull - mean) ** 2).sum())
    assert effect.coefficient == pytest.approx(value, abs=1e-4)
    assert effect.standard_error == pytest.approx(math.sqrt(variance), rel=1e-3)
    # The twin: people around the mean of all.
    mean = (counts * pulls).sum() / counts.sum()
    assert math.sqrt(float((counts * (pulls - mean) ** 2).sum())) > 1.005 * effect.standard_error


def test_rows_that_are_alike_say_what_their_people_do_one_by_one() -> None:
    counts = draw(np.random.default_rng(4), (40, 90))
    data, sample = arrange(counts)
    people = counts.ravel().astype(np.int64)
    alike = np.repeat(np.arange(8), people)
    assert sample.design.strata is not None
    design = SampleDesign(sample.design.weights[alike], strata=sample.design.strata[alike])
    written_out = RowSample(np.arange(len(alike)), alike, design)
    assert sample.degrees_of_freedom == written_out.degrees_of_freedom == 128
    scores = np.random.default_rng(5).normal(size=(8, 3))
    np.testing.assert_allclose(sample.spread(scores), written_out.spread(scores), rtol=1e-9)
    bread = np.linalg.inv(scores.T @ (scores * data.counts[:, None]))
    for products in (None, scores**2):
        own, other = (each.list_units(scores, 1, bread, products).judge() for each in (sample, written_out))
        assert own == pytest.approx(other, rel=1e-9)
    assert take_effect(data, sample).interval == pytest.approx(take_effect(data, written_out).interval)
    numbers = NumberData(
        data.counts, data.known, data.outcome[:, 1], np.ones(8), np.zeros((8, 0)), np.zeros(0, np.int64), 1.0
    )
    found = [explain_number(numbers, [SIDE], sample=each).effects for each in (sample, written_out)]
    assert found[0][0][0].interval == pytest.approx(found[1][0][0].interval)


def test_where_strata_count_as_many_as_answered_the_estimate_is_the_unweighted_one() -> None:
    data, sample = arrange(draw(np.random.default_rng(6), (800, 200)))
    plain = take_effect(replace(data, counts=sample.people), None)
    assert take_effect(data, sample).coefficient == pytest.approx(plain.coefficient, abs=1e-8)
