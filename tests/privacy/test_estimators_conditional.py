"""Shares in two groups that another question makes: their intervals hold however few people answered."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import binom

from server.privacy.designs import Design, coin_flip, k_ary
from server.privacy.estimators import (
    GroupComparison,
    association_of,
    compare_conditional_shares,
    estimate_joint,
)
from tests.support.scale import choose_size

Tables = NDArray[np.int64]


@cache
def list_tables(n: int) -> Tables:
    """All tables of 2 x 2 counts with this sum."""
    found = [
        (i, j, k, n - i - j - k) for i in range(n + 1) for j in range(n + 1 - i) for k in range(n + 1 - i - j)
    ]
    return np.array(found).reshape(-1, 2, 2)


def chances_of(tables: Tables, reported: NDArray[np.float64]) -> NDArray[np.float64]:
    """Multinomial, of each table."""
    n, flat = int(tables[0].sum()), tables.reshape(len(tables), -1)
    return np.asarray(np.exp(gammaln(n + 1) - gammaln(flat + 1).sum(axis=1) + flat @ np.log(reported)))


def true_tables() -> Iterator[NDArray[np.float64]]:
    """Tables of truths with margins and odds ratios of every size; of these many are independent."""
    for first in (0.03, 0.1, 0.3, 0.5, 0.8):
        for among, others in ((0.1, 0.1), (0.5, 0.5), (0.02, 0.02), (0.9, 0.3), (0.1, 0.6), (0.99, 0.01)):
            yield np.array(
                [[(1 - first) * (1 - others), (1 - first) * others], [first * (1 - among), first * among]]
            )


def holds(found: GroupComparison, truth: NDArray[np.float64]) -> bool:
    """Whether both intervals hold their true shares."""
    shares = truth[:, 1] / truth.sum(axis=1)
    return all(
        group.interval[0] - 1e-9 <= share <= group.interval[1] + 1e-9
        for group, share in ((found.gave, shares[1]), (found.others, shares[0]))
    )


@pytest.mark.parametrize("gammas", [(0.49, 0.49), (0.4, 0.25)])
def test_both_intervals_hold_whatever_is_true_of_nine_people(gammas: tuple[float, float]) -> None:
    """Every table of reports that nine people can send, for every true table that is tried."""
    designs = [coin_flip(gamma) for gamma in gammas]
    tables = list_tables(9)
    found = [compare_conditional_shares([table], [designs], 1, 1) for table in tables]
    assert {one.gave.kind for one in found} == {"exact"}
    matrix = np.kron(designs[0].matrix, designs[1].matrix)
    for truth in true_tables():
        chances = chances_of(tables, truth.ravel() @ matrix)
        assert chances.sum() == pytest.approx(1)
        held = sum(chance for chance, one in zip(chances, found, strict=True) if holds(one, truth))
        assert held >= 0.95


def draw(truth: NDArray[np.float64], designs: list[Design], n: int, studies: int) -> Tables:
    reported = truth.ravel() @ np.kron(designs[0].matrix, designs[1].matrix)
    drawn = np.random.default_rng(20261123).multinomial(n, reported, studies)
    return np.asarray(drawn.reshape(studies, len(designs[0].matrix[0]), -1))


SMALL_GROUPS = np.array([[0.9, 0.05], [0.03, 0.02]])
"""Five of a hundred people gave the first answer."""


def test_they_hold_where_the_delta_method_does_not() -> None:
    """The twin is the odds ratio's interval by the delta method: half of those that exist miss here."""
    designs = [coin_flip(0.4)] * 2
    truth = np.array([[0.9001, 0.0499], [0.0499, 0.0001]])
    ratio = truth[1, 1] * truth[0, 0] / truth[0, 1] / truth[1, 0]
    missed = defined = held = 0
    for table in draw(truth, designs, 500, 120):
        twin = association_of(estimate_joint(table, designs, interval="wald"), 1, 1).odds_ratio
        found = compare_conditional_shares([table], [designs], 1, 1)
        held += holds(found, truth) and found.odds_ratio[0] <= ratio <= found.odds_ratio[1]
        defined += twin.value is not None
        missed += not twin.interval[0] <= ratio <= twin.interval[1]
    assert held >= binom.ppf(1e-6, 120, 0.95)
    assert missed > binom.ppf(1 - 1e-6, defined, 0.05)


