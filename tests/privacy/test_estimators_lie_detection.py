"""The stochastic lie detector: both shares, their limits, and what happens on the boundary."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import binom

from server.privacy.estimators import cheating_test, detect_lies
from server.privacy.estimators.one_sided import mangat

TRUTHS = (0.8, 0.2)


def yes_chances(share: float, honesty: float, truths: tuple[float, float] = TRUTHS) -> NDArray[np.float64]:
    return np.array([share * honesty + (1 - share) * (1 - truth) for truth in truths])


def expected_counts(share: float, honesty: float, n: int = 10**6) -> NDArray[np.int64]:
    yes = np.round(n * yes_chances(share, honesty)).astype(int)
    return np.stack([n - yes, yes], axis=1)


def test_share_and_honesty_are_found_again() -> None:
    result = detect_lies(expected_counts(0.3, 0.6), TRUTHS)
    assert (result.share, result.honesty) == pytest.approx((0.3, 0.6), abs=1e-5)
    assert (result.likeliest_share, result.likeliest_honesty) == (result.share, result.honesty)
    assert result.g_squared == 0
    assert result.p_value < 1e-6
    honest = detect_lies(expected_counts(0.3, 1), TRUTHS)
    assert honest.p_value > 0.9
    assert honest.truthful_share == pytest.approx(0.3, abs=1e-5)


def test_the_shares_are_those_of_cheaters_under_mangats_device() -> None:
    # Clark and Desharnais' model with "yes" always said: the same two equations.
    counts = [[640, 360], [300, 700]]
    result, other = detect_lies(counts, TRUTHS), cheating_test(counts, [mangat(truth) for truth in TRUTHS])
    _, yes, cheaters = other.shares.tolist()
    assert result.share == pytest.approx(yes + cheaters, abs=1e-8)
    assert result.honesty == pytest.approx(yes / (yes + cheaters), abs=1e-8)
    assert 1 - np.array(result.share_interval[::-1]) == pytest.approx(other.intervals[0], abs=1e-8)
    assert result.standard_errors[0] == pytest.approx(other.standard_errors[0], abs=1e-8)
    assert (result.truthful_share, result.p_value) == pytest.approx(
        (other.honest_share, other.p_value), abs=1e-7
    )


@pytest.mark.parametrize(
    "counts",
    [
        [[640, 360], [300, 700]],  # inside
        [[700, 300], [200, 800]],  # more "yes" than honesty explains
        [[900, 100], [400, 600]],  # nobody with the trait admits it
        [[300, 700], [350, 650]],  # no difference to speak of: everybody has the trait
        [[5, 95], [2, 98]],
        [[100, 0], [0, 100]],
        [[0, 100], [100, 0]],
    ],
)
def test_the_likeliest_are_those_of_a_search(counts: list[list[int]]) -> None:
    tallies = np.array(counts)

    def loss(shares: NDArray[np.float64]) -> float:
        chances = np.clip(yes_chances(*shares), 1e-12, 1 - 1e-12)
        return -float((tallies[:, 1] * np.log(chances) + tallies[:, 0] * np.log(1 - chances)).sum())

    found = min(
        (
            minimize(loss, start, bounds=[(0, 1), (0, 1)], method="L-BFGS-B", options={"ftol": 1e-14})
            for start in ([0.2, 0.8], [0.8, 0.2], [0.9, 0.9], [0.1, 0.1])
        ),
        key=lambda each: float(each.fun),
    )
    result = detect_lies(counts, TRUTHS)
    honesty = 0.5 if result.likeliest_honesty is None else result.likeliest_honesty
    ours = loss(np.array([result.likeliest_share, honesty]))
    assert ours <= found.fun + 1e-6
    assert result.likeliest_share == pytest.approx(found.x[0], abs=2e-3)
    observed = tallies[:, 1] / tallies.sum(axis=1)
    best = -sum(
        float(binom.logpmf(yes, no + yes, each)) for (no, yes), each in zip(counts, observed, strict=True)
    )
    likely = -sum(
        float(binom.logpmf(yes, no + yes, each))
        for (no, yes), each in zip(counts, yes_chances(result.likeliest_share, honesty), strict=True)
    )
    assert result.g_squared == pytest.approx(2 * (likely - best), abs=1e-6)
    assert result.impossible == (result.g_squared > 0)


@pytest.mark.parametrize(("share", "honesty"), [(0.3, 0.6), (0.3, 1.0), (0.15, 1.0), (0.4, 0.1)])
def test_intervals_hold_inside_and_where_nobody_lies(share: float, honesty: float) -> None:
    # The broken twin takes everybody for honest, as one who knows Mangat's device alone would.
    random, studies, n = np.random.default_rng(11), 300, 500
    least = binom.ppf(1e-6, studies, 0.935)
    chances = yes_chances(share, honesty)
    held_share = held_honesty = twin = 0
    for _ in range(studies):
        yes = random.binomial(n, chances)
        result = detect_lies(np.stack([n - yes, yes], axis=1), TRUTHS)
        low, high = result.share_interval
        held_share += low <= share <= high
        held_honesty += result.honesty_interval[0] - 1e-9 <= honesty <= result.honesty_interval[1] + 1e-9
        twin += abs(result.truthful_share - share) <= (high - low) / 2
    assert held_share >= least
    assert held_honesty >= least
    if honesty < 1:
        assert twin < least


def test_where_nobody_is_shown_to_have_the_trait_honesty_may_be_anything() -> None:
    result = detect_lies([[75, 25], [25, 75]], (0.75, 0.25))
    assert result.honesty is None
    assert result.standard_errors[1] is None
    assert result.honesty_interval == (0.0, 1.0)
    assert result.likeliest_honesty is None
    alone = detect_lies([[0, 1], [5, 5]], TRUTHS)
    assert alone.standard_errors[0] == math.inf


@given(
    st.lists(st.integers(0, 10**6), min_size=4, max_size=4),
    st.floats(0, 1),
    st.floats(0.01, 1),
)
def test_no_valid_groups_raise_or_give_nan(counts: list[int], first: float, apart: float) -> None:
    table = np.add(np.reshape(counts, (2, 2)), [[1, 0], [0, 1]])
    second = first + apart if first + apart <= 1 else first - apart
    if not 0 <= second <= 1:
        return
    result = detect_lies(table, [first, second])
    assert "nan" not in repr(result)
    assert 0 <= result.likeliest_share <= 1
    assert result.likeliest_honesty is None or 0 <= result.likeliest_honesty <= 1
    assert result.share_interval[0] <= result.share <= result.share_interval[1]
    if result.honesty is not None and result.honesty_interval != (0.0, 1.0):
        assert result.honesty_interval[0] <= result.honesty <= result.honesty_interval[1]


@pytest.mark.parametrize(
    ("counts", "truths", "message"),
    [
        ([[1, 2], [3, 4]], [0.5], "truths must be two chances; there are 1"),
        ([[1, 2], [3, 4]], [0.5, 0.5], "truths must be two different chances; both are 0.5"),
        ([[1, 2], [3, 4]], [0.5, 1.5], r"truths must be in \[0, 1\]"),
        ([[1, 2]], [0.5, 0.1], r"counts must have shape \(2, 2\)"),
        ([[1, 2], [0, 0]], [0.5, 0.1], "must have a positive sum"),
    ],
)
def test_bad_groups_are_refused(counts: Any, truths: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        detect_lies(counts, truths)
