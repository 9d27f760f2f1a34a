"""The likelihood of many combinations of answers, half by half, beside the one that writes every combination out.

Both are functions of the same numbers: values, gradients and curvatures must be equal to rounding, on random designs of
several versions. The twin takes two versions' coins for one and the same.
"""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from scipy.special import expit

from server.privacy.designs import coin_flip
from server.privacy.estimators.answer_pairs import list_pairs
from server.privacy.estimators.average_effects import EffectSetting
from server.privacy.estimators.climbing import add_ridge, bend, climb
from server.privacy.estimators.combined_likelihood import CombinedModel, CombinedState
from server.privacy.estimators.combined_scores import list_efficient_scores
from server.privacy.estimators.combined_search import conjugate
from server.privacy.estimators.combined_tally import make_tally
from server.privacy.estimators.explaining import Predictor, explain
from server.privacy.estimators.explanation_limits import refuse_combinations
from server.privacy.estimators.latent_likelihood import LatentData, evaluate_latent, list_scores
from server.privacy.estimators.outcome_levels import OutcomeModel
from server.privacy.estimators.sample_designs import SampleDesign
from server.privacy.estimators.sampled_rows import RowSample
from server.privacy.estimators.starting import find_start
from tests.privacy.test_explaining_outcomes import ANSWER, KNOWN, latent
from tests.support.scale import choose_size

Floats = NDArray[np.float64]
SIZES = (2, 3, 2)
CASES: list[tuple[int, OutcomeModel, int]] = [
    (2, "cumulative", 0),
    (2, "cumulative", 1),
    (3, "cumulative", 2),
    (3, "multinomial", 1),
]


def draw_design(rng: np.random.Generator, size: int) -> Floats:
    """Any chances of reports, a row for each truth."""
    return np.asarray(rng.dirichlet(np.ones(size), size) * 0.7 + 0.3 * np.eye(size))


def draw_data(seed: int, levels: int, model: OutcomeModel, known: int) -> LatentData:
    """Reports of 200 people to three questions and the outcome, in two versions; known numbers of three values."""
    rng, n = np.random.default_rng(seed), 200
    version = rng.integers(0, 2, n)
    outcomes = [draw_design(rng, levels) for _ in range(2)]
    designs = [[draw_design(rng, size) for size in SIZES] for _ in range(2)]
    parts = tuple(
        np.array(
            [designs[v][k][:, report] for v, report in zip(version, rng.integers(0, size, n), strict=True)]
        )
        for k, size in enumerate(SIZES)
    )
    outcome = np.array(
        [outcomes[v][:, report] for v, report in zip(version, rng.integers(0, levels, n), strict=True)]
    )
    others = np.ones((n, 1))
    for part in parts:
        others = (others[:, :, None] * part[:, None, :]).reshape(n, -1)
    marks = [(k, level) for k, size in enumerate(SIZES) for level in range(1, size)]
    dummies = np.array([[float(found[k] == level) for k, level in marks] for found in np.ndindex(*SIZES)])
    table = np.column_stack([np.ones(n), *(rng.integers(-1, 2, n) for _ in range(known))])
    counts = rng.integers(1, 5, n).astype(float)
    return LatentData(counts, table, outcome, others, dummies, model=model, parts=parts, written_out=True)


