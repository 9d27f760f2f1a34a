"""Central queries that count: sensitivities over all neighbours, chances, intervals, refusals."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.privacy.noise import geometric, geometric_pmf, geometric_variance
from server.privacy.queries import Tabulation, count, hierarchy, histogram, mean, table
from tests.privacy.goodness_of_fit import FALSE_ALARMS, p_value

TABLE = [[7, 9], [11, 0], [10, 12], [7, 14], [8, 6], [5, 4]]
AGES = ["18-24", "25-34", "35-44", "45-54", "55-64", "65+"]
LEAVES = [("A", "a"), ("A", "b"), ("B",)]


def changes(query: Any, categories: list[Any], neighbours: str, size: int = 3) -> int:
    """The largest change that one person makes to everything that is perturbed, over all small data."""

    def cells(people: tuple[Any, ...]) -> np.ndarray:
        exact = query.tally(*zip(*people, strict=True)) if isinstance(categories[0], list) else None
        if exact is None:
            exact = query.tally(list(people))
        return np.asarray(query._sums(exact) if hasattr(query, "_sums") else exact).ravel()

    worst = 0
    for people in itertools.product(categories, repeat=size):
        near = (
            [people[:-1]]
            if neighbours == "unbounded"
            else [(*people[:-1], another) for another in categories]
        )
        worst = max(worst, *(int(np.abs(cells(people) - cells(other)).sum()) for other in near))
    return worst


@pytest.mark.parametrize("neighbours", ["unbounded", "bounded"])
def test_declared_sensitivities_are_the_largest_changes_over_all_neighbours(neighbours: str) -> None:
    assert changes(count(1.0), [True, False], neighbours) == count(1.0).sensitivity(neighbours) == 1
    query = histogram("abc", 1.0)
    expected = {"unbounded": 1, "bounded": 2}[neighbours]
    assert changes(query, ["a", "b", "c"], neighbours) == query.sensitivity(neighbours) == expected


@pytest.mark.parametrize("neighbours", ["unbounded", "bounded"])
def test_the_sensitivity_of_a_tree_bounds_every_change(neighbours: str) -> None:
    # A root that counts everybody does not change when a person is replaced; it counts for 1 all the same.
    leaves = [("A", "a"), ("A", "b"), ("B", "c")]
    even, ragged = hierarchy(leaves, 1.0, neighbours), hierarchy(LEAVES, 1.0, neighbours)
    assert changes(even, leaves, neighbours, size=2) == {"unbounded": 3, "bounded": 4}[neighbours]
    assert changes(ragged, LEAVES, neighbours, size=2) == 3
    assert even.sensitivity() == ragged.sensitivity() == {"unbounded": 3, "bounded": 5}[neighbours]


def test_a_cross_tabulation_changes_like_a_histogram() -> None:
    query = table(["ab", "xy"], 1.0)
    people = [("a", "x"), ("b", "y"), ("b", "x")]
    exact = query.tally(*zip(*people, strict=True))
    assert exact.tolist() == [[1, 0], [1, 1]]
    for moved in itertools.product("ab", "xy"):
        near = query.tally(*zip(*people[:-1], moved, strict=True))
        assert np.abs(exact - near).sum() <= query.sensitivity("bounded") == 2


@pytest.mark.parametrize("neighbours", ["unbounded", "bounded"])
def test_the_worked_table_gets_noise_in_every_cell_the_empty_one_too(neighbours: str) -> None:
    query = table([AGES, ["no", "yes"]], 1.0, neighbours)
    answers = [query.release(TABLE) for _ in range(2000)]
    noise = np.array([answer.value for answer in answers]) - TABLE
    sensitivity = {"unbounded": 1, "bounded": 2}[neighbours]
    assert p_value(noise, lambda k: geometric_pmf(k, sensitivity, 1.0)) > FALSE_ALARMS
    assert p_value(noise[:, 1, 1], lambda k: geometric_pmf(k, sensitivity, 1.0)) > FALSE_ALARMS
    # The twin has the other neighbours' noise.
    assert p_value(noise, lambda k: geometric_pmf(k, 3 - sensitivity, 1.0)) < FALSE_ALARMS
    assert {(a.epsilon, a.neighbours, a.confidence) for a in answers} == {(1.0, neighbours, 0.95)}
    assert answers[0].interval.shape == (6, 2, 2)


def test_expected_errors_are_known_before_any_data() -> None:
    for query in (count(0.7), histogram("ab", 0.7, "bounded"), table(["ab", "c"], 2.0)):
        k = np.arange(-500, 501)
        chances = geometric_pmf(k, query.sensitivity(), query.epsilon)
        assert query.expected_error() == pytest.approx(math.sqrt(k**2 @ chances), rel=1e-9)


def test_run_tallies_arrays_and_lists_alike() -> None:
    query = table([["no", "yes"], [1, 2, 3]], 1.0)
    columns = (np.array(["yes", "no", "yes"]), np.array([3, 1, 3]))
    assert (
        query.tally(*columns).tolist() == query.tally(*map(list, columns)).tolist() == [[1, 0, 0], [0, 0, 2]]
    )
    assert count(1.0).tally(np.array([True, False, True])) == 2
    assert count(1.0).tally([1, 0, 1]) == 2
    assert histogram("ab", 1.0).tally([]).tolist() == [0, 0]
    assert query.run(*columns).value.shape == (2, 3)


def test_published_places_add_up_and_hold_the_truth_as_often_as_they_say() -> None:
    leaves = [(s, s + m) for s in "ABC" for m in "12"]
    query = hierarchy(leaves, 1.0)
    truth = np.array([1000, 300, 400, 300, 100, 200, 150, 250, 200, 100])
    assert query.nodes[:4] == ((), ("A",), ("B",), ("C",))
    held = np.zeros(10)
    squares = np.zeros(10)
    for _ in range(600):
        answer = query.release([100, 200, 150, 250, 200, 100])
        assert (answer.value >= 0).all()
        assert answer.value[0] == answer.value[1:4].sum() == answer.value[4:].sum()
        low, high = answer.interval.T
        held += (low <= truth) & (truth <= high)
        squares += (answer.value - truth) ** 2
    # 600 runs at a chance of 0.95 or more: fewer than 541 have a chance below 1e-6 in each node.
    assert held.min() >= 541
    # A mean of 600 squares is within a factor 2 of its expectation; rounding adds about 1.
    expected = query.expected_error() ** 2
    assert (squares / 600 < 2 * (expected + 1)).all()
    assert (squares / 600 > expected / 2).all()


def test_a_thousand_trees_add_up_and_are_better_than_noise_alone_on_every_level() -> None:
    leaves = [(s, s + m) for s in "ABC" for m in "12"]
    query = hierarchy(leaves, 1.0)
    truth = np.array([1000, 300, 400, 300, 100, 200, 150, 250, 200, 100])
    levels = [slice(0, 1), slice(1, 4), slice(4, 10)]
    values = np.array([query.release([100, 200, 150, 250, 200, 100]).value for _ in range(1000)])
    assert values.min() >= 0
    assert (values[:, 0] == values[:, 1:4].sum(axis=1)).all()
    assert (values[:, 1:4] == values[:, 4:].reshape(-1, 3, 2).sum(axis=2)).all()
    # Each level alone has a third of the loss. The errors of 1,000 trees are within a fifth of their means
    # (seven standard deviations at the root), and those of the tree are at most two thirds of those of the noise.
    alone = geometric_variance(1, 1 / 3)
    errors = [float(((values - truth)[:, level] ** 2).mean()) for level in levels]
    assert max(errors) <= alone
    # The twin adds up leaves that got a third of the loss: worse than noise alone above them.
    summed = truth[4:] + geometric(np.zeros((1000, 6), dtype=np.int64), 1, 1 / 3)
    assert ((summed.sum(axis=1) - 1000) ** 2).mean() > alone


def test_a_known_root_costs_nothing_and_every_level_adds_up_to_it() -> None:
    leaves = [(s, s + m) for s in "ABC" for m in "12"]
    query = hierarchy(leaves, 1.0, "bounded", total=1000)
    private = hierarchy(leaves, 1.0, "bounded")
    assert query.level_epsilons == (0.0, 0.5, 0.5)
    assert query.sensitivity() == 4
    # The root is the same for all neighbours: what they change is what is perturbed.
    people = [("A", "A1"), ("A", "A2"), ("B", "B1")]
    assert changes(query, people, "bounded", size=2) == 4
    assert hierarchy(leaves, 1.0, "bounded", [1, 3], 1000).level_epsilons == (0.0, 0.25, 0.75)
    expected = query.expected_error() ** 2
    assert expected[0] == 0
    assert (expected < private.expected_error() ** 2).all()
    truth = np.array([1000, 300, 400, 300, 100, 200, 150, 250, 200, 100])
    answers = [query.release(truth[4:]) for _ in range(600)]
    values = np.array([answer.value for answer in answers])
    assert values.min() >= 0
    assert (values[:, 0] == 1000).all()
    assert (values[:, 1:4].sum(axis=1) == 1000).all()
    assert (values[:, 1:4] == values[:, 4:].reshape(-1, 3, 2).sum(axis=2)).all()
    limits = np.array([answer.interval for answer in answers])
    assert (limits[:, 0] == 1000).all()
    # As above: 600 runs at a chance of 0.95 or more, and means of 600 squares.
    held = ((limits[..., 0] <= truth) & (truth <= limits[..., 1])).sum(axis=0)
    assert held.min() >= 541
    squares = ((values - truth) ** 2).mean(axis=0)
    assert (squares < 1.6 * (expected + 1))[1:].all()
    assert (squares > expected / 1.6)[1:].all()
    # The twin pays for its root: its error is not what a known root leaves.
    twins = np.array([private.release(truth[4:]).value for _ in range(600)])
    assert (twins[:, 0] != 1000).any()
    assert not (((twins - truth) ** 2).mean(axis=0) < 1.6 * (expected + 1))[1:].all()


def test_what_a_total_says_alone_is_exact() -> None:
    answer = hierarchy([("A", "a"), ("A", "b")], 0.1, "bounded", total=7).release([7, 0])
    assert answer.value[:2].tolist() == [7, 7]
    assert answer.interval[:2].tolist() == [[7, 7], [7, 7]]
    assert answer.interval.max() <= 7
    assert hierarchy(["x", "y"], 1.0, "bounded", total=0).release([0, 0]).interval.max() == 0


@pytest.mark.parametrize("neighbours", ["unbounded", "bounded"])
def test_laplace_noise_on_counts_is_geometric(neighbours: str) -> None:
    query = histogram("ab", 0.5, neighbours, noise="laplace")
    noise = np.array([query.release([50, 50]).value for _ in range(2000)]) - 50
    assert noise.dtype == np.int64
    assert p_value(noise, lambda k: geometric_pmf(k, query.sensitivity(), 0.5)) > FALSE_ALARMS
    assert p_value(noise, lambda k: geometric_pmf(k, query.sensitivity(), 0.75)) < FALSE_ALARMS
    assert query != histogram("ab", 0.5, neighbours)
    assert table(["ab"], 0.5, neighbours, "laplace").expected_error() == query.expected_error()
    with pytest.raises(ValueError, match="noise must be one of geometric, laplace; it is 'none'"):
        count(1.0, noise="none")


def test_levels_may_be_given_unequal_shares() -> None:
    query = hierarchy(LEAVES, 2.0, proportions=[1, 1, 2])
    assert query.level_epsilons == (0.5, 0.5, 1.0)
    assert query.tally([("A", "b"), ("B",), ["A", "b"]]).tolist() == [0, 2, 1]
    assert hierarchy(["x", "y"], 1.0).tally(["x", "x"]).tolist() == [2, 0]


@settings(deadline=None)
@given(st.lists(st.sampled_from("abc"), max_size=20), st.floats(1e-3, 1e3), st.floats(1e-6, 1 - 1e-6))
def test_no_valid_data_fails(data: list[str], epsilon: float, confidence: float) -> None:
    tree = hierarchy([("x", "a"), ("x", "b"), ("c",)], epsilon, "bounded")
    paths = [{"a": ("x", "a"), "b": ("x", "b"), "c": ("c",)}[name] for name in data]
    known = hierarchy(tree.leaves, epsilon, "bounded", total=len(data))
    answers = [
        known.run(paths, confidence=confidence),
        count(epsilon).run([name == "a" for name in data], confidence=confidence),
        histogram("abc", epsilon).run(data, confidence=confidence),
        tree.run(paths, confidence=confidence),
    ]
    for answer in answers:
        assert np.isfinite(answer.standard_error).all()
        assert (answer.interval[..., 0] <= answer.value).all()
        assert (answer.value <= answer.interval[..., 1]).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: count(0.0), "epsilon must be positive and finite; it is 0.0"),
        (lambda: count(math.nan), "epsilon must be positive"),
        (lambda: count(1.0, "near"), "neighbours must be one of unbounded, bounded; it is 'near'"),
        (lambda: count(1.0).run([2]), "data must be True or False"),
        (lambda: count(1.0).run(["yes"]), "one is 'yes'"),
        (lambda: count(1.0).run([math.nan]), "one is nan"),
        (lambda: count(1.0).run([True], [True]), "data must be 1 vectors"),
        (lambda: count(1.0).run([True], confidence=1.0), "confidence must be in the open interval"),
        (lambda: count(1.0).release(-1), "counts must be in"),
        (lambda: histogram([], 1.0), "categories must declare at least one category"),
        (lambda: histogram("aa", 1.0), "categories must declare each category once; 'a' is there twice"),
        (lambda: histogram("ab", 1.0).run(["a", "z"]), "among the declared 'a', 'b'; one is 'z'"),
        (lambda: histogram([1, 2], 1.0).run([math.nan]), "among the declared 1, 2; one is nan"),
        (lambda: histogram("ab", 1.0).run([["a"]]), r"one is \['a'\]"),
        (lambda: histogram("ab", 1.0).release([1, 2, 3]), r"counts must have shape \(2,\)"),
        (lambda: histogram("ab", 1.0).release([1.5, 2]), "counts must be whole numbers"),
        (lambda: histogram("ab", 1.0).sensitivity("other"), "neighbours must be one of"),
        (lambda: table([], 1.0), "categories must declare at least one variable"),
        (lambda: table(["ab", "xy"], 1.0).run(["a"], ["x", "y"]), "one entry per person in every variable"),
        (
            lambda: table(["ab", "xy"], 1.0).run(["a"], ["q"]),
            "data of variable 1 must be among .* one is 'q'",
        ),
        (lambda: hierarchy([], 1.0), "leaves must be paths"),
        (lambda: hierarchy([("a",), ("a",)], 1.0), "leaves must be declared once"),
        (lambda: hierarchy([("a",), ("a", "b")], 1.0), r"others lie inside \('a',\)"),
        (lambda: hierarchy(LEAVES, 1.0, proportions=[1]), r"proportions must have shape \(3,\)"),
        (lambda: hierarchy(LEAVES, 1.0, proportions=[1, 0, 1]), "proportions must be positive"),
        (
            lambda: hierarchy(LEAVES, 1.0, "bounded", proportions=[1, 1, 1], total=3),
            r"proportions must have shape \(2,\)",
        ),
        (lambda: hierarchy(LEAVES, 1.0, total=3), "total must be None under unbounded neighbours"),
        (
            lambda: hierarchy(LEAVES, 1.0, "bounded", total=3).release([1, 2, 3]),
            "counts must add up to the total, 3; they add up to 6",
        ),
        (
            lambda: hierarchy(LEAVES, 1.0, "bounded", total=3).sensitivity("unbounded"),
            "total must be None under unbounded",
        ),
        (lambda: hierarchy(LEAVES, 1.0).run([("A",)]), r"one is \('A',\)"),
        (lambda: hierarchy(LEAVES, 1.0).release([1, 2]), r"counts must have shape \(3,\)"),
    ],
)
def test_bad_arguments_are_refused_by_name(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_a_query_is_a_value() -> None:
    assert histogram(["a", "b"], 1.0) == Tabulation((("a", "b"),), 1.0, "unbounded")
    assert hash(count(1.0)) == hash(count(1.0))


def test_a_mean_of_a_public_number_of_people_spends_all_its_loss_on_the_sum() -> None:
    """One replaced moves the sum by the range, at most: Laplace noise of scale 100 on it, over 1,000 people.

    The twin, half of the loss for a number that is public, has twice the error.
    """
    query = mean(0.0, 100.0, 1.0, "bounded")
    assert query.expected_error(1000, 50.0) == pytest.approx(math.sqrt(2) * 100 / 1000, rel=1e-6)
    assert query.expected_error(1000, 50.0) < 0.51 * mean(0.0, 100.0, 0.5, "bounded").expected_error(
        1000, 50.0
    )
    values = np.array(
        [float(mean(0.0, 100.0, 1.0, "bounded").run(np.full(40, 30.0)).value) for _ in range(4000)]
    )
    # Laplace noise of scale 100 / 40 has the variance 12.5; its estimate is within 6 standard errors (kurtosis 6).
    assert abs(values.var() - 12.5) < 6 * 12.5 * math.sqrt(5 / 4000)
    answer = query.run(np.full(2000, 30.0))
    assert abs(float(answer.value) - 30) < 100 * 20 / 2000
