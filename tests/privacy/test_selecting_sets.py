"""Sets of several options: exact chances, privacy over all neighbours, how far off the worst is, refusals."""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest

from server.privacy.designs import coin_flip, custom, k_ary
from server.privacy.estimators import share_coefficients
from server.privacy.selection import choose_several, estimate_utilities, several_error, several_sensitivity
from tests.privacy.goodness_of_fit import FALSE_ALARMS, p_value_of_choices

DRAWS = 4_000
EPSILON = 0.8


def sets(options: int, chosen: int) -> list[tuple[int, ...]]:
    return list(itertools.combinations(range(options), chosen))


def set_chances(utilities: np.ndarray, chosen: int, rate: float) -> np.ndarray:
    """By going through every set."""
    sums = np.array([utilities[list(each)].sum() for each in sets(len(utilities), chosen)], dtype=float)
    weights = np.exp(rate * (sums - sums.max()))
    return np.asarray(weights / weights.sum())


def one_by_one(utilities: np.ndarray, chosen: int, rate: float) -> np.ndarray:
    """Of choosing the best, then the best of the others: the same as the largest with Gumbel noise."""
    found = dict.fromkeys(sets(len(utilities), chosen), 0.0)
    for order in itertools.permutations(range(len(utilities)), chosen):
        chance, left = 1.0, list(range(len(utilities)))
        for option in order:
            weights = np.exp(rate * (utilities[left] - utilities[left].max()))
            chance *= weights[left.index(option)] / weights.sum()
            left.remove(option)
        found[tuple(sorted(order))] += chance
    return np.array(list(found.values()))


def test_each_set_has_its_exact_chance() -> None:
    utilities, chosen, sensitivity = np.array([0.5, 3.0, 2.0, 3.25, -1.0]), 2, 0.75
    places = {each: number for number, each in enumerate(sets(5, chosen))}
    drawn = [
        places[tuple(choose_several(utilities, chosen, sensitivity, EPSILON).tolist())] for _ in range(DRAWS)
    ]
    rate = EPSILON / (2 * sensitivity)
    assert p_value_of_choices(drawn, set_chances(utilities, chosen, rate)) > FALSE_ALARMS
    # The twins: twice the rate, and one after the other.
    assert p_value_of_choices(drawn, set_chances(utilities, chosen, 2 * rate)) < FALSE_ALARMS
    assert p_value_of_choices(drawn, one_by_one(utilities, chosen, 2 * rate)) < FALSE_ALARMS


def moves(options: int, several: bool, neighbours: str) -> Iterator[tuple[int, ...]]:
    """What one person changes: the count of an option, or of as many as they please."""
    alone = list(itertools.product((0, 1), repeat=options))
    own = alone if several else [each for each in alone if sum(each) == 1]
    yield from own
    if neighbours == "bounded":
        for first, second in itertools.permutations(own, 2):
            yield tuple(b - a for a, b in zip(first, second, strict=True))


def largest_loss(chosen: int, rate: float, several: bool, neighbours: str) -> float:
    worst = 0.0
    for counts in [*itertools.product((0, 3, 40), repeat=4)]:
        before = set_chances(np.array(counts), chosen, rate)
        for move in moves(4, several, neighbours):
            after = set_chances(np.array(counts) + move, chosen, rate)
            worst = max(worst, float(np.abs(np.log(before) - np.log(after)).max()))
    return worst


@pytest.mark.parametrize("neighbours", ["unbounded", "bounded"])
@pytest.mark.parametrize("chosen", [1, 2, 3])
def test_every_pair_of_neighbours_stays_within_epsilon(chosen: int, neighbours: str) -> None:
    """However many are wanted, where a person is in one option; where in several, that takes as much more noise."""
    sensitivity = several_sensitivity(np.eye(4, dtype=np.int64), chosen, neighbours)
    assert sensitivity == (0.5 if neighbours == "unbounded" else 1.0)
    assert (
        0.95 * EPSILON
        < largest_loss(chosen, EPSILON / (2 * sensitivity), False, neighbours)
        <= EPSILON + 1e-9
    )
    boxes = min(chosen, 4 - chosen) * sensitivity
    assert 0.95 * EPSILON < largest_loss(chosen, EPSILON / (2 * boxes), True, neighbours) <= EPSILON + 1e-9
    # The twin takes answers of which a person ticks several for answers of which each has one.
    twin = largest_loss(chosen, EPSILON / (2 * sensitivity), True, neighbours)
    assert (twin > 1.5 * EPSILON) == (chosen == 2)


