"""Coefficients that hang on a few schools or rows: repeated studies of no effect, and twins that trust what is seen.

Coverage is held against 0.94, and rejections against 0.06, with a false-alarm rate of 1e-6.
"""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from server.privacy.estimators.average_effects import EffectSetting
from server.privacy.estimators.explained_effects import Explanation
from server.privacy.estimators.explaining import Predictor, explain
from server.privacy.estimators.few_units import CoefficientUnits
from server.privacy.estimators.latent_likelihood import LatentData
from server.privacy.estimators.number_explaining import NumberData, explain_number
from server.privacy.estimators.replicate_weights import make_jackknife
from server.privacy.estimators.sample_designs import SampleDesign
from server.privacy.estimators.sampled_rows import RowSample
from tests.support.scale import choose_size

Floats = NDArray[np.float64]
SIDE = Predictor((1,), ((EffectSetting(True, (1,), (0.0,)), EffectSetting(True, (1,), (1.0,))),))
COIN = np.array([[0.75, 0.25], [0.25, 0.75]])


def explain_levels(
    rng: np.random.Generator, schools: NDArray[np.int64], side: Floats, levels: int, *, made: bool = False
) -> Explanation:
    """Levels that schools differ in, and sides do not."""
    drawn = rng.normal(0, 0.5, schools.max() + 1)[schools] + rng.logistic(0, 1, len(schools))
    truth = np.searchsorted(np.linspace(-1.5, 1.5, levels - 1) if levels > 2 else [0.0], drawn)
    matrix = COIN if levels == 2 else np.full((levels, levels), 0.1 / (levels - 1))
    matrix = matrix if levels == 2 else matrix + np.eye(levels) * (0.9 - 0.1 / (levels - 1))
    reports = (rng.random(len(truth))[:, None] > np.cumsum(matrix[truth], axis=1)[:, :-1]).sum(axis=1)
    keys, alike = np.unique(reports * 2 + side.astype(np.int64), return_inverse=True)
    known = np.column_stack([np.ones(len(keys)), keys % 2 - side.mean()])
    counts = np.bincount(alike).astype(np.float64)
    data = LatentData(counts, known, matrix[:, keys // 2].T, np.ones((len(keys), 1)), np.zeros((1, 0)))
    design = SampleDesign(np.ones(len(side)), clusters=schools)
    if made:
        design = SampleDesign(design.weights, replicates=make_jackknife(design))
    return explain(data, [SIDE], sample=RowSample(np.arange(len(side)), alike.astype(np.int64), design))


def explain_side(number: Floats, side: Floats, schools: NDArray[np.int64] | None = None) -> Explanation:
    """A number by one bit under a coin."""
    rows = len(side)
    data = NumberData(
        np.ones(rows),
        np.column_stack([np.ones(rows), side - side.mean()]),
        number,
        np.ones(rows),
        np.zeros((rows, 0)),
        np.zeros(0, np.int64),
        10.0,
    )
    if schools is None:
        return explain_number(data, [SIDE])
    sample = RowSample(np.arange(rows), np.arange(rows), SampleDesign(np.ones(rows), clusters=schools))
    return explain_number(data, [SIDE], sample=sample)


def trust_what_is_seen(number: Floats, side: Floats, schools: NDArray[np.int64]) -> bool:
    """The broken twin: an interval of the plain sandwich, with a degree of freedom for each school but one."""
    table = np.column_stack([np.ones(len(side)), side])
    inverse = np.linalg.inv(table.T @ table)
    slopes = inverse @ table.T @ number
    scores = table * (number - table @ slopes)[:, None]
    sums = np.stack([np.bincount(schools, column) for column in scores.T], axis=1)
    count = len(sums)
    error = math.sqrt((inverse @ sums.T @ sums @ inverse)[1, 1] * count / (count - 1))
    return bool(abs(slopes[1]) <= stats.t.ppf(0.975, count - 1) * error)


@pytest.mark.scaled
@pytest.mark.parametrize(("schools", "those"), [(8, 1), (20, 2)])
def test_sides_of_one_or_two_schools_are_covered_and_by_what_is_seen_are_not(
    schools: int, those: int
) -> None:
    rng, studies, covered, twin = np.random.default_rng(11), choose_size(200, 1000), 0, 0
    school = np.repeat(np.arange(schools), 40)
    side = (school < those).astype(np.float64)
    for _ in range(studies):
        mean = np.clip(5 + rng.normal(0, 1, schools)[school] + rng.uniform(-2, 2, len(school)), 0, 10)
        bit = rng.random(len(school)) < mean / 10
        number = np.where(np.where(rng.random(len(school)) < 0.75, bit, ~bit), 15.0, -5.0)
        ((effect,),) = explain_side(number, side, school).effects
        covered += effect.interval[0] < 0 < effect.interval[1]
        twin += trust_what_is_seen(number, side, school)
    assert stats.binomtest(covered, studies, 0.94, alternative="less").pvalue > 1e-6
    assert stats.binomtest(twin, studies, 0.94, alternative="less").pvalue < 1e-6


@pytest.mark.scaled
def test_the_odds_of_two_schools_of_twenty_are_covered() -> None:
    rng, studies, covered = np.random.default_rng(12), choose_size(60, 500), 0
    school = np.repeat(np.arange(20), 40)
    for _ in range(studies):
        ((effect,),) = explain_levels(rng, school, (school < 2).astype(np.float64), 2).effects
        covered += effect.interval[0] < 0 < effect.interval[1]
    assert stats.binomtest(covered, studies, 0.94, alternative="less").pvalue > 1e-6


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_few_rows_that_happen_to_be_alike_tell_nothing(rows: int) -> None:
    side = (np.arange(200) < rows).astype(np.float64)
    number = np.where(side == 1, -5.0, np.where(np.arange(200) % 2, 15.0, -5.0))
    found = explain_side(number, side)
    assert not found.effects[0][0].tells
    assert found.test.p_value > 0.05
    reports = (number > 0).astype(np.int64)
    keys, alike = np.unique(reports * 2 + side.astype(np.int64), return_inverse=True)
    known = np.column_stack([np.ones(len(keys)), keys % 2 - side.mean()])
    data = LatentData(
        np.bincount(alike).astype(np.float64),
        known,
        COIN[:, keys // 2].T,
        np.ones((len(keys), 1)),
        np.zeros((1, 0)),
    )
    sample = RowSample(np.arange(200), alike.astype(np.int64), SampleDesign(np.ones(200)))
    assert not explain(data, [SIDE], sample=sample).effects[0][0].tells


@pytest.mark.scaled
@pytest.mark.parametrize("made", [False, True])
def test_steps_that_are_alike_seldom_seem_to_differ_between_few_schools(made: bool) -> None:
    """Six numbers are tested with 7 degrees of freedom; of 8, more than there are, nothing is said."""
    rng, studies = np.random.default_rng(13), choose_size(60, 400)
    schools = np.repeat(np.arange(8), 50)
    found = [
        explain_levels(rng, schools, rng.integers(0, 2, 400).astype(np.float64), 8, made=made).parallel
        for _ in range(studies if not made else studies // 2)
    ]
    told = [test for test in found if test is not None]
    seem = sum(test.p_value < 0.05 for test in told)
    assert stats.binomtest(seem, len(told), 0.06, alternative="greater").pvalue > 1e-6
    if not made:  # the broken twin: as if there were schools without end
        twin = sum(
            stats.chi2.sf(test.statistic * 7 / (7 - test.degrees_of_freedom + 1), test.degrees_of_freedom)
            < 0.05
            for test in told
        )
        assert stats.binomtest(twin, len(told), 0.06, alternative="greater").pvalue < 1e-6
    many = explain_levels(rng, schools, rng.integers(0, 2, 400).astype(np.float64), 10, made=made)
    assert many.parallel is None


def test_units_that_tell_as_much_lose_one_degree_for_each_stratum() -> None:
    units = CoefficientUnits(
        np.ones(12),
        np.zeros((12, 2)),
        np.zeros((2, 2)),
        np.repeat([0, 1], 6),
        np.array([6, 6]),
        np.ones(12),
    )
    assert units.judge() == pytest.approx((1.0, 10.0))
