"""List experiments: means, shares of types, the test for a design effect, and two lists."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, fisher_exact, multinomial

from server.privacy.estimators import estimate_double_list, estimate_item_count

TYPES = np.array([[0.10, 0.02], [0.30, 0.08], [0.30, 0.07], [0.10, 0.03]])
"""People with 0 to 3 other items, without and with the sensitive one: a fifth have it."""


def expected_chances(types: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of each count without and with the sensitive item, if nobody's count depends on the list."""
    without, with_it = types.sum(axis=1), np.zeros(len(types) + 1)
    with_it[:-1] += types[:, 0]
    with_it[1:] += types[:, 1]
    return without, with_it


def test_the_types_and_their_share_are_found_again() -> None:
    estimate = estimate_item_count(*(np.round(10**6 * each).astype(int) for each in expected_chances(TYPES)))
    assert estimate.types == pytest.approx(TYPES, abs=1e-9)
    assert estimate.share == pytest.approx(0.2, abs=1e-9)
    assert estimate.items == 3
    assert estimate.design_effect == 1


def test_it_is_the_difference_of_means_of_people_written_out_one_by_one() -> None:
    control, treatment = [50, 200, 180, 70], [40, 160, 190, 90, 20]
    people = [np.repeat(np.arange(len(tally)), tally) for tally in (control, treatment)]
    estimate = estimate_item_count(control, treatment)
    assert estimate.share == pytest.approx(people[1].mean() - people[0].mean(), rel=1e-12)
    error = math.sqrt(sum(each.var(ddof=1) / len(each) for each in people))
    assert estimate.standard_error == pytest.approx(error, rel=1e-12)
    for y in range(4):
        kinds = [
            (people[1] <= y).mean() - (people[0] < y).mean(),
            (people[0] <= y).mean() - (people[1] <= y).mean(),
        ]
        assert estimate.types[y] == pytest.approx(kinds, abs=1e-12)
        spread = sum((each <= y).var(ddof=1) / len(each) for each in people)
        assert estimate.type_errors[y, 1] == pytest.approx(math.sqrt(spread), abs=1e-12)
    assert estimate.types.sum() == pytest.approx(1)
    assert estimate.types[:, 1].sum() == pytest.approx(estimate.share)


def tallies(n: int, places: int) -> list[tuple[int, ...]]:
    return [each for each in itertools.product(range(n + 1), repeat=places) if sum(each) == n]


def test_share_types_and_variances_are_unbiased_over_every_pair_of_tallies() -> None:
    types = np.array([[0.4, 0.1], [0.3, 0.2]])
    chances = expected_chances(types)
    mean, second, variance, kinds = 0.0, 0.0, 0.0, np.zeros((2, 2))
    kinds_second, kinds_variance = np.zeros((2, 2)), np.zeros((2, 2))
    for one in tallies(3, 2):
        for two in tallies(3, 3):
            chance = multinomial.pmf(one, 3, chances[0]) * multinomial.pmf(two, 3, chances[1])
            estimate = estimate_item_count(one, two)
            mean += chance * estimate.share
            second += chance * estimate.share**2
            variance += chance * estimate.standard_error**2
            kinds += chance * estimate.types
            kinds_second += chance * estimate.types**2
            kinds_variance += chance * estimate.type_errors**2
    assert mean == pytest.approx(0.3, abs=1e-12)
    assert kinds == pytest.approx(types, abs=1e-12)
    assert variance == pytest.approx(second - mean**2, abs=1e-12)
    assert kinds_variance == pytest.approx(kinds_second - kinds**2, abs=1e-12)


def test_intervals_hold_the_truth_and_those_of_one_group_alone_do_not() -> None:
    # 300 studies of 60 and 240; a 95 % interval that held 93.5 % would fail once in 10^6 below this many.
    random, truth, studies = np.random.default_rng(17), 0.2, 300
    chances = expected_chances(TYPES)
    least = binom.ppf(1e-6, studies, 0.935)
    held = twin = 0
    kinds = np.zeros((4, 2))
    for _ in range(studies):
        one, two = (random.multinomial(n, each) for n, each in zip((60, 240), chances, strict=True))
        estimate = estimate_item_count(one, two)
        low, high = estimate.interval
        held += low <= truth <= high
        limits = estimate.type_intervals
        kinds += (limits[:, :, 0] <= TYPES) & (limits[:, :, 1] >= TYPES)
        own = math.sqrt(float(np.repeat(np.arange(5), two).var(ddof=1)) / 240)  # the broken twin
        twin += abs(estimate.share - truth) <= 1.96 * own
    assert held >= least
    assert (kinds >= least).all()
    assert twin < least


def test_p_values_of_a_design_effect_are_those_of_fishers_tests_times_their_number() -> None:
    control, treatment = [30, 80, 70, 20], [60, 90, 40, 8, 2]
    found = []
    for y in range(3):
        below = sum(control[: y + 1])
        for more, many, less, few in (
            (sum(treatment[: y + 1]), 200, below, 200),
            (below, 200, sum(treatment[: y + 2]), 200),
        ):
            found.append(fisher_exact([[more, many - more], [less, few - less]], alternative="greater")[1])
    expected = min(1.0, 6 * min(found))
    assert expected < 0.01, "people who shrink their counts are seen"
    assert estimate_item_count(control, treatment).design_effect == pytest.approx(expected, rel=1e-9)
    # Of more than a million people, a normal distribution: far in the tail, both say nobody.
    many = estimate_item_count(np.multiply(control, 10**4), np.multiply(treatment, 10**4))
    assert many.design_effect < 1e-12