@pytest.mark.parametrize("n", [50, 2000])
def test_they_hold_where_few_gave_the_answer(n: int) -> None:
    """Of 50 people about three did: the delta method's interval of the difference misses there, the twin."""
    designs = [coin_flip(0.49)] * 2
    difference = 0.4 - 0.05 / 0.95
    held = twin_held = 0
    for table in draw(SMALL_GROUPS, designs, n, 120):
        found = compare_conditional_shares([table], [designs], 1, 1)
        held += holds(found, SMALL_GROUPS)
        low, high = association_of(estimate_joint(table, designs, interval="wald"), 1, 1).difference.interval
        twin_held += low <= difference <= high
    assert held >= binom.ppf(1e-6, 120, 0.95)
    assert n > 50 or twin_held < binom.ppf(1e-6, 120, 0.95)


@pytest.mark.scaled
def test_of_strata_that_answered_unevenly_both_hold_for_the_population_and_not_where_all_count_the_same() -> (
    None
):
    """A fifth of the people gave four fifths of the responses, and in them the two answers go together otherwise."""
    designs = [coin_flip(0.4)] * 2
    truths = np.array([[[0.5, 0.1], [0.1, 0.3]], [[0.2, 0.3], [0.4, 0.1]]])
    shares, sizes = np.array([0.8, 0.2]), (400, 1600)
    population = np.tensordot(shares, truths, axes=1)
    studies = choose_size(40, 400)
    drawn = [draw(truth, designs, size, studies) for truth, size in zip(truths, sizes, strict=True)]
    held = twin_held = 0
    for pair in zip(*drawn, strict=True):
        found = compare_conditional_shares(pair, [designs] * 2, 1, 1, weights=shares)
        held += holds(found, population)
        twin_held += holds(compare_conditional_shares(pair, [designs] * 2, 1, 1), population)
    assert held >= binom.ppf(1e-6, studies, 0.95)
    assert twin_held < binom.ppf(1e-6, studies, 0.95)
    alike = compare_conditional_shares(pair, [designs] * 2, 1, 1, weights=[0.2, 0.8])
    plain = compare_conditional_shares([sum(pair)], [designs], 1, 1)
    assert alike.gave.value == pytest.approx(plain.gave.value, abs=1e-8)
    # Written out: weighted sums of what each report adds, one stratum at a time.
    inverse = np.linalg.inv(np.kron(*(design.matrix for design in designs)).T)
    table = sum(share * inverse @ (own.ravel() / own.sum()) for share, own in zip(shares, pair, strict=True))
    assert found.gave.value == pytest.approx(table[3] / (table[2] + table[3]), abs=1e-9)
    assert found.others.value == pytest.approx(table[1] / (table[0] + table[1]), abs=1e-9)


