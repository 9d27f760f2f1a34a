"""Contingency tables with margins: what is drawn, what is fitted, and how good it is."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from server.privacy.consistency import round_table
from server.privacy.noise import geometric_pmf, geometric_variance
from server.privacy.queries import contingency, count, epsilon_for_error, mean
from tests.privacy.goodness_of_fit import FALSE_ALARMS, p_value

TABLE = np.array([[7, 9], [11, 0], [10, 12], [7, 14], [8, 6], [5, 4]])
AGES = ["18-24", "25-34", "35-44", "45-54", "55-64", "65+"]
VARIABLES = [AGES, ["no", "yes"]]
RUNS = 400


@pytest.mark.parametrize("neighbours", ["unbounded", "bounded"])
@pytest.mark.parametrize("margins", [0.0, 0.5])
def test_the_worked_table_is_perturbed_everywhere_and_fitted_to_its_margins(
    neighbours: str, margins: float
) -> None:
    query = contingency(VARIABLES, 1.0, neighbours, margins)
    answers = [query.release(TABLE) for _ in range(RUNS)]
    sensitivity, loss = query.sensitivity(), 1 - margins
    assert sensitivity == {"unbounded": 1, "bounded": 2}[neighbours]
    noise = np.array([answer.cells for answer in answers]) - TABLE
    assert p_value(noise, lambda k: geometric_pmf(k, sensitivity, loss)) > FALSE_ALARMS
    # The declared empty cell gets noise like any other.
    assert p_value(noise[:, 1, 1], lambda k: geometric_pmf(k, sensitivity, loss)) > FALSE_ALARMS
    assert p_value(noise, lambda k: geometric_pmf(k, 3 - sensitivity, loss)) < FALSE_ALARMS
    for axis in range(2):
        assert [len(answer.noisy_margins) for answer in answers] == [2 if margins else 0] * RUNS
        if margins:
            of_margin = np.array([answer.noisy_margins[axis] for answer in answers]) - TABLE.sum(1 - axis)
            assert p_value(of_margin, lambda k: geometric_pmf(k, sensitivity, margins / 2)) > FALSE_ALARMS
    fitted = np.array([answer.value for answer in answers])
    assert fitted.dtype == np.int64
    assert fitted.min() >= 0
    for answer in answers:
        assert (answer.value.sum(1) == answer.margins[0]).all()
        assert (answer.value.sum(0) == answer.margins[1]).all()
        assert (answer.interval[..., 0] <= answer.value).all()
        assert (answer.value <= answer.interval[..., 1]).all()
    # Fitting takes error away: from the cells as drawn, and from margins that are sums of them.
    raw, better = (noise**2).mean(), ((fitted - TABLE) ** 2).mean()
    assert better < 1.02 * raw  # less; but for chance
    sums = (noise.sum(2) ** 2).mean()
    assert (np.array([answer.margins[0] for answer in answers] - TABLE.sum(1)) ** 2).mean() < 1.1 * sums
    # The linear estimate behind it has the error that was foretold; rounding and zeros move it a little.
    assert better < 1.2 * query.expected_error() ** 2
    # The twin takes the cells of another row: its error is not what was foretold.
    assert ((fitted[:, ::-1] - TABLE) ** 2).mean() > 1.2 * query.expected_error() ** 2


def test_intervals_of_cells_and_margins_hold_the_exact_counts() -> None:
    for margins in (0.0, 0.6):
        query = contingency(VARIABLES, 0.7, margins=margins)
        held, of_margins = np.zeros(TABLE.shape), np.zeros(6)
        for _ in range(RUNS // 2):
            answer = query.release(TABLE)
            held += (answer.interval[..., 0] <= TABLE) & (answer.interval[..., 1] >= TABLE)
            low, high = answer.margin_intervals[0].T
            of_margins += (low <= TABLE.sum(1)) & (high >= TABLE.sum(1))
        fewest = binom.ppf(1e-8, RUNS // 2, 0.95)
        assert held.min() >= fewest
        assert of_margins.min() >= fewest
    # Without margins of their own a cell has the shortest limits of a count.
    answer = contingency(VARIABLES, 1.0).fit(np.full((6, 2), 100), ())
    assert answer.interval[0, 0].tolist() == [97, 103]
    assert answer.standard_error == pytest.approx(math.sqrt(geometric_variance(1, 1.0)))


@pytest.mark.parametrize(("shape", "margins"), [((6, 2), 0.0), ((6, 2), 0.4), ((3,), 0.0), ((2, 3, 2), 0.4)])
def test_a_known_total_is_kept_and_makes_errors_and_intervals_smaller(
    shape: tuple[int, ...], margins: float
) -> None:
    # Far from 0, so that what is published is the linear estimate made whole.
    truth = np.random.default_rng(7).integers(150, 300, shape)
    people = int(truth.sum())
    declared = [range(size) for size in shape]
    query = contingency(declared, 1.0, "bounded", margins, people)
    private = contingency(declared, 1.0, "bounded", margins)
    answers = [query.release(truth) for _ in range(RUNS)]
    assert {int(answer.value.sum()) for answer in answers} == {people}
    values = np.array([answer.value for answer in answers])
    limits = np.array([answer.interval for answer in answers])
    expected, without = query.expected_error() ** 2, private.expected_error() ** 2
    if not margins:
        assert expected == pytest.approx((1 - 1 / truth.size) * without)
    assert expected < without
    # A mean of 400 squares of one cell is within 0.5 of its expectation, with rounding's 1/6 or less.
    squares = ((values - truth) ** 2).mean()
    assert abs(squares / expected - 1) < 0.5
    low, high = limits[..., 0], limits[..., 1]
    fewest = binom.ppf(1e-8, RUNS, 0.95)
    assert ((low <= truth) & (truth <= high)).sum(axis=0).min() >= fewest
    drawn = private.fit(answers[0].cells, answers[0].noisy_margins)
    assert (high - low).mean() <= (drawn.interval[..., 1] - drawn.interval[..., 0]).mean()
    for axis in range(truth.ndim):
        exact = truth.sum(axis=tuple(other for other in range(truth.ndim) if other != axis))
        found = np.array([answer.margins[axis] for answer in answers])
        assert (found.sum(axis=1) == people).all()
        foretold = query.expected_margin_errors()[axis] ** 2
        assert foretold < private.expected_margin_errors()[axis] ** 2
        assert abs(((found - exact) ** 2).mean() / foretold - 1) < 0.6
        of_margin = np.array([answer.margin_intervals[axis] for answer in answers])
        inside = (of_margin[..., 0] <= exact) & (exact <= of_margin[..., 1])
        assert inside.sum(axis=0).min() >= fewest
        # The twin leaves the total to the noise: one over all cells, far more than is foretold.
        if shape == (6, 2) and not margins and axis == 1:
            twins = np.array([private.fit(answer.cells, ()).margins[axis] for answer in answers])
            assert ((twins - exact) ** 2).mean() > 1.3 * foretold
            assert (twins.sum(axis=1) != people).any()


def test_with_a_known_total_half_an_interval_misses() -> None:
    """The twin of the coverage above: half of a 95 % interval holds four fifths or less."""
    truth = np.full((6, 2), 200)
    query = contingency(VARIABLES, 0.2, "bounded", total=2400)
    inside = 0
    for _ in range(RUNS):
        low, high = np.moveaxis(query.release(truth).interval, -1, 0)
        inside += int((np.abs(truth - (low + high) / 2) <= (high - low) / 4).sum())
    assert inside < 0.9 * RUNS * truth.size


def test_margins_of_their_own_pay_off_in_large_tables_only() -> None:
    small = [contingency(VARIABLES, 1.0, margins=part).expected_margin_errors() for part in (0.0, 0.3)]
    assert all(without < own for without, own in zip(*small, strict=True))
    wide = [range(2), range(400)]
    large = [contingency(wide, 1.0, margins=part).expected_margin_errors() for part in (0.0, 0.3)]
    assert large[1][0] < 0.6 * large[0][0]


def test_the_sensitivity_is_the_largest_change_over_all_neighbours() -> None:
    query = contingency(["ab", "xy"], 1.0)
    people = list(itertools.product("ab", "xy"))
    for first, second in itertools.product(people, people):
        one, other = (query.tally(*([value] for value in person)) for person in (first, second))
        for change in (one - other, one):
            for sums in (change, change.sum(0), change.sum(1)):
                limit = query.sensitivity("bounded" if change is not one else "unbounded")
                assert np.abs(sums).sum() <= limit
    assert query.run(["a", "b"], ["x", "x"]).value.shape == (2, 2)


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=3),
    st.floats(0.01, 50),
    st.sampled_from([0.0, 0.2, 0.9]),
    st.integers(0, 10**6),
)
def test_no_table_fails(shape: list[int], epsilon: float, margins: float, seed: int) -> None:
    query = contingency([range(size) for size in shape], epsilon, "bounded", margins)
    truth = np.random.default_rng(seed).poisson(3, shape)
    known = contingency(query.categories, epsilon, "bounded", margins, int(truth.sum())).release(truth)
    assert known.value.sum() == truth.sum()
    assert known.value.min() >= 0
    for each in (known.interval, *known.margin_intervals):
        assert 0 <= each.min() <= each.max() <= truth.sum()
    answer = query.release(truth)
    assert answer.value.min() >= 0
    for axis, margin in enumerate(answer.margins):
        others = tuple(other for other in range(len(shape)) if other != axis)
        assert (answer.value.sum(axis=others) == margin).all()


@settings(deadline=None, max_examples=80)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=2), st.integers(0, 10**6))
def test_tables_of_two_variables_are_rounded_to_near_by_numbers(shape: list[int], seed: int) -> None:
    # Mixtures of whole tables with the same margins have whole margins themselves.
    rng = np.random.default_rng(seed)
    whole = rng.poisson(2, shape)
    if len(shape) == 2:
        permuted = whole + np.zeros(shape, dtype=np.int64)
        for _ in range(20):
            (a, b), (c, d) = rng.integers(0, shape[0], 2), rng.integers(0, shape[1], 2)
            if a != b and c != d and min(permuted[a, c], permuted[b, d]) > 0:
                permuted[[a, b], [c, d]] -= 1
                permuted[[a, b], [d, c]] += 1
        values = 0.37 * whole + 0.63 * permuted
    else:
        values = whole.astype(float)
    margins = [
        np.rint(values.sum(axis=tuple(x for x in range(len(shape)) if x != axis)))
        for axis in range(len(shape))
    ]
    rounded = round_table(values, [margin.astype(int) for margin in margins])
    assert rounded.min() >= 0
    for axis, margin in enumerate(margins):
        assert (rounded.sum(axis=tuple(x for x in range(len(shape)) if x != axis)) == margin).all()
    assert np.abs(rounded - values).max() < 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: contingency(VARIABLES, 0.0), "epsilon must be positive"),
        (lambda: contingency([], 1.0), "categories must declare at least one variable"),
        (lambda: contingency(VARIABLES, 1.0, margins=1.0), r"margins must be in \[0, 1\)"),
        (lambda: contingency(VARIABLES, 1.0).release([[1, 2]]), r"counts must have shape \(6, 2\)"),
        (lambda: contingency(["ab"], 1.0, total=5), "total must be None under unbounded neighbours"),
        (lambda: contingency(["ab"], 1.0, "bounded", total=-1), "total must be a whole number in"),
        (
            lambda: contingency(["ab"], 1.0, "bounded", total=5).release([2, 2]),
            "counts must add up to the total, 5",
        ),
        (lambda: contingency(["ab"], 1.0, "bounded", total=5).sensitivity("unbounded"), "total must be None"),
        (lambda: contingency(["ab"], 1.0).fit([1, 2], [[1, 2]]), "cells and noisy_margins must have shapes"),
        (lambda: contingency(["ab"], 1.0, margins=0.5).fit([1, 2], []), "cells and noisy_margins must have"),
        (lambda: round_table([1.5, 1.5], [[1, 2]]), "margins of axis 0 must be what the values sum to"),
        (lambda: round_table([[1.0, 1.0]], [None, [1, 1]]), "margins must have an entry for every axis"),
        (lambda: round_table([1.5, 1.5], [[1.5, 1.5]]), "margins of axis 0 must be whole numbers"),
        (lambda: round_table([-1.0, 1.0], [[-1, 1]]), "values must be in"),
        (lambda: epsilon_for_error(lambda e: 1 / e, 0.001), "error must be at least 0.01, what is reached"),
        (lambda: epsilon_for_error(lambda e: 1 / e, 1.0, low=2.0, high=1.0), "low must be below high"),
        (lambda: epsilon_for_error(3, 1.0), "expected_error must be a function of epsilon"),  # type: ignore[arg-type]
        (lambda: epsilon_for_error(lambda e: math.nan, 1.0), "must give a number"),
    ],
)
def test_bad_arguments_are_refused_by_name(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@settings(deadline=None)
@given(st.floats(1e-3, 1e4))
def test_the_loss_for_an_error_is_the_smallest_of_four_digits_that_reaches_it(error: float) -> None:
    def expect_error(epsilon: float) -> float:
        return count(epsilon).expected_error()

    if expect_error(100.0) > error:
        with pytest.raises(ValueError, match="error must be at least"):
            epsilon_for_error(expect_error, error)
        return
    found = epsilon_for_error(expect_error, error)
    assert expect_error(found) <= error
    digits = f"{found:.3e}"
    assert float(digits) == found
    if found > 1e-4:
        mantissa, exponent = digits.split("e")
        below = float(f"{float(mantissa) - 0.001:.4f}e{exponent}")
        assert expect_error(below) > error


def test_errors_of_means_are_reached_too() -> None:
    found = epsilon_for_error(lambda epsilon: mean(0, 100, epsilon).expected_error(500), 0.5)
    assert mean(0, 100, found).expected_error(500) <= 0.5
    assert mean(0, 100, found - 0.001).expected_error(500) > 0.5
    assert epsilon_for_error(lambda epsilon: 0.0, 1.0) == 1e-4
