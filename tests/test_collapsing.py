"""Strata that cannot stand alone: what is taken together, what counts as those beside it, and with which weights."""

from collections.abc import Sequence

import pytest

from server.study.strata import collapse
from server.study.strata.collapsing import Path

LEAVES: list[Path] = [("A", "x"), ("A", "y"), ("A", "z"), ("B", "x"), ("B", "y"), ("C",)]
PEOPLE = [100, 200, 300, 50, 150, 200]
SIZES = [40, 3, 9, 2, 0, 70]


def enough(path: Path, places: Sequence[int]) -> Sequence[int]:
    return places if sum(SIZES[place] for place in places) >= 10 else []


def test_every_stratum_that_stands_alone_counts_by_its_population() -> None:
    found = collapse(LEAVES, PEOPLE, range(6), enough)
    assert found is not None
    assert [(cell.places, cell.weight) for cell in found.cells] == [
        ((place,), people / 1000) for place, people in enumerate(PEOPLE)
    ]
    assert found.whole


def test_small_ones_are_taken_together_and_those_too_few_even_so_count_as_those_beside_them() -> None:
    found = collapse(LEAVES, PEOPLE, [0, 5], enough)
    assert found is not None
    # 3 + 9 in A are enough together. 2 + 0 in B are not, and there is nobody else in B: its 200 people are
    # shared out among all that is beside B.
    assert {cell.places: cell.weight for cell in found.cells} == pytest.approx(
        {(0,): 100 / 800, (1, 2): 500 / 800, (5,): 200 / 800}
    )
    assert found.together == ((1, 2),)
    assert found.unused == (3, 4)
    assert sum(cell.weight for cell in found.cells) == pytest.approx(1)


def test_population_of_an_empty_stratum_stays_inside_the_larger_one_around_it() -> None:
    found = collapse(LEAVES, PEOPLE, [0, 1, 2, 3, 5], enough)
    assert found is not None
    assert {cell.places: cell.weight for cell in found.cells} == pytest.approx(
        {(0,): 0.1, (1,): 0.2, (2,): 0.3, (3,): 0.2, (5,): 0.2}
    )


def test_inside_one_stratum_others_do_not_count() -> None:
    found = collapse(LEAVES[:3], PEOPLE[:3], [0], enough, ("A",))
    assert found is not None
    assert [(cell.places, cell.weight) for cell in found.cells] == [((0,), 1 / 6), ((1, 2), 5 / 6)]


def test_where_nothing_stands_alone_or_together_nothing_is_weighted() -> None:
    assert collapse(LEAVES, PEOPLE, [], lambda path, places: []) is None
