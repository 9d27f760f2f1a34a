"""Replicate weights where a few schools are on one side: as `test_few_units` for the sandwich.

Coverage is held against 0.94 with a false-alarm rate of 1e-6. The twin trusts as many degrees of freedom as there are
schools, less one, which is what is done where nothing is judged.
"""

import numpy as np
import pytest
from scipy import stats

from server.privacy.estimators.average_effects import EffectSetting
from server.privacy.estimators.explained_effects import ExplainedEffect
from server.privacy.estimators.explaining import Predictor
from server.privacy.estimators.number_explaining import NumberData, explain_number
from server.privacy.estimators.replicate_freedom import judge_replicates
from server.privacy.estimators.replicate_weights import make_bootstrap, make_jackknife, use_replicates
from server.privacy.estimators.sample_designs import Floats, Groups, SampleDesign
from server.privacy.estimators.sampled_moments import measure_means
from server.privacy.estimators.sampled_rows import RowSample
from tests.support.scale import choose_size

EACH = 40
SIDE = Predictor((1,), ((EffectSetting(True, (1,), (0.0,)), EffectSetting(True, (1,), (1.0,))),))


def draw_numbers(rng: np.random.Generator, school: Groups) -> Floats:
    """A number that schools differ in, by one bit under a coin."""
    mean = 5 + rng.normal(0, 1, school.max() + 1)[school] + rng.uniform(-2, 2, len(school))
    bit = rng.random(len(school)) < np.clip(mean, 0, 10) / 10
    return np.where(np.where(rng.random(len(school)) < 0.75, bit, ~bit), 15.0, -5.0)


def explain(number: Floats, side: Floats, design: SampleDesign) -> ExplainedEffect:
    rows = len(number)
    known = np.column_stack([np.ones(rows), side - side.mean()])
    data = NumberData(
        np.ones(rows), known, number, np.ones(rows), np.zeros((rows, 0)), np.zeros(0, np.int64), 10.0
    )
    sample = RowSample(np.arange(rows), np.arange(rows), design)
    ((effect,),) = explain_number(data, [SIDE], sample=sample).effects
    return effect


def covers(effect: ExplainedEffect) -> bool:
    return effect.interval[0] < 0 < effect.interval[1]


def trusts(number: Floats, side: Floats, design: SampleDesign, freedom: int) -> bool:
    """By what is seen between the replicates, and no more."""
    replicates = design.replicates
    assert replicates is not None

    def compare(weights: Floats) -> Floats:
        return np.array([np.average(number, weights=weights * (side == which)) for which in (0, 1)])

    again = np.array([compare(replicates.make(place)) for place in range(replicates.count)])
    (low, high), spread = compare(design.weights), replicates.vary(again, compare(design.weights))
    error = np.sqrt(spread[0, 0] + spread[1, 1] - 2 * spread[0, 1])
    return bool(abs(high - low) <= stats.t.ppf(0.975, freedom) * error)


def judge_coverage(covered: int, twin: int, studies: int) -> None:
    assert stats.binomtest(covered, studies, 0.94, alternative="less").pvalue > 1e-6
    assert stats.binomtest(twin, studies, 0.94, alternative="less").pvalue < 1e-6


@pytest.mark.scaled
def test_two_schools_of_twenty_left_out_in_turn_are_covered() -> None:
    rng, studies, covered, twin = np.random.default_rng(21), choose_size(800, 2000), 0, 0
    school = np.repeat(np.arange(20), EACH)
    side = (school < 2).astype(np.float64)
    drawn = SampleDesign(np.ones(len(side)), clusters=school)
    design = SampleDesign(drawn.weights, replicates=make_jackknife(drawn))
    for _ in range(studies):
        number = draw_numbers(rng, school)
        covered += covers(explain(number, side, design))
        twin += trusts(number, side, design, 19)
    judge_coverage(covered, twin, studies)


def judge(design: SampleDesign, table: Floats) -> tuple[float, float]:
    replicates = design.replicates
    assert replicates is not None
    factors, freedoms = judge_replicates(table, design.weights, replicates, replicates.make)
    return float(factors[-1]), float(freedoms[-1])