def test_several_versions_and_answers_are_added_up() -> None:
    """Under two designs each, of which one is of four answers; by the true shares that the reports were made of."""
    truth = np.array([[0.3, 0.1], [0.1, 0.2], [0.1, 0.05], [0.05, 0.1]])
    tallies, designs = [], []
    for epsilon, n in ((3.0, 40_000), (2.0, 20_000)):
        pair = [k_ary(4, epsilon), coin_flip(0.4)]
        designs.append(pair)
        tallies.append(np.rint(n * pair[0].matrix.T @ truth @ pair[1].matrix).astype(np.int64))
    found = compare_conditional_shares(tallies, designs, 1, 1)
    assert found.gave.value == pytest.approx(2 / 3, abs=1e-3)
    assert found.others.value == pytest.approx(0.25 / 0.7, abs=1e-3)
    assert found.gave.people == pytest.approx(0.3, abs=1e-3)
    assert found.gave.interval[0] < 2 / 3 < found.gave.interval[1] < found.gave.interval[0] + 0.1
    few = compare_conditional_shares([tallies[0] // 1000, tallies[1]], designs, 1, 1)
    assert few.gave.kind == "exact"
    assert few.gave.interval[0] < found.gave.interval[0] < found.gave.interval[1] < few.gave.interval[1]


def test_an_interval_may_be_narrower_than_a_step_of_what_is_looked_at() -> None:
    designs = [coin_flip(0.49)] * 2
    truth = np.array([[0.3, 0.2], [0.3, 0.2]]) * 1e8
    table = np.rint(designs[0].matrix @ truth @ designs[1].matrix).astype(np.int64)
    found = compare_conditional_shares([table], [designs], 1, 1)
    for group in (found.gave, found.others):
        assert group.interval[0] < 0.4 < group.interval[1] < group.interval[0] + 0.001


def test_of_a_group_that_may_be_nobody_nothing_is_said() -> None:
    found = compare_conditional_shares([[[60, 40], [0, 0]]], [[coin_flip(0.4)] * 2], 1, 1)
    assert (found.gave.value, found.gave.interval) == (None, (0.0, 1.0))
    assert found.odds_ratio == (0.0, float("inf"))


@pytest.mark.parametrize(
    ("tallies", "designs", "answers", "named"),
    [
        ([], [], (1, 1), "tallies and designs"),
        ([[[1, 1], [1, 1]]], [[coin_flip(0.3)] * 3], (1, 1), r"tallies\[0\]"),
        ([np.ones((2, 2, 2), int)], [[coin_flip(0.3)] * 3], (1, 1), "two questions"),
        ([[[1, 1], [1, 1]]], [[coin_flip(0.3)] * 2], (2, 1), "first"),
        ([[[1, 1], [1, 1]]], [[coin_flip(0.3)] * 2], (1, -1), "second"),
        ([[[0, 0], [0, 0]]], [[coin_flip(0.3)] * 2], (1, 1), "positive sum"),
    ],
)
def test_bad_input_is_named(
    tallies: list[Tables], designs: list[list[Design]], answers: tuple[int, int], named: str
) -> None:
    with pytest.raises(ValueError, match=named):
        compare_conditional_shares(tallies, designs, *answers)


def test_within_an_answer_of_a_third_question_both_intervals_hold() -> None:
    """Of 60 made-up studies they miss no oftener than 1 in 20, but for chance of one in a million; the twin does."""
    truth = np.array([[[0.2, 0.05], [0.1, 0.05]], [[0.05, 0.15], [0.2, 0.2]]])  # first, second, third
    designs = [coin_flip(0.4), coin_flip(0.35), coin_flip(0.4)]
    joint = np.einsum("abc,ai,bj,ck->ijk", truth, *(design.matrix for design in designs)).ravel()
    gave, others = (truth[k, 1, 1] / truth[k, :, 1].sum() for k in (1, 0))
    rng, rounds = np.random.default_rng(11), 60
    held = forgetful = 0
    for _ in range(rounds):
        tally = rng.multinomial(6000, joint).reshape(2, 2, 2)
        found = compare_conditional_shares([tally], [designs], 1, 1, within=1)
        plain = compare_conditional_shares([tally.sum(axis=2)], [designs[:2]], 1, 1)
        for each in (found, plain):
            ends = each.gave.interval, each.others.interval
            both = all(low <= share <= high for (low, high), share in zip(ends, (gave, others), strict=True))
            held, forgetful = held + (both and each is found), forgetful + (both and each is plain)
        table = np.linalg.solve(
            np.kron(np.kron(*(d.matrix for d in designs[:2])), designs[2].matrix).T, tally.ravel()
        )
        table = table.reshape(2, 2, 2)[:, :, 1]
        assert found.gave.value == pytest.approx(table[1, 1] / table[1].sum())
        assert found.others.value == pytest.approx(table[0, 1] / table[0].sum())
    least = binom.ppf(1e-6, rounds, 0.95)
    assert held >= least > forgetful


def test_a_third_answer_is_of_three_questions() -> None:
    with pytest.raises(ValueError, match="three questions"):
        compare_conditional_shares([np.ones((2, 2), int)], [[coin_flip(0.3)] * 2], 1, 1, within=1)
    with pytest.raises(ValueError, match="within"):
        compare_conditional_shares([np.ones((2, 2, 2), int)], [[coin_flip(0.3)] * 3], 1, 1, within=2)
