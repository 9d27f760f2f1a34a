"""Sparse vector: split, exact chances, privacy by enumeration, accuracy, refusals."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from server.privacy.noise import geometric_pmf
from server.privacy.selection import above_threshold, above_threshold_error, best_split, sparse_vector
from tests.privacy.goodness_of_fit import FALSE_ALARMS, p_value, p_value_of_choices

REACH = 400  # of the enumerated noise; what is beyond has a chance below 1e-12 for the scales used here


def chance_below(scale: float) -> np.ndarray:
    """Pr(noise < t) for t from -REACH to REACH."""
    pmf = geometric_pmf(np.arange(-REACH, REACH), scale, 1.0)
    return np.concatenate([[0.0], pmf.cumsum()])


def pattern_chances(
    gaps: tuple[int, ...], positives: int, threshold_scale: float, answers_scale: float
) -> dict[tuple[bool, ...], float]:
    """The chance of every pattern of answers, for answers `gaps` above their thresholds."""
    offsets = np.arange(-150, 151)
    weights = geometric_pmf(offsets, threshold_scale, 1.0)
    below = chance_below(answers_scale)
    # Pr(gap + noise < offset) for each possible noise of the threshold.
    misses = [below[np.clip(offsets - gap + REACH, 0, 2 * REACH)] for gap in gaps]
    chances = {}
    for pattern in itertools.product((False, True), repeat=len(gaps)):
        stop = next((i + 1 for i in range(len(gaps)) if sum(pattern[: i + 1]) == positives), len(gaps))
        parts = [1 - miss if up else miss for up, miss in zip(pattern[:stop], misses, strict=False)]
        chances[pattern[:stop]] = float(weights @ np.prod(parts, axis=0))
    return chances


def scales(positives: int, epsilon: float, monotone: bool) -> tuple[float, float]:
    first, second = best_split(positives, epsilon, monotone)
    return 1 / first, (1 if monotone else 2) * positives / float(second)


@pytest.mark.parametrize(("positives", "monotone"), [(1, False), (4, False), (7, True)])
def test_the_split_is_the_published_one_and_the_best(positives: int, monotone: bool) -> None:
    first, second = best_split(positives, 1.0, monotone)
    factor = positives if monotone else 2 * positives
    assert float(second) / first == pytest.approx(factor ** (2 / 3))
    best = minimize_scalar(
        lambda e: 1 / e**2 + (factor / (1 - e)) ** 2, bounds=(1e-3, 0.999), method="bounded"
    )
    assert first == pytest.approx(best.x, rel=1e-3)
    assert second + type(second)(first) == 1


@pytest.mark.parametrize(("positives", "monotone"), [(1, False), (2, False), (2, True)])
def test_patterns_have_the_exact_chances(positives: int, monotone: bool) -> None:
    epsilon, gaps = 2.0, (-2, 1, 3)
    chances = pattern_chances(gaps, positives, *scales(positives, epsilon, monotone))
    assert sum(chances.values()) == pytest.approx(1, abs=1e-9)
    patterns = list(chances)
    drawn = [
        patterns.index(
            tuple(sparse_vector(np.array(gaps) + 10, 10, 1, positives, epsilon, monotone).above.tolist())
        )
        for _ in range(6000)
    ]
    assert p_value_of_choices(drawn, list(chances.values())) > FALSE_ALARMS
    # The twin has answers without noise.
    twin = pattern_chances(gaps, positives, scales(positives, epsilon, monotone)[0], 0.01)
    assert p_value_of_choices(drawn, list(twin.values())) < FALSE_ALARMS


def worst_loss(threshold_scale: float, answers_scale: float, positives: int, moves: list[Any]) -> float:
    worst = 0.0
    for gaps in [(0, 0, 0), (-1, 0, 2), (1, 1, 1), (-3, -3, 5)]:
        here = pattern_chances(gaps, positives, threshold_scale, answers_scale)
        for move in moves:
            there = pattern_chances(
                tuple(g + m for g, m in zip(gaps, move, strict=True)),
                positives,
                threshold_scale,
                answers_scale,
            )
            worst = max(worst, *(abs(math.log(here[p] / there[p])) for p in here if here[p] > 1e-9))
    return worst


@pytest.mark.parametrize("positives", [1, 2])
def test_no_pair_of_neighbouring_answers_loses_more_than_epsilon(positives: int) -> None:
    both_ways = list(itertools.product((-1, 0, 1), repeat=3))
    upwards = list(itertools.product((0, 1), repeat=3))
    epsilon = 1.5
    assert worst_loss(*scales(positives, epsilon, False), positives, both_ways) <= epsilon * (1 + 1e-6)
    assert worst_loss(*scales(positives, epsilon, True), positives, upwards) <= epsilon * (1 + 1e-6)
    # The twin of methods.md section 9 leaves out the factor 2c.
    first, second = best_split(positives, epsilon)
    assert worst_loss(1 / first, 1 / (2 * float(second)), positives, both_ways) > epsilon


def test_nothing_is_said_after_the_last_positive() -> None:
    found = sparse_vector([0, 10**6, 10**6, 0, 10**6], 1000, 1, positives=2, epsilon=1.0)
    assert found.above.tolist() == [False, True, True]
    assert found.positives.tolist() == [1, 2]
    assert found.values is None
    assert found.epsilon == 1.0


def test_values_get_noise_of_their_own_and_are_paid_for() -> None:
    # Scale c d / eps3 = 3 * 2 / 1.5 = 4, around the true answers.
    answers = [10**6, 2 * 10**6, 3 * 10**6, 0]
    runs = [sparse_vector(answers, 1000, 2, 3, 1.0, values_epsilon=1.5) for _ in range(1500)]
    assert {run.epsilon for run in runs} == {2.5}
    values = np.array([run.values for run in runs])
    noise = (values - answers[:3]).astype(int)
    assert p_value(noise, lambda k: geometric_pmf(k, 4, 1.0)) > FALSE_ALARMS
    assert p_value(noise, lambda k: geometric_pmf(k, 2, 1.0)) < FALSE_ALARMS
    nothing = sparse_vector([0.0], 10**6, 1, 1, 1.0, values_epsilon=1.0)
    assert nothing.values is not None
    assert nothing.values.shape == (0,)


@pytest.mark.parametrize("failure", [0.5, 0.05])
def test_above_threshold_is_as_accurate_as_the_worked_bound(failure: float) -> None:
    # alpha = 8 (ln k + ln(2 / beta)) / eps, and two steps for whole-numbered noise; exact by enumeration.
    epsilon, k = 1.0, 5
    alpha = above_threshold_error(k, epsilon, failure)
    assert alpha == pytest.approx(8 * (math.log(k) + math.log(2 / failure)) / epsilon)
    low = -math.ceil(alpha + 2)
    offsets = np.arange(-150, 151)
    weights, below = geometric_pmf(offsets, 2, epsilon), chance_below(4 / epsilon)
    passes = 1 - below[np.clip(offsets - low + REACH, 0, 2 * REACH)]
    assert weights @ (1 - (1 - passes) ** k) <= failure
    assert above_threshold([0] * (k - 1) + [10**6], 1000, 1, epsilon) == k - 1


def test_above_threshold_has_the_textbook_noise() -> None:
    chances = pattern_chances((-1, 2), 1, 2 / 1.5, 4 / 1.5)
    none = chances[(False, False)]
    drawn = [above_threshold([9, 12], 10, 1, 1.5) for _ in range(6000)]
    places = [2 if found is None else found for found in drawn]
    assert p_value_of_choices(places, [chances[(True,)], chances[(False, True)], none]) > FALSE_ALARMS


def test_answers_that_are_not_whole_are_compared_on_the_grid_asked_for() -> None:
    found = sparse_vector([0.125, 99.5], [50.0, 50.0], 0.5, 1, 5.0, granularity=1 / 64, values_epsilon=5.0)
    assert found.positives.tolist() == [1]
    assert found.values is not None
    assert (found.values * 64 == np.rint(found.values * 64)).all()


@settings(deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=10),
    st.floats(-1e6, 1e6),
    st.integers(1, 5),
    st.floats(1e-3, 1e3),
    st.booleans(),
)
def test_no_valid_answers_fail(
    answers: list[float], threshold: float, positives: int, epsilon: float, monotone: bool
) -> None:
    found = sparse_vector(answers, threshold, 1.0, positives, epsilon, monotone, values_epsilon=epsilon)
    assert found.above.sum() == found.positives.size <= positives
    assert found.values is not None
    assert np.isfinite(found.values).all()
    first = above_threshold(answers, threshold, 1.0, epsilon, monotone)
    assert first is None or 0 <= first < len(answers)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"answers": []}, "answers must have at least one entry"),
        ({"answers": [math.nan]}, "answers must be finite"),
        ({"answers": [[1]]}, "answers must be one vector"),
        ({"answers": [1e30]}, "answers must be within"),
        ({"thresholds": [1, 2]}, "thresholds must be one number or 1"),
        ({"thresholds": math.inf}, "thresholds must be finite"),
        ({"sensitivity": 0}, "sensitivity must be positive"),
        ({"positives": 0}, "positives must be a whole number"),
        ({"positives": 1.5}, "positives must be a whole number"),
        ({"epsilon": 0}, "epsilon must be positive"),
        ({"values_epsilon": -1.0}, "values_epsilon must be 0 or positive"),
        ({"values_epsilon": math.nan}, "values_epsilon must be finite"),
        ({"granularity": 0.0}, "granularity must be positive"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments: dict[str, Any], message: str) -> None:
    valid = {"answers": [1], "thresholds": 0, "sensitivity": 1, "positives": 1, "epsilon": 1.0}
    with pytest.raises(ValueError, match=message):
        sparse_vector(**{**valid, **arguments})
    with pytest.raises(ValueError, match="failure must be in the open interval"):
        above_threshold_error(3, 1.0, 1.0)
