"""Accounting: sums and maxima, the advanced theorem, ranges, and what they refuse."""

import copy
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.privacy.accounting import (
    Loss,
    advanced,
    best_composition,
    bounded_from_unbounded,
    optimal,
    parallel,
    probability_range,
    sequential,
    shuffle_amplification,
)
from server.privacy.auditing import exact_loss

losses = st.floats(0, 1e6)


def test_losses_in_sequence_add_up_as_the_decimals_they_print() -> None:
    assert sequential([0.1, 0.2]) == Loss(0.3)
    assert sequential([0.1] * 10) == Loss(1.0)
    assert sequential([Fraction(1, 3)] * 3) == Loss(1.0)
    assert sequential([Loss(0.5, 1e-6), Loss(0.25, 1e-6), Decimal("0.25")]) == Loss(1.0, 2e-6)


def test_a_loss_is_the_number_that_its_epsilon_is() -> None:
    loss = advanced(1 / 801, 10_000, math.exp(-32))  # methods.md section 9: said to stay below 1
    assert loss > 1
    assert loss == loss.epsilon == pytest.approx(1.01435, abs=5e-6)
    assert advanced(1 / 812.5, 10_000, math.exp(-32)) < 1
    assert max(sequential([0.1, 0.2]), parallel([0.4, 0.1], "unbounded")) == 0.4
    assert (f"{Loss(0.25, 1e-6):.2f}", Loss(0.25, 1e-6) + 1, len({Loss(0.5), 0.5})) == ("0.25", 1.25, 1)


def test_guarantees_are_equal_when_both_parts_are() -> None:
    assert Loss(0.5, 1e-6) == Loss(0.5, 1e-6) != Loss(0.5)
    assert Loss(0.5) != Loss(0.25)
    assert Loss(0.5) != "0.5"
    assert copy.copy(Loss(0.5, 1e-6)) == copy.deepcopy(Loss(0.5, 1e-6)) == Loss(0.5, 1e-6)


@pytest.mark.parametrize(
    "book",
    [
        lambda loss: advanced(loss, 2, 1e-6),
        lambda loss: best_composition([loss], 2, 1e-6),
        lambda loss: probability_range(0.5, loss),
        lambda loss: shuffle_amplification(100, loss, 1e-6),
    ],
)
def test_a_delta_is_not_forgotten_where_a_loss_is_booked_as_a_number(book: Callable[[Loss], Any]) -> None:
    book(Loss(0.5))
    with pytest.raises(
        ValueError, match=r"must be a loss without a delta of its own; it is Loss\(epsilon=0.5"
    ):
        book(Loss(0.5, 1e-6))


def test_the_smallest_failure_probabilities_have_finite_losses() -> None:
    # ln(1 / delta) of a delta below 1e-308 is finite, 1 / delta is not.
    expected = math.sqrt(2 * 2 * 320 * math.log(10)) * 0.1 + 2 * 0.1 * math.expm1(0.1)
    assert advanced(0.1, 2, 1e-320).epsilon == pytest.approx(expected, rel=1e-4)
    assert best_composition(0.1, 100, 1e-320).epsilon == pytest.approx(10)
    assert shuffle_amplification(100, 1.0, 1e-320).epsilon == 1.0
    # A loss so small that 1 - e^-loss is 0 in floats.
    assert 0 <= shuffle_amplification(100, 1e-300, 1e-6).epsilon <= 1e-300
    assert optimal(1e300, 3, 1e-6) == 3e300


def test_losses_side_by_side_are_the_largest_one() -> None:
    assert parallel([0.1, Loss(0.3, 1e-9), Loss(0.2, 1e-6)], "unbounded") == Loss(0.3, 1e-6)


def test_parallel_composition_is_refused_for_replaced_records() -> None:
    with pytest.raises(ValueError, match=r"neighbours must be 'unbounded'.*bounded_from_unbounded"):
        parallel([0.1, 0.2], "bounded")


def test_a_record_that_moves_between_two_parts_costs_both() -> None:
    # Two parts, each counted with geometric noise of loss 1; one person moves from the first to the second.
    noise = np.exp(-np.abs(np.arange(-30, 31))) * math.tanh(0.5)
    shifted = np.exp(-np.abs(np.arange(-31, 30))) * math.tanh(0.5)
    moved = exact_loss(np.outer(noise, shifted).ravel(), np.outer(shifted, noise).ravel())
    assert moved == pytest.approx(2.0, abs=1e-12)
    assert moved == pytest.approx(bounded_from_unbounded(parallel([1.0, 1.0], "unbounded")).epsilon)


def test_unbounded_privacy_implies_bounded_privacy_at_twice_the_loss() -> None:
    assert bounded_from_unbounded(0.5) == Loss(1.0)
    loss = bounded_from_unbounded(Loss(1.0, 1e-6))
    assert (loss.epsilon, loss.delta) == (2.0, pytest.approx(1e-6 * (1 + math.e)))


def test_bounded_privacy_implies_nothing_about_unbounded_privacy() -> None:
    # methods.md section 9: publishing n exactly is bounded 0-private. Rows: 3 and 3 people, then 3 and 4.
    assert exact_loss([0, 1, 0], [0, 1, 0]) == 0
    assert exact_loss([0, 1, 0], [0, 0, 1]) == math.inf


def test_ten_thousand_releases_at_one_801st_do_not_stay_below_one() -> None:
    # methods.md section 9.
    assert advanced(1 / 801, 10_000, math.exp(-32)).epsilon == pytest.approx(1.01435, abs=5e-6)
    assert advanced(1 / 812.3, 10_000, math.exp(-32)).epsilon > 1
    assert advanced(1 / 812.4, 10_000, math.exp(-32)).epsilon < 1


