"""What is withheld stays withheld: no sum or difference of what is shown tells of fewer than the minimum."""

from collections.abc import Collection, Iterator, Sequence
from datetime import date, timedelta
from itertools import chain, combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.collect.reportable_groups import choose_left_out
from server.reports.day_counts import MOST_DAYS, Period, find_timeline, periods
from server.reports.withholding import ResponseGroup, find_withheld

SIZES = st.sampled_from([0, 0, 1, 2, 5, 9, 10, 11, 14, 20, 50])


@st.composite
def trees(draw: st.DrawFn) -> ResponseGroup:
    """A tree of at most eight leaves in three levels, each with its responses."""
    numbers = iter(range(1000))

    def leaves(most: int) -> tuple[ResponseGroup, ...]:
        return tuple(
            ResponseGroup(next(numbers), n) for n in draw(st.lists(SIZES, min_size=1, max_size=most))
        )

    def around(children: tuple[ResponseGroup, ...]) -> ResponseGroup:
        return ResponseGroup(next(numbers), sum(child.n for child in children), children)

    groups = [around(leaves(3)) for _ in range(draw(st.integers(0, 2)))]
    top = [around((*groups, *leaves(1)))] if groups and draw(st.booleans()) else groups
    return around((*top, *leaves(2)))


def walk(branch: ResponseGroup) -> Iterator[ResponseGroup]:
    yield branch
    for child in branch.children:
        yield from walk(child)


def is_disclosed(root: ResponseGroup, hidden: Collection[object], minimum: int) -> bool:
    """Whether some group of leaves with 1 to minimum - 1 responses is a combination of what is shown.

    By brute force: what is shown are sums over leaves, and a group follows from them exactly if
    its own sum is in their span.
    """
    leaves = [branch for branch in walk(root) if not branch.children]
    inside = {branch.key: [float(leaf in list(walk(branch))) for leaf in leaves] for branch in walk(root)}
    shown = np.array([vector for key, vector in inside.items() if key not in hidden])
    groups = chain.from_iterable(combinations(range(len(leaves)), size) for size in range(1, len(leaves)))
    for group in groups:
        if 0 < sum(leaves[place].n for place in group) < minimum:
            vector = np.zeros(len(leaves))
            vector[list(group)] = 1
            # A group without responses adds nothing: whether it is in does not matter.
            empty = [np.eye(len(leaves))[place] for place, leaf in enumerate(leaves) if not leaf.n]
            known = np.vstack([shown, *empty])
            if np.linalg.matrix_rank(np.vstack([known, vector])) == np.linalg.matrix_rank(known):
                return True
    return False


@given(root=trees(), minimum=st.sampled_from([2, 10, 12]))
def test_no_difference_tells_of_a_small_group(root: ResponseGroup, minimum: int) -> None:
    if root.n < minimum:
        return
    hidden = find_withheld(root, minimum)

    small = {branch.key for branch in walk(root) if 0 < branch.n < minimum}
    assert small <= hidden
    assert not is_disclosed(root, hidden, minimum)
    if not small:
        assert not hidden


def test_withholding_small_groups_alone_would_be_undone() -> None:
    """The broken twin."""
    root = ResponseGroup("all", 64, (ResponseGroup("a", 50), ResponseGroup("b", 10), ResponseGroup("c", 4)))
    assert is_disclosed(root, {"c"}, 10)
    assert find_withheld(root, 10) == {"b", "c"}
    assert not is_disclosed(root, {"b", "c"}, 10)
    # Hiding a group beside it is not enough where what is inside that group is shown.
    inner = ResponseGroup("b", 24, (ResponseGroup("x", 12), ResponseGroup("y", 12)))
    nested = ResponseGroup("all", 54, (ResponseGroup("a", 26), inner, ResponseGroup("c", 4)))
    assert is_disclosed(nested, {"b", "c"}, 10)
    assert find_withheld(nested, 10) == {"b", "c", "x", "y"}


