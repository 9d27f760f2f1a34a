"""Trees made to add up: weighted least squares and whole numbers."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.privacy.consistency import consistent_hierarchy, round_to_integers
from server.privacy.noise import geometric, geometric_variance

PLACES = [-1, 0, 0, 0, 1, 1, 2, 2, 3, 3]
PEOPLE = np.array([1000, 300, 400, 300, 100, 200, 150, 250, 200, 100])
"""Country, three states, two municipalities each."""


def leaf_sums(parents: np.ndarray) -> np.ndarray:
    """Matrix from leaves to nodes, shape (nodes, leaves)."""
    leaves = [node for node in range(len(parents)) if node not in set(parents.tolist())]
    matrix = np.zeros((len(parents), len(leaves)))
    for column, leaf in enumerate(leaves):
        node = leaf
        while node >= 0:
            matrix[node, column] = 1
            node = int(parents[node])
    return matrix


def random_tree(generator: np.random.Generator, nodes: int) -> np.ndarray:
    return np.array([-1] + [int(generator.integers(-1 if n % 7 == 0 else 0, n)) for n in range(1, nodes)])


@pytest.mark.parametrize("seed", range(8))
def test_ragged_trees_equal_dense_generalised_least_squares(seed: int) -> None:
    generator = np.random.default_rng(seed)
    parents = random_tree(generator, 30)
    noisy, variances = generator.normal(50, 20, 30), generator.uniform(0.1, 9, 30)
    best = consistent_hierarchy(noisy, parents, variances)
    sums = leaf_sums(parents)
    information = np.linalg.inv(sums.T @ (sums / variances[:, None]))
    expected = sums @ information @ (sums.T @ (noisy / variances))
    assert best.values == pytest.approx(expected, rel=1e-9)
    assert best.variances == pytest.approx(np.diag(sums @ information @ sums.T), rel=1e-9)


@pytest.mark.parametrize(("branches", "levels"), [(2, 5), (3, 4), (7, 2)])
def test_uniform_trees_equal_the_two_passes_of_hay(branches: int, levels: int) -> None:
    nodes = (branches**levels - 1) // (branches - 1)
    parents = np.array([-1] + [(node - 1) // branches for node in range(1, nodes)])
    noisy = np.random.default_rng(3).normal(10, 5, nodes)
    children = [[c for c in range(nodes) if parents[c] == node] for node in range(nodes)]
    # Hay et al. 2010, theorem 3: z upwards, h downwards; l is a node's height, 1 for a leaf.
    upward, height = noisy.copy(), np.ones(nodes)
    for node in reversed(range(nodes)):
        if children[node]:
            height[node] = height[children[node][0]] + 1
            power, k = height[node], branches
            own = (k**power - k ** (power - 1)) / (k**power - 1)
            upward[node] = (
                own * noisy[node] + (k ** (power - 1) - 1) / (k**power - 1) * upward[children[node]].sum()
            )
    expected = upward.copy()
    for node in range(1, nodes):
        family = children[parents[node]]
        expected[node] += (expected[parents[node]] - upward[family].sum()) / branches
    assert consistent_hierarchy(noisy, parents).values == pytest.approx(expected, rel=1e-12)


def test_an_inner_node_that_was_not_counted_is_the_sum_of_its_children() -> None:
    best = consistent_hierarchy([0.0, 3.0, 4.0], [-1, 0, 0], [math.inf, 1.0, 2.0])
    assert best.values.tolist() == [7.0, 3.0, 4.0]
    assert best.variances.tolist() == [3.0, 1.0, 2.0]


def test_a_long_chain_and_a_wide_tree_take_no_recursion() -> None:
    chain = consistent_hierarchy(np.ones(3000), np.arange(3000) - 1)
    assert chain.values == pytest.approx(np.ones(3000))
    assert chain.variances == pytest.approx(np.full(3000, 1 / 3000))
    wide = consistent_hierarchy(np.ones(100_001), np.concatenate([[-1], np.zeros(100_000, dtype=int)]))
    assert wide.values[0] == pytest.approx(wide.values[1:].sum())


def release_country(runs: int) -> tuple[np.ndarray, np.ndarray]:
    """Noise alone, and what is published, for the country of methods.md's kind at epsilon 1."""
    variances = np.full(10, geometric_variance(1, 1 / 3))
    noisy = geometric(np.tile(PEOPLE, (runs, 1)), 1, 1 / 3)
    whole = [round_to_integers(consistent_hierarchy(n, PLACES, variances).values, PLACES) for n in noisy]
    return noisy, np.array(whole)


def test_releases_add_up_and_are_nowhere_worse_than_noise_alone() -> None:
    noisy, whole = release_country(3000)
    assert (whole >= 0).all()
    for parent in range(4):
        assert np.array_equal(whole[:, np.array(PLACES) == parent].sum(axis=1), whole[:, parent])
    # A squared error has a standard deviation of 2.2 times its mean, so the ratio of two means of
    # 3000 is off by 0.05 at the root, where there is one per run; 1 is more than 6 of those away.
    ours, noise = (((r - PEOPLE) ** 2).mean(axis=0) for r in (whole, noisy))
    for level in (slice(0, 1), slice(1, 4), slice(4, 10)):
        assert ours[level].mean() < noise[level].mean()