def test_the_mean_of_units_that_are_alike_has_one_degree_less_than_there_are() -> None:
    rows = SampleDesign(np.ones(24), clusters=np.repeat(np.arange(12), 2))
    left_out = SampleDesign(rows.weights, replicates=make_jackknife(rows))
    factor, freedom = judge(left_out, np.ones((24, 1)))
    assert (factor, freedom) == pytest.approx((1.0, 11.0))
    drawn_again = SampleDesign(rows.weights, replicates=make_bootstrap(rows, 2000, seed=1))
    factor, freedom = judge(drawn_again, np.ones((24, 1)))
    assert factor == pytest.approx(1.0, abs=0.05)
    assert freedom == pytest.approx(11, rel=0.05)


def test_columns_are_judged_like_the_clusters_that_they_were_made_from() -> None:
    rows = SampleDesign(np.ones(200), clusters=np.repeat(np.arange(20), 10))
    side = (np.arange(200) < 20).astype(np.float64)
    table = np.column_stack([np.ones(200), side])
    made = make_jackknife(rows)
    columns = use_replicates([made.make(number) for number in range(20)], "jk1", centred=False)
    own = judge(SampleDesign(rows.weights, replicates=columns), table)
    assert own == pytest.approx(judge(SampleDesign(rows.weights, replicates=made), table))
    # Two schools against eighteen: one degree, and a little of what the others tell.
    assert 1.0 < own[1] < 1.5


def test_of_the_only_school_of_a_side_nothing_is_known() -> None:
    rows = SampleDesign(np.ones(80), clusters=np.repeat(np.arange(8), 10))
    side = (np.arange(80) < 10).astype(np.float64)
    left_out = SampleDesign(rows.weights, replicates=make_jackknife(rows))
    factor, freedom = judge(left_out, np.column_stack([np.ones(80), side]))
    assert factor > 10
    assert freedom < 7


@pytest.mark.parametrize("counted", [0.0, 1e-300, 1e-9, 1e-3, 1.0])
def test_fits_to_replicates_that_are_alike_or_hardly_count_make_no_slope_certain(counted: float) -> None:
    """As of a census, or of schools that happen to have answered alike: the slope of a number was taken for exact."""
    school = np.repeat(np.arange(20), EACH)
    side = (np.arange(len(school)) % 2).astype(np.float64)
    alike = np.where(np.arange(len(school)) // 2 % 2, 15.0, -5.0)
    rows = SampleDesign(np.ones(len(side)))
    made = make_jackknife(SampleDesign(rows.weights, clusters=school))
    columns = [made.make(place) for place in range(20)]
    census = use_replicates(columns, "jkn", rscales=np.full(20, counted), centred=False)
    for number in (alike, draw_numbers(np.random.default_rng(5), school)) if counted < 1 else (alike,):
        own = explain(number, side, SampleDesign(rows.weights, replicates=census))
        alone = explain(number, side, rows)
        assert own.standard_error == pytest.approx(alone.standard_error, rel=0.002)
        assert own.interval == pytest.approx(alone.interval, abs=0.2)  # of 19 degrees of freedom, or of 798


@pytest.mark.parametrize("counted", [0.0, 1e-9])
def test_means_of_rows_without_coins_are_no_more_certain_for_replicates_of_a_census(counted: float) -> None:
    """As of lists and sums: who got which list is drawn anew, whoever was asked."""
    rng = np.random.default_rng(6)
    rows = SampleDesign(rng.choice([1.0, 3.0], 60), clusters=np.repeat(np.arange(12), 5))
    columns = [make_jackknife(rows).make(place) for place in range(12)]
    census = use_replicates(columns, "jkn", rscales=np.full(12, counted))
    numbers, inside = rng.normal(5, 2, (60, 1)), np.ones((60, 1))
    alone = SampleDesign(rows.weights)
    found = measure_means(numbers, inside, SampleDesign(rows.weights, replicates=census)).measure(0, 0.95)
    assert found == measure_means(numbers, inside, alone).measure(0, 0.95)