@given(sizes=st.lists(st.lists(SIZES, min_size=3, max_size=3), min_size=1, max_size=4))
def test_versions_and_links_that_stay_are_large_enough(sizes: list[list[int]]) -> None:
    out, without = choose_left_out(sizes, 10)

    kept = [row[without:] for place, row in enumerate(sizes) if place not in out]
    assert all(sum(row) == 0 or sum(row) >= 10 for row in kept)
    if any(sum(row[1:]) for row in sizes) and not without:
        own = sum(row[0] for row in kept)
        assert own == 0 or own >= 10
    for place in out:
        assert sum(sizes[place]) > 0
        assert sum(sizes[place][without:]) < 10 or sum(sizes[place]) < 10


FIRST = date(2026, 2, 27)


@given(days=st.lists(SIZES, max_size=12), minimum=st.sampled_from([1, 3, 10]))
def test_days_are_taken_together_until_there_are_enough(days: list[int], minimum: int) -> None:
    counted = {FIRST + timedelta(days=number): n for number, n in enumerate(days)}

    found = periods(counted, minimum)

    assert all(period.n >= minimum for period in found)
    assert sum(period.n for period in found) == (sum(days) if sum(days) >= minimum else 0)
    assert all(one.last < other.first for one, other in pairwise(found))
    for period in found:
        inside = [n for day, n in counted.items() if period.first <= day <= period.last]
        assert sum(inside) == period.n


@given(days=st.lists(SIZES, max_size=100), minimum=st.sampled_from([1, 3, 10]), first=st.integers(0, 6))
def test_weeks_are_sums_of_what_is_told_by_day(days: list[int], minimum: int, first: int) -> None:
    """So no difference of the two tells of fewer than the minimum."""
    start = FIRST + timedelta(days=first)
    told = periods({start + timedelta(days=number): n for number, n in enumerate(days)}, minimum)

    timeline = find_timeline(told)

    assert timeline.weekly or timeline.periods == told
    if timeline.weekly:
        assert (told[-1].last - told[0].first).days >= MOST_DAYS
        assert find_split(timeline.periods, told) == []
        assert sum(week.n for week in timeline.periods) == sum(day.n for day in told)
        for week in timeline.periods:
            assert (week.first.weekday(), week.last.weekday(), week.days % 7) == (0, 6, 0)
        assert all(one.last < other.first for one, other in pairwise(timeline.periods))


def find_split(weeks: Sequence[Period], told: Sequence[Period]) -> list[Period]:
    """The weeks whose number is not that of the days told that end in them."""
    return [
        week for week in weeks if week.n != sum(day.n for day in told if week.first <= day.last <= week.last)
    ]


def test_weeks_that_split_days_told_together_would_be_found() -> None:
    """A twin that counts each day in its own week: of Sunday and Monday together, it tells them apart."""
    sunday = date(2026, 3, 1)
    days = {sunday: 4, sunday + timedelta(1): 7, sunday + timedelta(MOST_DAYS): 20}
    told = periods(days, 10)
    assert [(week.first, week.n) for week in find_timeline(told).periods] == [
        (sunday - timedelta(6), 11),
        (sunday + timedelta(MOST_DAYS - 6), 20),
    ]
    twin = [Period(sunday - timedelta(6), sunday, 4), Period(sunday + timedelta(1), sunday + timedelta(7), 7)]
    assert find_split(twin, told) == twin


def test_days_with_enough_stand_alone() -> None:
    days = {FIRST + timedelta(days=number): n for number, n in enumerate([12, 3, 4, 5, 0, 20, 2])}
    assert [(period.days, period.n) for period in periods(days, 10)] == [(1, 12), (3, 12), (2, 22)]
    assert periods({}, 10) == ()
    assert periods({FIRST: 9}, 10) == ()
    assert periods({FIRST: 9}, 1)[0].n == pytest.approx(9)