def compare(dense: LatentData, combined: LatentData, seed: int) -> tuple[float, float, float]:
    """The largest differences of values, gradients and curvatures at a random place."""
    rng = np.random.default_rng(seed)
    slopes = rng.normal(size=dense.slopes) * 0.5
    logits = np.vstack([np.zeros(dense.known.shape[1]), rng.normal(size=(11, dense.known.shape[1]))])
    expected = evaluate_latent(dense, np.concatenate([slopes, logits[1:].ravel()]))
    tally = make_tally(combined.counts, combined.known, combined.outcome, combined.parts)
    model = CombinedModel(
        tally, combined.dummies, combined.levels, combined.model, combined.on_step, prior_weight=0.0
    )
    state = CombinedState(model, slopes, logits)
    gradient = np.concatenate([state.gradient, state.towards[1:].ravel()])
    rows = []
    for unit in np.eye(len(gradient)):
        step = np.vstack([np.zeros(logits.shape[1]), unit[slopes.size :].reshape(11, -1)])
        one, other = state.multiply(unit[: slopes.size], step, upwards=False)
        rows.append(np.concatenate([one, other[1:].ravel()]))
    return (
        abs(state.value - expected.value) / abs(expected.value),
        float(np.abs(gradient - expected.gradient).max() / np.abs(expected.gradient).max()),
        float(np.abs(np.array(rows) - expected.information).max() / np.abs(expected.information).max()),
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("levels", "model", "known"), CASES)
def test_both_likelihoods_have_the_same_value_gradient_and_curvature(
    levels: int, model: OutcomeModel, known: int, seed: int
) -> None:
    data = draw_data(seed, levels, model, known)
    assert max(compare(data, data, seed + 50)) < 1e-10


def test_versions_whose_coins_are_mixed_up_are_caught() -> None:
    """The twin: the second half of the rows with the chances of the first half."""
    data = draw_data(1, 2, "cumulative", 0)
    first = data.parts[0].copy()
    first[100:] = first[:100]
    assert min(compare(data, replace(data, parts=(first, *data.parts[1:])), 51)) > 1e-4