def test_one_after_the_other_loses_as_many_times_as_much() -> None:
    """Why a set is chosen at once: the same rate, one after the other, loses nearly twice as much for two."""
    before, after = np.array([40, 0, 0, 0]), np.array([41, 0, 0, 0])
    chances = [one_by_one(each, 2, 0.1) for each in (before, after)]
    assert np.abs(np.log(chances[0]) - np.log(chances[1])).max() > 1.7 * 0.1


@pytest.mark.parametrize("neighbours", ["unbounded", "bounded"])
def test_the_sensitivity_of_estimates_is_attained(neighbours: str) -> None:
    """Over all sets and all people, by going through them."""
    uneven = custom([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.3, 0.2, 0.5]])
    weights = estimate_utilities(share_coefficients([k_ary(3, 1.0), uneven]).numerators).weights
    columns = [*weights.T, np.zeros(3, dtype=np.int64)]
    changes = columns if neighbours == "unbounded" else [b - a for a, b in itertools.permutations(columns, 2)]
    for chosen in (1, 2):
        sums = [[change[list(each)].sum() for each in sets(3, chosen)] for change in changes]
        assert (
            several_sensitivity(weights, chosen, neighbours) == max(max(row) - min(row) for row in sums) / 2
        )


@pytest.mark.parametrize("failure", [0.5, 0.05, 0.001])
def test_the_worst_of_the_chosen_is_within_the_bound(failure: float) -> None:
    rate, reached = 0.45, 0.0
    for utilities in itertools.product((0.0, 3.0, 8.0, 20.0), repeat=4):
        values = np.array(utilities)
        for chosen in (1, 2, 3):
            short = np.sort(values)[-chosen] - several_error(4, chosen, 1.0, 2 * rate, failure)
            worst = np.array([values[list(each)].min() for each in sets(4, chosen)])
            missed = set_chances(values, chosen, rate)[worst <= short].sum()
            assert missed <= failure + 1e-12
            twin = set_chances(values, chosen, rate / 2)[worst <= short].sum()
            reached = max(reached, twin / failure)
    assert reached > 1  # at half of the rate the bound does not hold


def test_the_worked_error() -> None:
    # (2 sensitivity / epsilon) (ln 3 + ln 7 - ln 0.05) = ln 420.
    assert several_error(10, 3, 0.5, 1.0, 0.05) == pytest.approx(math.log(420))


def test_equal_or_distant_utilities_take_no_time() -> None:
    assert len(choose_several([7.0] * 300, 150, 0.5, 1.0)) == 150
    assert choose_several([1e300, -1e300, 5.0], 2, 0.5, 100.0).tolist() == [0, 2]
    assert choose_several([10**9, 0, 10**9 - 1, 10**9 - 2], 3, 0.5, 1.0).tolist() == [0, 2, 3]


def test_a_device_that_hides_less_is_worth_more() -> None:
    """The sensitivity in people is that of one report."""
    for gamma in (0.1, 0.4):
        made = estimate_utilities(share_coefficients([coin_flip(gamma)]).numerators)
        found = several_sensitivity(made.weights, 1) * made.unit
        assert found == pytest.approx(made.sensitivity * made.unit)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (([1.0, 2.0], 2, 1.0, 1.0), "chosen"),
        (([1.0, 2.0], 0, 1.0, 1.0), "chosen"),
        (([[1.0, 2.0]], 1, 1.0, 1.0), "utilities"),
        (([1.0, math.inf], 1, 1.0, 1.0), "utilities"),
        (([1.0, 2.0], 1, 0.0, 1.0), "sensitivity"),
        (([1.0, 2.0], 1, 1.0, 0.0), "epsilon"),
    ],
)
def test_what_is_refused(arguments: tuple[object, ...], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        choose_several(*arguments)  # type: ignore[arg-type]