def test_the_test_errs_no_more_than_it_says_where_it_errs_most_and_its_twin_does() -> None:
    # On the boundary of every inequality of one kind: nobody has the item. Twin: p values not multiplied.
    random, chances = np.random.default_rng(5), np.full(10, 1 / 10)
    refused = twin = 0
    for _ in range(300):
        one, two = random.multinomial(400, chances), np.append(random.multinomial(400, chances), 0)
        p = estimate_item_count(one, two).design_effect
        refused += p <= 0.05
        twin += p / 18 <= 0.05
    assert refused <= binom.ppf(1 - 1e-6, 300, 0.05)
    assert twin > binom.ppf(1 - 1e-6, 300, 0.05)


def test_counts_that_are_all_the_same_leave_an_interval_and_one_person_no_error() -> None:
    same = estimate_item_count([0, 30, 0], [0, 30, 0, 0])
    assert same.standard_error == 0
    assert same.interval[0] < -0.05 < 0.05 < same.interval[1]
    alone = estimate_item_count([0, 1], [3, 4, 5])
    assert alone.standard_error == math.inf
    assert np.isinf(alone.type_errors).all()
    assert alone.impossible is False
    assert estimate_item_count([9, 1], [1, 1, 90]).impossible is True


def double_chances() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Counts of two lists of 2 and 1 other items that go together; three tenths have the sensitive one."""
    others = np.array([[0.30, 0.05], [0.20, 0.20], [0.05, 0.20]])
    first, second = np.zeros((4, 2)), np.zeros((3, 3))
    first[:-1] += 0.7 * others
    first[1:] += 0.3 * others
    second[:, :-1] += 0.7 * others
    second[:, 1:] += 0.3 * others
    return first, second


def test_two_lists_are_both_used_and_what_a_persons_counts_share_drops_out() -> None:
    first, second = (np.round(10**6 * each).astype(int) for each in double_chances())
    estimate = estimate_double_list(first, second)
    assert estimate.share == pytest.approx(0.3, abs=1e-9)
    assert estimate.list_shares == pytest.approx([0.3, 0.3], abs=1e-9)
    assert estimate.p_value == pytest.approx(1, abs=1e-5)
    halves = []
    for table in (first // 10**3, second // 10**3):
        rows, columns = np.indices(table.shape)
        halves.append(np.repeat((rows - columns).ravel() / 2, table.ravel()))
    error = math.sqrt(sum(each.var(ddof=1) / len(each) for each in halves))
    assert estimate_double_list(first // 10**3, second // 10**3).standard_error == pytest.approx(error)
    single = estimate_item_count(second.sum(axis=1) // 10**3, first.sum(axis=1) // 10**3)
    assert error < single.standard_error / 1.5


def test_intervals_of_two_lists_hold_the_truth_and_their_difference_is_tested() -> None:
    random, studies = np.random.default_rng(29), 250
    tables = double_chances()
    held = suspected = 0
    for _ in range(studies):
        first, second = (random.multinomial(150, each.ravel()).reshape(each.shape) for each in tables)
        estimate = estimate_double_list(first, second)
        held += estimate.interval[0] <= 0.3 <= estimate.interval[1]
        assert estimate.p_value is not None
        suspected += estimate.p_value <= 0.05
    assert binom.ppf(1e-6, studies, 0.935) <= held
    assert suspected <= binom.ppf(1 - 1e-6, studies, 0.06)
    assert estimate_double_list([[0, 0], [5, 0], [0, 0]], [[0, 0, 0], [0, 5, 0]]).p_value is None


def test_lists_that_disagree_are_told() -> None:
    first, second = (np.round(1000 * each).astype(int) for each in double_chances())
    second[:, 1:], second[:, 0] = 0, second.sum(axis=1)  # nobody admits anything in the second list
    result = estimate_double_list(first, second)
    assert result.p_value is not None
    assert result.p_value < 1e-6


@pytest.mark.parametrize(
    ("control", "treatment", "message"),
    [
        ([5, 5], [1, 2], r"treatment must be a row of 3 counts or more; its shape is \(2,\)"),
        ([5], [1, 2, 3], "control must be a row of 2 counts or more"),
        ([5, 5], [1, 2, 3, 4], "treatment must have one entry more than control, 3; it has 4"),
        ([5, -1], [1, 2, 3], "control must not be negative"),
        ([0, 0], [1, 2, 3], "control must have a positive sum"),
        ([5, 0.5], [1, 2, 3], "control must be whole numbers"),
        ([2**53, 1], [1, 2, 3], r"control must have a sum in \[1, 2\*\*53\]"),
        ([[5, 5]], [1, 2, 3], "control must be a row"),
    ],
)
def test_what_is_no_pair_of_lists_is_refused(control: Any, treatment: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        estimate_item_count(control, treatment)


def test_tables_of_two_lists_that_do_not_fit_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"second must have a row less .* shape \(2, 3\); its shape is \(3, 3\)"
    ):
        estimate_double_list(np.ones((3, 2), int), np.ones((3, 3), int))
    with pytest.raises(ValueError, match=r"first must be a table of shape \(3, 2\)"):
        estimate_double_list([1, 2], [[1, 2, 3], [1, 2, 3]])
    with pytest.raises(ValueError, match="confidence must be"):
        estimate_double_list(np.ones((3, 2), int), np.ones((2, 3), int), confidence=1)