@pytest.mark.parametrize(("levels", "model", "known"), CASES)
def test_sums_of_terms_slope_and_bend_as_what_they_are_sums_of(
    levels: int, model: OutcomeModel, known: int
) -> None:
    """By the chain rule, at a random place; five terms for twelve combinations."""
    data, rng = draw_data(4, levels, model, known), np.random.default_rng(5)
    terms, slopes = rng.normal(size=(12, 5)), rng.normal(size=data.slopes) * 0.5
    logits, step = rng.normal(size=(2, 5, 1 + known)) * 0.5
    tally = make_tally(data.counts, data.known, data.outcome, data.parts)
    whole = CombinedModel(tally, data.dummies, levels, model, data.on_step, prior_weight=0.0)
    found = CombinedState(replace(whole, terms=terms), slopes, logits)
    expected = CombinedState(whole, slopes, terms @ logits)
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    np.testing.assert_allclose(found.gradient, expected.gradient, rtol=1e-9)
    np.testing.assert_allclose(found.towards, terms.T @ expected.towards, rtol=1e-9, atol=1e-9)
    (one, other), (own, beside) = (
        found.multiply(slopes, step),
        expected.multiply(slopes, terms @ step, upwards=False),
    )
    np.testing.assert_allclose(one, own, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(other, terms.T @ beside, rtol=1e-9, atol=1e-9)


def expect_answers(chances: Floats, slopes: Floats, people: float, gamma: float) -> LatentData:
    """As many reports of each kind as are expected, of questions of Yes or No."""
    questions = len(slopes) - 1
    truths = np.array(list(np.ndindex(*(2,) * questions)), dtype=np.float64)
    yes = expit(slopes[0] + truths @ slopes[1:])
    table = np.concatenate([chances * (1 - yes), chances * yes]).reshape((2,) * (questions + 1))
    coin = coin_flip(gamma).matrix
    for axis in range(questions + 1):
        table = np.moveaxis(np.tensordot(coin, table, (0, axis)), 0, axis)
    rows = np.array(list(np.ndindex(*table.shape)))
    parts = tuple(coin[:, rows[:, 1 + k]].T for k in range(questions))
    ones = np.ones((len(rows), 1))
    return LatentData(people * table.ravel(), ones, coin[:, rows[:, 0]].T, ones, truths, parts=parts)


def test_single_answers_and_pairs_tell_how_often_combinations_occur(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hidden kinds of people, one of which says yes to nearly all: slopes are right to a tenth of their errors.

    The twin takes answers to be independent.
    """
    truths = np.array(list(np.ndindex(*(2,) * 7)), dtype=np.float64)
    chances = sum(
        part * np.where(truths == 1, yes, 1 - yes).prod(axis=1) for part, yes in ((0.3, 0.7), (0.7, 0.15))
    )
    slopes = np.array([-1.0, 1, 0, 0, 0, 0, 0, 0])

    def miss() -> Floats:
        data = expect_answers(np.asarray(chances), slopes, 20_000, 0.25)
        likelihood = add_ridge(data)
        top = bend(likelihood, climb(likelihood, find_start(data)))
        return np.asarray(np.abs(top.theta - slopes) * np.sqrt(np.diag(top.information)))

    assert miss().max() < 0.1
    pairs = list_pairs(truths)
    assert pairs is not None
    monkeypatch.setattr("server.privacy.estimators.latent_likelihood.list_pairs", lambda _: pairs[:, :7])
    assert miss().max() > 1


def test_of_two_questions_with_many_options_every_pair_is_a_combination() -> None:
    """Then nothing is left out: as of few combinations, each has a chance of its own."""
    nine = np.eye(9)[:, 1:]
    both = np.concatenate([np.repeat(nine, 9, axis=0), np.tile(nine, (9, 1))], axis=1)
    assert list_pairs(both) is None
    assert list_pairs(np.array(list(np.ndindex(*(2,) * 6)), dtype=np.float64)) is None
    three = np.array([np.concatenate([nine[k] for k in found]) for found in np.ndindex(9, 9, 9)])
    terms = list_pairs(three)
    assert terms is not None
    assert terms.shape == (729, 24 + 3 * 64)


def draw_answers(people: int, questions: int, gamma: float, seed: int, known: bool = False) -> LatentData:
    """Simulated: three in ten say yes to each question; the log odds of the outcome are 1 more with the first."""
    rng, coin = np.random.default_rng(seed), coin_flip(gamma)
    truths = rng.random((people, questions)) < 0.3
    group = rng.integers(0, 2, people) * known
    yes = rng.random(people) < expit(-1 + truths[:, 0] + 0.5 * group)
    flipped = np.column_stack([group, yes, truths]) ^ (rng.random((people, questions + 2)) < 0.5 - gamma)
    flipped[:, 0] = group
    rows, counts = np.unique(flipped.astype(np.int64), axis=0, return_counts=True)
    parts = tuple(coin.matrix[:, rows[:, k + 2]].T for k in range(questions))
    others = np.ones((len(rows), 1))
    for part in parts if questions < 5 else ():
        others = (others[:, :, None] * part[:, None, :]).reshape(len(rows), -1)
    table = np.column_stack([np.ones(len(rows)), rows[:, 0] - 0.5])[:, : 1 + known]
    dummies = np.array(list(np.ndindex(*(2,) * questions)), dtype=np.float64)
    return LatentData(
        counts.astype(np.float64), table, coin.matrix[:, rows[:, 1]].T, others, dummies, parts=parts
    )


def list_predictors(data: LatentData) -> list[Predictor]:
    """Each known column and each question: yes against no."""
    width = data.known.shape[1]
    places = [(True, k) for k in range(1, width)] + [(False, k) for k in range(data.dummies.shape[1])]
    return [
        Predictor(
            (k if known else width + k,),
            ((EffectSetting(known, (k,), (-0.5 * known,)), EffectSetting(known, (k,), (1 - 0.5 * known,))),),
        )
        for known, k in places
    ]


@pytest.mark.parametrize("known", [False, True])
def test_both_ways_explain_an_answer_alike(known: bool) -> None:
    """Estimates, errors, profile limits, average effects and tests, to a hundredth of a standard error."""
    data = draw_answers(3000, 3, 0.35, 3, known)
    expected = explain(replace(data, written_out=True), list_predictors(data))
    # One factor for all questions does as well as one for each.
    parts = () if known else data.parts
    assert data.combined
    found = explain(replace(data, parts=parts), list_predictors(data))
    assert not expected.prior
    assert not found.prior
    for (own,), (other,) in zip(found.effects, expected.effects, strict=True):
        near = 0.01 * other.standard_error
        assert other.method == "profile"
        assert own.coefficient == pytest.approx(other.coefficient, abs=near)
        assert own.interval == pytest.approx(other.interval, abs=near)
        assert own.standard_error == pytest.approx(other.standard_error, rel=0.01)
        assert own.average == pytest.approx(other.average, abs=0.01 * other.average_error)
        assert own.average_error == pytest.approx(other.average_error, rel=0.01)
    for own, other in zip((*found.tests, found.test), (*expected.tests, expected.test), strict=True):
        assert own.statistic == pytest.approx(other.statistic, abs=0.01, rel=0.01)


class Combined(LatentData):
    """Rows whose combinations are not written out, few as they are, and though they were drawn unevenly."""

    @property
    def combined(self) -> bool:  # type: ignore[override]
        return True


def draw_unevenly(data: LatentData, seed: int) -> tuple[LatentData, RowSample]:
    """Rows with weights of 1 and 4, and what they count."""
    rng, alike = np.random.default_rng(seed), np.repeat(np.arange(len(data.counts)), data.counts.astype(int))
    sample = RowSample(np.arange(len(alike)), alike, SampleDesign(rng.choice([1.0, 4.0], len(alike))))
    return replace(data, counts=sample.count_alike(sample.design.weights)), sample


def test_both_ways_know_how_much_weighted_rows_vary() -> None:
    """Errors of slopes and average effects, to a fiftieth: of 3,000 rows none tells much alone."""
    data, sample = draw_unevenly(draw_answers(3000, 3, 0.35, 3, known=True), 8)
    expected = explain(data, list_predictors(data), sample=sample)
    found = explain(Combined(**vars(data)), list_predictors(data), sample=sample)
    plain = explain(data, list_predictors(data))
    for (own,), (other,), (even,) in zip(found.effects, expected.effects, plain.effects, strict=True):
        assert other.standard_error > 1.1 * even.standard_error
        assert own.standard_error == pytest.approx(other.standard_error, rel=0.02)
        assert own.average_error == pytest.approx(other.average_error, rel=0.02)
        assert own.interval == pytest.approx(other.interval, abs=0.05 * other.standard_error)


def test_efficient_scores_are_what_chances_of_combinations_do_not_tell() -> None:
    """By all coefficients written out and their curvature; the twin takes the chances of combinations for known."""
    data, sample = draw_unevenly(draw_answers(6000, 3, 0.25, 3), 8)
    likelihood = add_ridge(data)
    bend(likelihood, climb(likelihood, find_start(data)))
    curvature = data.search.measured
    logits, size = curvature.state.logits, data.slopes
    theta = np.concatenate([curvature.state.slopes, (logits - logits[0])[1:].ravel()])
    written = replace(data, written_out=True)
    scores, bends = list_scores(written, theta), evaluate_latent(written, theta).information
    expected = scores[:, :size] - scores[:, size:] @ np.linalg.solve(bends[size:, size:], bends[size:, :size])
    found = list_efficient_scores(data, curvature)
    assert np.diag(sample.spread(found)) == pytest.approx(np.diag(sample.spread(expected)), rel=5e-3)
    curvature.follow_units[:] = 0
    twin = np.diag(sample.spread(list_efficient_scores(data, curvature)))
    assert (twin > 1.02 * np.diag(sample.spread(expected))).all()


def test_weighted_rows_may_have_more_combinations_than_are_written_out() -> None:
    """Of 128, and 6,000 people: the same slope as from each row as often as it counts, and a larger error."""
    data, sample = draw_unevenly(draw_answers(6000, 7, 0.4, 2), 9)
    ((own,),) = explain(data, list_predictors(data)[:1], sample=sample).effects
    ((even,),) = explain(data, list_predictors(data)[:1]).effects
    assert own.coefficient == pytest.approx(even.coefficient, abs=1e-6)
    assert 1.05 < own.standard_error / even.standard_error < 1.4  # the root of 1.36, as weights are 1 and 4
    assert own.average_error > even.average_error
    assert own.interval[0] < 1 < own.interval[1]


def test_both_ways_test_whether_slopes_are_parallel() -> None:
    """Of four levels, by a known predictor and by an answer."""
    data = latent("cumulative")
    predictors = [Predictor((1,), (KNOWN,)), Predictor((2,), (ANSWER,))]
    expected, found = (
        explain(replace(data, written_out=written), predictors).parallel for written in (True, False)
    )
    assert expected is not None
    assert found is not None
    assert found.statistic == pytest.approx(expected.statistic, rel=0.01)
    assert found.degrees_of_freedom == expected.degrees_of_freedom


def test_twelve_questions_explain_an_answer_and_thirteen_are_refused() -> None:
    """4,096 combinations; a twin that takes reports for answers makes less of the first question than is true."""
    data = draw_answers(100_000, 12, 0.4, 5)
    found = explain(data, list_predictors(data)[:1])
    (effect,) = found.effects[0]
    assert effect.interval[0] < 1 < effect.interval[1]
    assert effect.standard_error < 0.05
    trusting = tuple(0.98 * np.round(part) + 0.01 for part in data.parts)
    (twin,) = explain(replace(data, parts=trusting), list_predictors(data)[:1]).effects[0]
    assert twin.interval[1] < 1
    with pytest.raises(ValueError, match="at most 4,096 combinations of randomised answers; they have 8,192"):
        refuse_combinations(2**13)
    with pytest.raises(ValueError, match=r"at most 32 combinations of values beside 4,096 .*; they have 40"):
        explain(
            replace(
                data, known=np.column_stack([np.ones(len(data.counts)), np.arange(len(data.counts)) % 40])
            ),
            [],
        )


def test_who_waits_is_asked_before_every_product() -> None:
    """Hundreds of them stand between two heights: a time limit that was looked at then alone was passed by far."""
    data, asked = draw_data(0, 2, "cumulative", 1), list[int]()
    tally = make_tally(data.counts, data.known, data.outcome, data.parts)
    model = CombinedModel(tally, data.dummies, data.levels, data.model, lambda: asked.append(1))
    state = CombinedState(model, np.zeros(data.slopes), np.zeros((12, 2)))
    before = len(asked)
    state.multiply(np.zeros(data.slopes), np.ones((12, 2)))
    assert len(asked) > before


@pytest.mark.scaled
def test_intervals_of_many_combinations_hold_the_true_slope() -> None:
    """Of 10,000 people and 256 combinations, and that of 0; a coverage of 0.94 is refuted with a false alarm of 1e-6.

    The twin, a third of a standard error, is caught.
    """
    studies = choose_size(24, 400)
    effects = []
    for seed in range(studies):
        data = draw_answers(10_000, 8, 0.25, 100 + seed)
        (first,), (second,) = explain(data, list_predictors(data)[:2]).effects
        effects += [(1.0, first), (0.0, second)]
    covered = sum(effect.interval[0] <= truth <= effect.interval[1] for truth, effect in effects)
    assert stats.binomtest(covered, 2 * studies, 0.94, alternative="less").pvalue > 1e-6
    twin = sum(abs(effect.coefficient - truth) <= effect.standard_error / 3 for truth, effect in effects)
    assert stats.binomtest(twin, 2 * studies, 0.94, alternative="less").pvalue < 1e-6


def test_a_search_ends_where_some_directions_have_no_curvature() -> None:
    """What reports cannot tell apart leaves a system without a solution: it took hundreds of products for nothing."""
    for seed in range(20):
        half = np.random.default_rng(seed).normal(size=(6, 8))
        curvature, products = half.T @ half, list[NDArray[np.float64]]()

        def multiply(
            step: NDArray[np.float64],
            curvature: NDArray[np.float64] = curvature,
            products: list[NDArray[np.float64]] = products,
        ) -> NDArray[np.float64]:
            products.append(curvature @ step)
            return products[-1]

        conjugate(multiply, lambda left: left, np.ones(8), 1e-5)
        assert len(products) <= 26
        pull = curvature @ np.arange(8.0)
        assert np.allclose(curvature @ conjugate(multiply, lambda left: left, pull, 1e-5), pull, rtol=1e-3)
