"""Proportions and means: sensitivities, worked failures, intervals, refusals."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from server.privacy.noise import gaussian_sigma, geometric_pmf
from server.privacy.queries import mean, proportion
from tests.privacy.goodness_of_fit import FALSE_ALARMS


def test_the_centred_sum_changes_by_half_the_range_or_by_all_of_it() -> None:
    query = mean(10.0, 11.0, 1.0)
    grid = np.linspace(10, 11, 9)
    added = max(abs(x - 10.5) for x in grid)
    replaced = max(abs(x - y) for x, y in itertools.product(grid, repeat=2))
    assert (query.sensitivity("unbounded"), query.sensitivity("bounded")) == (added, replaced) == (0.5, 1.0)


def test_whole_steps_never_change_by_more_than_the_noise_is_scaled_to() -> None:
    # Bounds without short binary fractions: one person's steps stay within 2**20 whatever floats do.
    for low, high in [(0.1, 0.3), (-1e9, 1e-9), (1.0, math.nextafter(1.0, 2) + 1e-9)]:
        query = mean(low, high, 1.0)
        edges = np.array([low, high, (low + high) / 2, math.nextafter(low, high), math.nextafter(high, low)])
        inside = edges[(edges >= low) & (edges <= high)]
        steps = query._in_steps(inside)
        assert np.abs(steps).max() == query._steps() == 2**20
        assert mean(low, high, 1.0, "bounded")._steps() == 2**21


def chance_of_the_lower_bound(total: float, people: int | None, counted: int) -> float:
    """Pr(mean = -1) in [-1, 1] at epsilon 1, by enumeration; `people` is what an exact count would use."""
    # The sum in units of half the range has noise of scale 2 on a grid of 2**-20, the count of scale 2.
    sizes = np.arange(1, 200) if people is None else np.array([people])
    weights = geometric_pmf(sizes - counted, 1, 0.5) if people is None else np.ones(1)
    reach = -sizes - total  # the noise must be at or below this
    tails = np.where(reach < 0, np.exp(reach / 2) / 2, 1 - np.exp(-reach / 2) / 2)
    return float(weights @ tails)


def test_one_person_changes_the_chance_of_a_clamped_mean_within_epsilon() -> None:
    # methods.md section 9: D = {-1} and D' = {-1, 1} in [-1, 1], told apart when the count is exact.
    alone, joined = chance_of_the_lower_bound(-1, None, 1), chance_of_the_lower_bound(0, None, 2)
    assert abs(math.log(alone / joined)) <= 1
    query, runs = mean(-1.0, 1.0, 1.0), 1000
    for data, chance in (([-1.0], alone), ([-1.0, 1.0], joined)):
        seen = sum(query.run(data).value == -1 for _ in range(runs))
        assert binomtest(seen, runs, chance).pvalue > FALSE_ALARMS
    # The twin divides by the exact count: the same noise on the sum, all of epsilon 1/2, loses 1 here.
    exact = chance_of_the_lower_bound(-1, 1, 1), chance_of_the_lower_bound(0, 2, 2)
    assert math.log(exact[0] / exact[1]) == pytest.approx(1)
    assert binomtest(round(exact[0] * runs), runs, alone).pvalue < FALSE_ALARMS


def test_an_empty_selection_is_mostly_the_midpoint_and_never_an_error() -> None:
    values = [float(mean(0.0, 10.0, 1.0).run([]).value) for _ in range(400)]
    # The noisy count of nobody is 0 or less with chance 0.62 (scale 2); 170 of 400 has a chance below 1e-14.
    assert sum(value == 5.0 for value in values) > 170
    assert all(0 <= value <= 10 for value in values)
    shares = [float(proportion(1.0).run([]).value) for _ in range(400)]
    assert all(0 <= share <= 1 for share in shares)
    assert 0.5 in shares


@pytest.mark.parametrize("neighbours", ["unbounded", "bounded"])
@pytest.mark.parametrize("true", [0.0, 20.0, 50.0])
def test_a_mean_errs_as_expected_and_its_interval_holds_it(neighbours: str, true: float) -> None:
    people, query = 400, mean(0.0, 100.0, 2.0, neighbours)
    answers = [query.run(np.full(people, true)) for _ in range(800)]
    errors = np.array([float(answer.value) - true for answer in answers])
    expected = query.expected_error(people, true)
    # Clamping at a bound takes half of the error away. The logarithm of the rest over the first-order expectation
    # has a standard error of 0.054 at most: more than 6 of them either way, and the upper tail is the heavier one.
    seen = math.sqrt((errors**2).mean()) * (math.sqrt(2) if true == 0 else 1)
    assert 0.7 * expected < seen < 1.5 * expected
    held = sum(a.interval[0] <= true <= a.interval[1] for a in answers)
    # 0.95 or more of 800: fewer than 728 have a chance below 1e-6.
    assert held >= 728


@pytest.mark.parametrize("neighbours", ["unbounded", "bounded"])
def test_the_gaussian_pair_changes_by_no_more_than_its_noise_is_scaled_to(neighbours: str) -> None:
    query = mean(0.0, 1.0, 1.0, neighbours, delta=1e-6)
    sensitivity = query._gaussian[0]
    ends = [None, 0.0, 0.3, 1.0]  # not in the selection, or in it with this number
    moved = []
    for one, other in itertools.product(ends, ends):
        if neighbours == "unbounded" and other is not None:
            continue
        pairs = [
            np.zeros(2) if end is None else np.array([query._in_steps([end])[0], 1 << 20])
            for end in (one, other)
        ]
        moved.append(float(np.linalg.norm(pairs[0] - pairs[1])))
    assert max(moved) == pytest.approx(sensitivity, rel=1e-12)


def test_a_gaussian_mean_shares_its_loss_and_says_so() -> None:
    query = mean(0.0, 100.0, 1.0, delta=1e-6)
    sigma = gaussian_sigma(math.sqrt(2), 1.0, 1e-6)
    assert query.expected_error(500, 50) == pytest.approx(50 * sigma / 500, rel=1e-6)
    assert query.expected_error(500, 0) == pytest.approx(50 * math.sqrt(2) * sigma / 500, rel=1e-6)
    # Two draws of half the loss each would be worse.
    assert sigma < 0.75 * gaussian_sigma(1.0, 0.5, 5e-7)
    answer = query.run([30.0] * 500)
    assert (answer.epsilon, answer.delta) == (1.0, 1e-6)
    assert mean(0.0, 100.0, 1.0).run([30.0] * 500).delta == 0


@pytest.mark.parametrize("neighbours", ["unbounded", "bounded"])
def test_a_gaussian_mean_errs_as_expected_and_its_interval_holds_it(neighbours: str) -> None:
    people, true = 400, 20.0
    query = mean(0.0, 100.0, 2.0, neighbours, delta=1e-6)
    answers = [query.run(np.full(people, true)) for _ in range(400)]
    errors = np.array([float(answer.value) - true for answer in answers])
    # The root of a mean of 400 squares of normal errors is within a fifth of its expectation but for 1e-7.
    assert abs(math.sqrt((errors**2).mean()) / query.expected_error(people, true) - 1) < 0.2
    assert sum(a.interval[0] <= true <= a.interval[1] for a in answers) >= 354  # 0.95: fewer, below 1e-7
    # The twin has the noise of half the loss.
    twin = mean(0.0, 100.0, 1.0, neighbours, delta=1e-6).expected_error(people, true)
    assert abs(math.sqrt((errors**2).mean()) / twin - 1) > 0.2


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_proportion_errs_as_expected_and_its_interval_holds_it(share: float) -> None:
    people, query = 1000, proportion(0.5)
    yes = round(share * people)
    answers = [query.release([people - yes, yes]) for _ in range(800)]
    errors = np.array([float(answer.value) - share for answer in answers])
    seen = math.sqrt((errors**2).mean()) * (math.sqrt(2) if share == 0 else 1)
    expected = query.expected_error(people, share)
    assert 0.66 * expected < seen < 1.6 * expected  # 7 standard errors of 0.059 below, 8 above
    assert sum(a.interval[0] <= share <= a.interval[1] for a in answers) >= 728


def test_two_cells_have_half_the_variance_of_a_mean_by_halves() -> None:
    by_halves = mean(0.0, 1.0, 0.1).expected_error(10_000, 0.5)
    assert (proportion(0.1).expected_error(10_000, 0.5) / by_halves) ** 2 == pytest.approx(0.5, rel=0.01)


def test_what_is_published_names_its_terms() -> None:
    answer = mean(0.0, 1.0, 0.5, "bounded").run([0.25] * 50, confidence=0.9)
    assert (answer.epsilon, answer.neighbours, answer.confidence) == (0.5, "bounded", 0.9)


@settings(deadline=None)
@given(
    st.floats(-1e9, 1e9),
    st.floats(1e-6, 1e9),
    st.lists(st.floats(0, 1), max_size=10),
    st.floats(1e-3, 1e3),
    st.floats(1e-6, 1 - 1e-6),
)
def test_no_valid_data_fails(
    low: float, width: float, shares: list[float], epsilon: float, confidence: float
) -> None:
    high = low + width
    for neighbours in ("unbounded", "bounded"):
        data = [min(max(low + share * (high - low), low), high) for share in shares]
        answers = [
            mean(low, high, epsilon, neighbours).run(data, confidence),
            proportion(epsilon, neighbours).run([share > 0.5 for share in shares], confidence),
        ]
        for answer in answers:
            assert answer.interval[0] <= answer.value <= answer.interval[1]
            assert math.isfinite(float(answer.standard_error))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mean(0, 1, 1.0, delta=1.0), r"delta must be in \[0, 1\); it is 1.0"),
        (lambda: mean(1.0, 1.0, 1.0), "low must be below high"),
        (lambda: mean(math.nan, 1.0, 1.0), "low must be finite; it is nan"),
        (lambda: mean(0.0, math.inf, 1.0), "high must be finite; it is inf"),
        (lambda: mean(-1.7e308, 1.7e308, 1.0), "1e-293 to 1e280 apart"),
        (lambda: mean(0.0, 1e-300, 1.0), "1e-293 to 1e280 apart"),
        (lambda: mean(0.0, 1.0, 0.0), "epsilon must be positive"),
        (lambda: mean(0.0, 1.0, 1.0, "near"), "neighbours must be one of"),
        (lambda: mean(0.0, 1.0, 1.0).run([0.5, 1.5]), r"data must be in \[0.0, 1.0\]; one is 1.5"),
        (lambda: mean(0.0, 1.0, 1.0).run([math.nan]), "data must be finite; one is nan"),
        (lambda: mean(0.0, 1.0, 1.0).run([[0.5]]), "data must be one vector"),
        (lambda: mean(0.0, 1.0, 1.0).run(["a"]), "data must be numbers"),
        (lambda: mean(0.0, 1.0, 1.0).run([0.5], confidence=0.0), "confidence must be in the open interval"),
        (
            lambda: mean(0.0, 1.0, 1.0).expected_error(0),
            r"people must be a whole number in \[1, \d+\]; it is 0",
        ),
        (lambda: mean(0.0, 1.0, 1.0).expected_error(5, 2.0), r"mean must be in \[0.0, 1.0\]; it is 2.0"),
        (lambda: proportion(-1.0), "epsilon must be positive"),
        (lambda: proportion(1.0).run([0.5]), "data must be True or False"),
        (lambda: proportion(1.0).release([1, -1]), "counts must be in"),
        (lambda: proportion(1.0).expected_error(10, 1.5), r"share must be in \[0, 1\]; it is 1.5"),
    ],
)
def test_bad_arguments_are_refused_by_name(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