def test_the_largest_of_ten_thousand_laplace_errors() -> None:
    # methods.md sections 3 and 9: ln(10000/0.5) is 9.903; 12.206 is ln(10000/0.05).
    assert math.log(10_000 / 0.5) == pytest.approx(9.903, abs=5e-4)
    assert math.log(10_000 / 0.05) == pytest.approx(12.206, abs=5e-4)


def test_failure_probabilities_of_the_advanced_theorem_add_up() -> None:
    assert advanced(0.1, 10, 1e-6, delta=1e-7).delta == pytest.approx(2e-6)
    assert advanced(0.1, 10, 0.5, delta=0.1).delta == 1


@pytest.mark.parametrize(
    ("p", "epsilon", "low", "high"),
    [
        (0.5, 1, 0.1839, 0.8161),
        (0.1, 1, 0.0368, 0.2718),
        (0.01, 1, 0.0037, 0.0272),
        (0.99, 1, 0.9728, 0.9963),
        (0.5, 0.1, 0.4524, 0.5476),
        (0.5, 5, 0.0034, 0.9966),
    ],
)
def test_worked_ranges_of_a_probability(p: float, epsilon: float, low: float, high: float) -> None:
    # methods.md section 4.
    assert probability_range(p, epsilon) == pytest.approx([low, high], abs=5e-5)


@given(st.integers(0, 1024), st.floats(0, 1e5))
def test_a_range_holds_its_probability_and_is_symmetric(parts: int, epsilon: float) -> None:
    p = parts / 1024  # so that 1 - p is exact too
    low, high = probability_range(p, epsilon)
    assert 0 <= low <= p + 1e-12
    assert p - 1e-12 <= high <= 1
    assert probability_range(1 - p, epsilon) == pytest.approx([1 - high, 1 - low], abs=1e-9)


def test_ranges_of_many_probabilities_and_of_the_impossible() -> None:
    assert probability_range([0.0, 1.0], 1e4).tolist() == [[0, 0], [1, 1]]
    assert probability_range([[0.5]], 0).tolist() == [[[0.5, 0.5]]]


@given(st.lists(losses, min_size=1, max_size=20))
def test_a_maximum_is_at_most_a_sum(values: list[float]) -> None:
    assert parallel(values, "unbounded").epsilon <= sequential(values).epsilon * (1 + 1e-15)
    assert sequential(values).epsilon == pytest.approx(math.fsum(values), rel=1e-12)


@given(st.floats(1e-9, 1e4), st.integers(1, 10**9), st.floats(1e-300, 0.5))
def test_the_advanced_theorem_never_raises_and_is_never_no_number(e: float, k: int, delta: float) -> None:
    assert advanced(e, k, delta).epsilon >= 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sequential([]), "losses must hold at least one loss"),
        (lambda: sequential([0.1, -0.1]), r"losses must be not negative and finite; it is -0\.1"),
        (lambda: sequential([math.nan]), "losses must be not negative and finite; it is nan"),
        (lambda: sequential([math.inf]), "losses must be not negative and finite; it is inf"),
        (lambda: sequential(["1"]), "losses must be not negative and finite; it is '1'"),  # type: ignore[list-item]
        (lambda: sequential([True]), "losses must be not negative and finite; it is True"),
        (lambda: sequential([Decimal("nan")]), "losses must be not negative and finite"),
        (lambda: sequential([Loss(1, 1)]), r"losses must be in \[0, 1\); it is 1"),
        (lambda: parallel([1], "both"), "neighbours must be one of unbounded, bounded; it is 'both'"),
        (lambda: bounded_from_unbounded(-1), "not negative and finite; it is -1"),
        (lambda: advanced(0, 1, 0.1), "epsilon must be positive and finite; it is 0"),
        (lambda: advanced(1, 0, 0.1), r"k must be a whole number in \[1, 9007199254740992\]; it is 0"),
        (lambda: advanced(1, 1.5, 0.1), "k must be a whole number"),  # type: ignore[arg-type]
        (lambda: advanced(1, 1, 0), r"delta_prime must be in the open interval \(0, 1\); it is 0"),
        (lambda: advanced(1, 1, 0.1, 1), r"delta must be in \[0, 1\); it is 1"),
        (lambda: optimal(1, 1 << 21, 0.1), r"k must be a whole number in \[1, 2097151\]; it is 2097152"),
        (lambda: optimal(1, 1, math.nan), r"delta must be in \[0, 1\); it is nan"),
        (lambda: best_composition([]), "epsilon must name at least one loss"),
        (lambda: best_composition([1, 0]), "epsilon must be positive and finite; it is 0"),
        (lambda: best_composition(1, 1, 1), r"delta must be in \[0, 1\); it is 1"),
        (lambda: probability_range(1.1, 1), r"p must be one number in \[0, 1\] or more; it is 1\.1"),
        (lambda: probability_range([math.nan], 1), r"p must be one number in \[0, 1\] or more"),
        (lambda: probability_range(0.5, -1), "epsilon must be not negative and finite; it is -1"),
        (lambda: probability_range(0.5, math.inf), "epsilon must be not negative and finite; it is inf"),
        (
            lambda: shuffle_amplification(0, 1, 0.1),
            r"n must be a whole number in \[1, 8589934592\]; it is 0",
        ),
        (lambda: shuffle_amplification(9, 0, 0.1), "local_epsilon must be positive and finite; it is 0"),
        (lambda: shuffle_amplification(9, 1, 0), r"delta must be in the open interval \(0, 1\); it is 0"),
    ],
)
def test_bad_arguments_are_refused_with_name_range_and_value(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