def test_the_variances_of_that_country_are_those_worked_by_hand() -> None:
    # In units of the noise. Upwards: 1; 1/(1 + 1/2) = 2/3; 1/(1 + 1/2) = 2/3. Downwards, a state:
    # 2/3 - (2/3)**2 / 2 + (2/3) / 9 = 14/27; a municipality: 1 - 1/2 + (14/27) / 4 = 17/27.
    best = consistent_hierarchy(PEOPLE, PLACES)
    assert best.values == pytest.approx(PEOPLE)
    assert best.variances == pytest.approx(np.array([18] + [14] * 3 + [17] * 6) / 27)


def test_small_counts_stay_non_negative_without_losing_their_sums() -> None:
    truth = np.array([3, 0, 3, 0, 0, 0, 2, 1, 0, 0])
    for noisy in geometric(np.tile(truth, (300, 1)), 1, 0.3):
        whole = round_to_integers(consistent_hierarchy(noisy, PLACES).values, PLACES)
        assert (whole >= 0).all()
        assert all(whole[np.array(PLACES) == parent].sum() == whole[parent] for parent in range(4))


def test_rounding_stays_within_one_of_parts_that_already_fit() -> None:
    assert round_to_integers([2.5, 2.5, 5.0]).tolist() == [3, 2, 5]
    assert round_to_integers([33.3, 33.3, 33.4], total=100).tolist() == [33, 33, 34]
    assert round_to_integers([-5.0, -5.0]).tolist() == [0, 0]
    assert round_to_integers([-4.0, 1.0, 1.0], [-1, 0, 0]).tolist() == [0, 0, 0]


def test_rounding_moves_the_others_when_one_is_negative() -> None:
    # The nearest non-negative parts of 10 to (8, 4, -2) are (7, 3, 0), not (8, 4, 0) scaled.
    assert round_to_integers([10.0, 8.0, 4.0, -2.0], [-1, 0, 0, 0]).tolist() == [10, 7, 3, 0]


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(0, 2**32 - 1), st.sampled_from([0.1, 3.0, 1e4, 1e15]))
def test_whole_numbers_add_up_on_any_tree(nodes: int, seed: int, unit: float) -> None:
    generator = np.random.default_rng(seed)
    parents = random_tree(generator, nodes)
    values = consistent_hierarchy(generator.normal(0.5, 1, nodes) * unit, parents).values
    whole = round_to_integers(values, parents)
    assert (whole >= 0).all()
    for parent in set(parents.tolist()) - {-1}:
        assert whole[parents == parent].sum() == whole[parent]
    if (values >= 0).all() and unit < 1e15:
        depth = len(leaf_sums(parents))
        assert np.abs(whole - values).max() <= depth


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: consistent_hierarchy([], []), "noisy must have at least one entry"),
        (lambda: consistent_hierarchy([math.nan], [-1]), "noisy must be finite"),
        (
            lambda: consistent_hierarchy([1e308], [-1]),
            r"noisy must be in \[-1e\+150, 1e\+150\]; one is 1e\+308",
        ),
        (lambda: consistent_hierarchy([1.0, 2.0], [-1]), r"noisy must have shape \(1,\)"),
        (lambda: consistent_hierarchy([1.0, 2.0], [1, -1]), r"parents must come before .* node 0; it is 1"),
        (lambda: consistent_hierarchy([1.0, 2.0], [-1, 1]), r"in \[-1, 0\] for node 1; it is 1"),
        (lambda: consistent_hierarchy([1.0], [-2]), "parents must come before"),
        (lambda: consistent_hierarchy([1.0], [0.5]), "parents must be whole numbers"),
        (
            lambda: consistent_hierarchy([1.0], [-1], [0.0]),
            r"variances must be in \[1e-150, 1e150\], or infinite; one is 0.0",
        ),
        (lambda: consistent_hierarchy([1.0], [-1], [math.nan]), "or infinite; one is nan"),
        (lambda: consistent_hierarchy([1.0], [-1], [math.inf]), "variances must be finite for a leaf"),
        (lambda: consistent_hierarchy([1.0], [-1], [1.0, 2.0]), "variances must be numbers of shape"),
        (lambda: round_to_integers([]), "values must have at least one entry"),
        (lambda: round_to_integers([math.inf]), "values must be finite"),
        (lambda: round_to_integers([[1.0]]), "values must be one vector"),
        (lambda: round_to_integers([1e300]), r"values must be in \[-2\*\*53"),
        (lambda: round_to_integers([1.0], total=-1), "total must be a whole number"),
        (lambda: round_to_integers([1.0], [-1], total=1), "total must be None when there are parents"),
        (lambda: round_to_integers([1.0, 2.0], [-1]), "values must have shape"),
    ],
)
def test_bad_arguments_are_refused_by_name(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
