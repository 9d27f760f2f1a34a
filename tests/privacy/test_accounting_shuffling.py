"""Shuffling: the closed form, the numerical bound, and exact tallies neither may undercut."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from server.privacy.accounting import shuffle_amplification
from server.privacy.auditing import exact_loss


def exact_tally_loss(n: int, local: float, delta: float, yes: int) -> float:
    """The loss of the yes count of n coin flips when `yes` of the other n - 1 people say yes."""
    truth = 1 / (1 + math.exp(-local))
    others = np.convolve(
        binom.pmf(np.arange(yes + 1), yes, truth), binom.pmf(np.arange(n - yes), n - 1 - yes, 1 - truth)
    )
    first, second = np.convolve(others, [truth, 1 - truth]), np.convolve(others, [1 - truth, truth])
    scale = max(first.sum(), second.sum(), 1.0)
    return exact_loss(first / scale, second / scale, delta=delta)


def clone_failure(n: int, local: float, epsilon: float) -> float:
    """Theorem 3.2 summed over every number of clones and every number of ones, term by term."""
    truth, total = 1 / (1 + math.exp(-local)), 0.0
    for clones in range(n):
        ones = np.arange(clones + 2)
        with_own, without = binom.pmf(ones - 1, clones, 0.5), binom.pmf(ones, clones, 0.5)
        first = truth * with_own + (1 - truth) * without
        second = (1 - truth) * with_own + truth * without
        total += float(binom.pmf(clones, n - 1, math.exp(-local))) * float(
            np.maximum(first - math.exp(epsilon) * second, 0).sum()
        )
    return total


def test_the_closed_form_is_that_of_the_theorem() -> None:
    # methods.md section 3, written out for n = 10,000, eps0 = ln 3, delta = 1e-6.
    expected = math.log(
        1 + (3 - 1) / (3 + 1) * (8 * math.sqrt(3 * math.log(4e6)) / math.sqrt(10_000) + 8 * 3 / 10_000)
    )
    found = shuffle_amplification(10_000, math.log(3), 1e-6)
    assert found.closed_form == pytest.approx(expected, rel=1e-12)
    assert found.closed_form is not None
    assert found.epsilon == found.numerical < found.closed_form / 3


def test_the_closed_form_is_given_only_under_its_condition() -> None:
    limit = math.log(1000 / (16 * math.log(2 / 1e-6)))
    assert shuffle_amplification(1000, limit * 0.999, 1e-6).closed_form is not None
    assert shuffle_amplification(1000, limit * 1.001, 1e-6).closed_form is None


@pytest.mark.parametrize(
    ("n", "local", "delta"), [(30, 1.0, 1e-3), (200, 0.5, 1e-5), (300, 2.0, 1e-6), (12, 3.0, 0.01)]
)
def test_the_numerical_bound_is_that_of_the_clones(n: int, local: float, delta: float) -> None:
    found = shuffle_amplification(n, local, delta).numerical
    assert clone_failure(n, local, found) <= delta * (1 + 1e-12)
    assert clone_failure(n, local, found * 0.999) > delta


@pytest.mark.parametrize("n", [1, 10, 100, 1000])
@pytest.mark.parametrize("local", [0.1, math.log(3), 3.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_no_bound_is_below_the_exact_loss_of_a_tally(n: int, local: float, delta: float) -> None:
    found = shuffle_amplification(n, local, delta)
    for yes in {0, (n - 1) // 2, n - 1}:
        assert found.epsilon >= exact_tally_loss(n, local, delta, yes) - 1e-9


def test_a_bound_at_half_its_value_would_be_below() -> None:
    # The broken twin of the test above.
    half = shuffle_amplification(1000, math.log(3), 1e-6).epsilon / 2
    assert half < exact_tally_loss(1000, math.log(3), 1e-6, 0)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 10**6), st.floats(1e-3, 600), st.floats(1e-15, 0.5))
def test_bounds_are_numbers_and_no_worse_than_local(n: int, local: float, delta: float) -> None:
    found = shuffle_amplification(n, local, delta)
    assert 0 <= found.epsilon <= found.numerical <= local
    assert found.closed_form is None or found.epsilon <= found.closed_form


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 10**5), st.floats(0.01, 5), st.floats(1e-9, 0.1))
def test_a_larger_crowd_hides_better(n: int, local: float, delta: float) -> None:
    small, large = (shuffle_amplification(people, local, delta).numerical for people in (n, 2 * n))
    assert large <= small * (1 + 1e-3) + 1e-12
