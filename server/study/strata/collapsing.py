"""Strata that count by their population although some have too few responses to stand alone.

The rule, wherever something is weighted: the smallest strata that cannot stand alone are taken together
with the others inside the same larger one that cannot. Where these together cannot stand either, nothing
of their responses is used, and their population counts as that of the strata beside them, each of which
grows in proportion; where there is none beside them, the same is done one level up.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

Path = tuple[str, ...]


@dataclass(frozen=True)
class CollapsedStrata:
    """Strata whose responses count together: their places, and the share of the population they stand for."""

    places: tuple[int, ...]
    weight: float


@dataclass(frozen=True)
class Collapsed:
    """How strata are weighted.

    Attributes
    ----------
    cells : tuple of Cell
        Their weights sum to 1.
    together : tuple of tuples of int
        The places of strata that are taken together, a group each.
    unused : tuple of int
        The places of strata whose responses are not used: they count as those beside them do.
    """

    cells: tuple[CollapsedStrata, ...]
    together: tuple[tuple[int, ...], ...]
    unused: tuple[int, ...]

    @property
    def whole(self) -> bool:
        """Whether every stratum stands alone."""
        return not self.together and not self.unused


def collapse(
    leaves: Sequence[Path],
    populations: Sequence[int],
    alone: Collection[int],
    together: Callable[[Path, Sequence[int]], Sequence[int]],
    top: Path = (),
) -> Collapsed | None:
    """Weights of the smallest strata inside `top`, by their populations; None where nothing could be weighted.

    Parameters
    ----------
    leaves : sequence of paths
        In the order of their tree: those inside a stratum are beside each other.
    populations : sequence of int
        Of each leaf, at least 1.
    alone : collection of int
        The places of the leaves that stand alone.
    together : callable
        (path of a stratum, places of leaves inside it that do not stand alone) -> the places of those whose
        responses are used together, none where they are too few.
    """
    found = _inside(top, list(range(len(leaves))), leaves, populations, frozenset(alone), together)
    if not found.cells:
        return None
    total = sum(people for _, people in found.cells)
    cells = tuple(CollapsedStrata(places, float(people / total)) for places, people in found.cells)
    counted = {place for own, _ in found.cells for place in own}
    counted.update(place for group in found.together for place in group)
    unused = tuple(place for place in range(len(leaves)) if place not in counted)
    return Collapsed(cells, tuple(found.together), unused)


@dataclass
class _Inside:
    """What is inside a stratum: cells with the people they stand for, groups, and leaves still without a cell."""

    cells: list[tuple[tuple[int, ...], Fraction]]
    together: list[tuple[int, ...]]
    loose: list[int]


def _inside(
    path: Path,
    places: Sequence[int],
    leaves: Sequence[Path],
    populations: Sequence[int],
    alone: frozenset[int],
    together: Callable[[Path, Sequence[int]], Sequence[int]],
) -> _Inside:
    found = _Inside([], [], [])
    depth = len(path)
    for name, group in groupby(places, key=lambda place: leaves[place][depth]):
        own = list(group)
        if len(leaves[own[0]]) > depth + 1:
            below = _inside((*path, name), own, leaves, populations, alone, together)
            found.cells += below.cells
            found.together += below.together
            found.loose += below.loose
        elif own[0] in alone:
            found.cells.append(((own[0],), Fraction(populations[own[0]])))
        else:
            found.loose.append(own[0])
    if not found.loose:
        return found
    people = Fraction(sum(populations[place] for place in found.loose))
    used = together(path, found.loose)
    if used:
        found.cells.append((tuple(used), people))
        found.together.append(tuple(found.loose))
        found.loose = []
    elif found.cells:
        known = sum(own for _, own in found.cells)
        found.cells = [(own, size * (1 + people / known)) for own, size in found.cells]
        found.loose = []
    return found
