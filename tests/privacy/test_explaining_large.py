"""What an answer goes with does not depend on the unit that people are counted in, nor does the work.

What is expected of counts times a constant follows from the likelihood, which that multiplies: the same coefficients,
errors smaller by the root, and statistics larger by the constant.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from server.privacy.designs import coin_flip, k_ary
from server.privacy.estimators.average_effects import EffectSetting
from server.privacy.estimators.climbing import PenalisedRows, add_prior, climb, climb_far
from server.privacy.estimators.explained_effects import Explanation
from server.privacy.estimators.explaining import Predictor, explain
from server.privacy.estimators.latent_likelihood import Height, LatentData, evaluate_latent, evaluate_open
from server.privacy.estimators.profiles import HigherError, find_limit
from tests.support.scale import choose_size

_MOST_WORK = 5000
"""Evaluations of the likelihood, in any case; most take a few hundred."""
_SIDES = EffectSetting(True, (1,), (0.0,)), EffectSetting(True, (1,), (1.0,))


class TooMuchWorkError(Exception):
    """More evaluations than any case may take."""


def count_work() -> tuple[list[None], Callable[[], None]]:
    done: list[None] = []

    def note() -> None:
        done.append(None)
        if len(done) > _MOST_WORK:
            raise TooMuchWorkError

    return done, note


def explain_groups(tables: NDArray[np.float64], times: float, power: float) -> tuple[Explanation, int]:
    """Of two groups and as many options as there are columns; and how often the likelihood was evaluated."""
    done, note = count_work()
    groups, options = tables.shape
    design = coin_flip(0.25) if options == 2 else k_ary(options, power)
    model = "cumulative" if options == 2 else "multinomial"
    data = LatentData(
        tables.ravel() * times,
        np.array([[1.0, float(x)] for x in range(groups) for _ in range(options)]),
        np.concatenate([design.matrix.T] * groups),
        np.ones((groups * options, 1)),
        np.zeros((1, 0)),
        note,
        model,  # type: ignore[arg-type]
    )
    scores = tuple(np.eye(options)[k] for k in range(1, options))
    columns = tuple(1 + 2 * k for k in range(options - 1))
    return explain(data, [Predictor(columns, (_SIDES,) * len(columns), scores=scores)]), len(done)


def test_a_limit_that_is_not_there_is_looked_for_once() -> None:
    """The farthest step was rounded to a hair before the farthest place, and taken again without end."""
    found, _ = explain_groups(np.array([[8232.0, 11557.0], [36415.0, 12190.0]]), 1, 1.0)
    assert found.prior
    assert found.effects[0][0].tells
    assert found.effects[0][0].odds_ratio_interval[1] < 1


def test_an_odds_ratio_that_no_number_holds_is_infinite() -> None:
    """A step of one of a predictor in thousandths: e to the power of thousands."""
    data = LatentData(
        np.array([450.0, 50.0, 50.0, 450.0]),
        np.array([[1.0, x] for x in (0.0, 0.0, 1.0, 1.0)]),
        np.concatenate([coin_flip(0.4).matrix.T] * 2),
        np.ones((4, 1)),
        np.zeros((1, 0)),
    )
    ((effect,),) = explain(data, [Predictor((1,), (_SIDES,), unit=0.001)]).effects
    assert effect.coefficient > 2000
    assert effect.odds_ratio == math.inf
    assert effect.odds_ratio_interval == (math.inf, math.inf)


def list_people(people: int, note: Callable[[], None]) -> LatentData:
    """One row each: two numbers and a group, in one half of which nobody is a true yes, so that its ratio is open."""
    rng = np.random.default_rng(1)
    numbers, half = rng.normal(size=(people, 2)), (rng.random(people) < 0.5).astype(float)
    truth = rng.random(people) < half / (1 + np.exp(1 - numbers @ [0.5, -0.3]))
    report = (rng.random(people) < np.where(truth, 0.75, 0.25)).astype(np.int64)
    known = np.column_stack([np.ones(people), numbers, half])
    chances = coin_flip(0.25).matrix[:, report].T
    return LatentData(np.ones(people), known, chances, np.ones((people, 1)), np.zeros((1, 0)), note)


def test_an_open_interval_takes_little_more_work_than_two_maxima() -> None:
    """Places and tests are looked at from where the curvature leads: from where the last one was it took 209 steps.

    Both without looking for other maxima, which takes 28 more.
    """
    done, note = count_work()
    sides = tuple(
        (EffectSetting(True, (k,), (0.0,), True), EffectSetting(True, (k,), (1.0,), True)) for k in (1, 2, 3)
    )
    found = explain(list_people(16_000, note), [Predictor((k,), (sides[k - 1],)) for k in (1, 2, 3)])
    assert found.prior
    assert found.effects[2][0].open
    assert len(done) < 200 + 28


def test_a_few_rows_of_many_lead_near_the_top_of_all() -> None:
    """A sixteenth of the rows is off by about four standard errors of all; the first of those in order by more.

    From there the top is the same, to rounding, as from afar.
    """
    data = list_people(24_000, lambda: None)
    order = np.argsort(data.known[:, 1])
    data = replace(data, known=data.known[order], outcome=data.outcome[order])
    rows = add_prior(data)
    assert isinstance(rows, PenalisedRows)
    assert rows.sketch is not None
    top, led = climb(rows, np.zeros(4)), climb_far(rows, np.zeros(4))
    assert led.value == pytest.approx(top.value, abs=1e-8)
    np.testing.assert_allclose(led.theta, top.theta, atol=1e-6)
    few = slice(0, 1500)
    first = replace(
        data,
        counts=16 * data.counts[few],
        known=data.known[few],
        outcome=data.outcome[few],
        others=data.others[few],
    )
    near, twin = (climb(each, np.zeros(4)).theta - top.theta for each in (rows.sketch, add_prior(first)))
    assert near @ top.information @ near < 16 * 25
    assert twin @ top.information @ twin > 16 * 25


def test_rows_without_other_answers_are_evaluated_as_those_with_them() -> None:
    data, theta = list_people(4000, lambda: None), np.array([-9.0, 0.4, -0.3, 8.5])
    short, long = evaluate_latent(data, theta), evaluate_open(data, theta, slice(None), scores=False)
    assert short.value == pytest.approx(long.value, rel=1e-13)
    np.testing.assert_allclose(short.gradient, long.gradient, rtol=1e-11, atol=1e-9)
    np.testing.assert_allclose(short.information, long.information, rtol=1e-11, atol=1e-9)


@pytest.mark.scaled
@settings(max_examples=choose_size(40, 400), deadline=None)
@given(
    st.integers(2, 3).flatmap(
        lambda options: st.lists(
            st.lists(st.integers(1, 400), min_size=options, max_size=options), min_size=2, max_size=2
        )
    ),
    st.sampled_from([100.0, 1e5, 1e7]),
    st.sampled_from([0.7, 1.1, 2.0]),
)
def test_counts_times_a_constant_are_explained_alike(
    tables: list[list[int]], times: float, power: float
) -> None:
    counts = np.array(tables, dtype=np.float64)
    (small, work), (large, more) = (explain_groups(counts, each, power) for each in (1.0, times))
    assert more <= 3 * work + 500
    for own, other in zip(small.effects[0], large.effects[0], strict=True):
        assert not any(math.isnan(end) for end in (*own.interval, *other.interval))
        if small.prior or large.prior:  # which counts as one person, whatever people are counted in
            continue
        assert other.coefficient == pytest.approx(own.coefficient, abs=1e-3)
        assert other.standard_error * math.sqrt(times) == pytest.approx(own.standard_error, rel=1e-3)
        assert other.average == pytest.approx(own.average, abs=1e-4)
    if not small.prior and not large.prior:
        assert large.test.statistic / times == pytest.approx(small.test.statistic, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("people", [1e3, 1e7])
def test_a_higher_maximum_is_noticed_however_many_people_there_are(people: float) -> None:
    """Two hills, the second two nats higher: of ten million people that is less than a millionth of the likelihood."""

    def hills(theta: NDArray[np.float64]) -> Height:
        x, y = theta
        value = -people - 40 * (y**2 - 1) ** 2 / 8 + y - x**2 / 2
        slope = np.array([-x, -20 * y * (y**2 - 1) + 1])
        bend = np.array([[1.0, 0.0], [0.0, 20 * (3 * y**2 - 1)]])
        return Height(theta, value, slope, bend)

    lower = climb(hills, np.array([0.0, -1.0]))
    assert lower.theta[1] == pytest.approx(-1, abs=0.1)
    with pytest.raises(HigherError) as raised:
        find_limit(
            hills, Height(np.array([0.0, 1.0]), lower.value, lower.gradient, lower.information), 0, 1.0, 3.0
        )
    assert raised.value.theta[1] == pytest.approx(1, abs=0.1)
