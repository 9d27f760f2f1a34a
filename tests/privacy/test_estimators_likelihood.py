"""Maximum likelihood: inside the simplex, equal to the unbiased estimate there, certified at its edge."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from server.privacy.designs import TOTAL, Design, coin_flip, custom, k_ary, ordinal
from server.privacy.estimators import estimate_shares, maximum_likelihood

THREE_BY_FOUR = custom([[0.4, 0.3, 0.2, 0.1], [0.1, 0.4, 0.3, 0.2], [0.2, 0.1, 0.1, 0.6]])


@pytest.mark.parametrize(
    ("design", "counts"),
    [
        (coin_flip(0.25), [600, 400]),
        (coin_flip(0.001), [5001, 4999]),
        (k_ary(4, 1.0), [300, 250, 250, 200]),
        (ordinal(5, 2.0), [200, 210, 220, 200, 190]),
    ],
)
def test_inside_the_simplex_it_is_the_unbiased_estimate(design: Design, counts: list[int]) -> None:
    unbiased = estimate_shares(counts, design).shares
    assert unbiased.min() > 0
    assert maximum_likelihood(counts, design).shares == pytest.approx(unbiased, abs=1e-12)


@pytest.mark.parametrize(("counts", "share"), [([800, 200], 0.0), ([100, 900], 1.0), ([750, 250], 0.0)])
@pytest.mark.parametrize("gamma", [0.25, 0.01, 1e-6])
def test_a_yes_no_share_beyond_its_range_is_put_on_its_edge(
    counts: list[int], share: float, gamma: float
) -> None:
    shares = maximum_likelihood(counts, coin_flip(gamma)).shares
    assert shares == pytest.approx([1 - share, share], abs=1e-9)


@pytest.mark.parametrize(
    ("design", "counts"),
    [
        (k_ary(4, 1.0), [700, 200, 60, 40]),
        (ordinal(5, 1.0), [900, 20, 20, 20, 40]),
        (THREE_BY_FOUR, [300, 250, 200, 250]),
        (THREE_BY_FOUR, [700, 100, 100, 100]),
    ],
)
def test_it_agrees_with_a_general_optimiser(design: Design, counts: list[int]) -> None:
    def loss(shares: Any) -> float:
        return -float(np.array(counts) / sum(counts) @ np.log(shares @ design.matrix))

    truths = design.weights.shape[0]
    oracle = minimize(
        loss,
        np.full(truths, 1 / truths),
        bounds=[(0, 1)] * truths,
        constraints={"type": "eq", "fun": lambda shares: shares.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    found = maximum_likelihood(counts, design)
    assert found.shares == pytest.approx(oracle.x, abs=1e-4)
    assert found.log_likelihood >= -oracle.fun * sum(counts) - 1e-9
    assert found.log_likelihood == pytest.approx(
        float(np.array(counts) @ np.log(found.shares @ design.matrix))
    )


def test_plain_em_climbs_to_the_same_place() -> None:
    counts = np.array([700, 200, 60, 40])
    design = k_ary(4, 1.0)
    shares = np.full(4, 0.25)
    for _ in range(20_000):
        shares = shares * (design.matrix @ (counts / counts.sum() / (shares @ design.matrix)))
    assert maximum_likelihood(counts, design).shares == pytest.approx(shares, abs=1e-6)


def test_it_starts_from_nothing_random() -> None:
    first, second = (maximum_likelihood([700, 100, 100, 100], THREE_BY_FOUR) for _ in range(2))
    assert first.shares.tolist() == second.shares.tolist()
    assert first.steps == second.steps > 0


@pytest.mark.parametrize(
    ("counts", "design", "message"),
    [
        ([0, 0], coin_flip(0.25), "positive sum"),
        ([-1, 2], coin_flip(0.25), "must not be negative"),
        ([math.nan, 2], coin_flip(0.25), "whole numbers"),
        ([], coin_flip(0.25), "shape"),
        ([1, 2, 3], coin_flip(0.25), "shape"),
        ([1, 2], Design([[TOTAL // 2] * 2] * 2), "tell the two answers apart"),
    ],
)
def test_bad_arguments_are_refused(counts: list[float], design: Design, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        maximum_likelihood(counts, design)


@given(
    st.integers(2, 6).flatmap(lambda k: st.lists(st.integers(0, 10**6), min_size=k, max_size=k).filter(any)),
    st.floats(0.01, 5),
    st.booleans(),
)
def test_it_is_certified_for_every_tally(counts: list[int], epsilon: float, ordered: bool) -> None:
    design = (ordinal if ordered else k_ary)(len(counts), epsilon)
    found = maximum_likelihood(counts, design)
    assert (found.shares >= 0).all()
    assert found.shares.sum() == pytest.approx(1, abs=1e-12)
    assert found.shortfall <= 1e-12 * sum(counts) + 1e-9
