"""How strata are weighted by their populations, where some are withheld or have no responses.

The rule is that of `server.study.strata.collapsing`. What a weighted figure counts together must not tell what
is withheld: withheld strata are used all together, or not at all.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from server.collect.waves import Wave
from server.study.strata import Collapsed, Node, collapse, list_leaves


class Weighting(StrEnum):
    """Whether a group's strata count as much as their populations, and if not, why."""

    BY_POPULATION = "by population"
    BY_ROW = "by the weights of the rows"
    NO_STRATA = "no strata below"
    NO_POPULATION = "no stratum has a population"
    POPULATION_MISSING = "some stratum has no population"
    TOO_FEW = "no stratum has enough responses"
    ONE_VERSION = "one version alone"


@dataclass(frozen=True, eq=False)
class Weighed:
    """Whether the smallest strata inside one, `below`, are weighted, and how."""

    weighting: Weighting
    below: tuple[Node, ...]
    collapsed: Collapsed | None = None

    @cached_property
    def together(self) -> tuple[tuple[str, ...], ...]:
        """The paths of strata that count as one, group by group."""
        groups = () if self.collapsed is None else self.collapsed.together
        return tuple(tuple(self.below[place].path for place in group) for group in groups)

    @cached_property
    def unused(self) -> tuple[str, ...]:
        """The paths of strata that count as those beside them do."""
        return (
            () if self.collapsed is None else tuple(self.below[place].path for place in self.collapsed.unused)
        )

    @cached_property
    def cells(self) -> tuple[list[list[int]], list[float]]:
        """The strata whose responses count together, by their ids, and the share of the population of each cell."""
        cells = () if self.collapsed is None else self.collapsed.cells
        ids = [[self.below[place].stratum.id for place in cell.places] for cell in cells]
        return ids, [cell.weight for cell in cells]


@dataclass(frozen=True, eq=False)
class StratumCells:
    """Strata whose responses count together, for what is estimated of several questions at once.

    Attributes
    ----------
    weighed : Weighed
    cell_of : ndarray of int, shape (places,)
        By the place in the list of strata: the number of its cell; as many as there are cells where it is in none.
    shares : ndarray of float, shape (cells,)
        Of the population.
    n : int
        Responses in cells.
    """

    weighed: Weighed
    cell_of: NDArray[np.int64]
    shares: NDArray[np.float64]
    n: int

    @classmethod
    def of(
        cls, weighed: Weighed, sizes: Sequence[int], place: Mapping[int | None, int]
    ) -> "StratumCells | None":
        """Of strata with so many responses in each place; None where they are not weighted."""
        if weighed.collapsed is None:
            return None
        ids, shares = weighed.cells
        cell_of = np.full(len(sizes), len(ids), np.int64)
        for number, own in enumerate(ids):
            cell_of[[place[stratum] for stratum in own]] = number
        n = int(np.array(sizes)[cell_of < len(ids)].sum())
        return cls(weighed, cell_of, np.array(shares), n)


Weigh = Callable[[Sequence[Wave]], StratumCells | None]
"""How strata count by their populations in what some versions say; None where they do not."""


def weigh_nothing(_waves: Sequence[Wave]) -> None:
    """Every response counts the same."""


class Weights:
    """How the strata of a tree can be weighted: `sizes` are the responses of each, `hidden` what is withheld."""

    def __init__(
        self, nodes: Sequence[Node], sizes: Mapping[int | None, int], hidden: Set[object], minimum: int
    ) -> None:
        self._nodes = nodes
        self._sizes = sizes
        self._hidden = hidden
        self._minimum = minimum
        self._found: dict[tuple[str, ...], Weighed] = {}

    def inside(self, path: tuple[str, ...], nodes: Sequence[Node]) -> Weighed:
        """How the smallest strata are weighted inside the stratum of this path, which holds these."""
        if path not in self._found:
            self._found[path] = self._weigh(path, list_leaves(nodes))
        return self._found[path]

    def _weigh(self, top: tuple[str, ...], below: tuple[Node, ...]) -> Weighed:
        populations = [node.stratum.population for node in below]
        known = [size for size in populations if size is not None]
        if not below:
            return Weighed(Weighting.NO_STRATA, below)
        if not known:
            return Weighed(Weighting.NO_POPULATION, below)
        if len(known) < len(below):
            return Weighed(Weighting.POPULATION_MISSING, below)
        alone = {
            place
            for place, node in enumerate(below)
            if self._sizes[node.stratum.id] and node.stratum.id not in self._hidden
        }

        def together(path: tuple[str, ...], places: Sequence[int]) -> list[int]:
            """Withheld strata, all that are in the smallest shown one: their sum is no secret (`withholding`)."""
            own = [place for place in places if self._shown_around.get(below[place].stratum.id) == path]
            enough = sum(self._sizes[below[place].stratum.id] for place in own) >= self._minimum
            return own if enough and path not in self._mixed else []

        collapsed = collapse([node.names for node in below], known, alone, together, top)
        if collapsed is None:
            return Weighed(Weighting.TOO_FEW, below)
        return Weighed(Weighting.BY_POPULATION, below, collapsed)

    @cached_property
    def _shown_around(self) -> dict[object, tuple[str, ...]]:
        """For each withheld group the path of the smallest shown stratum around it."""
        found: dict[object, tuple[str, ...]] = {None: ()} if None in self._hidden else {}

        def walk_tree(below: Sequence[Node], around: tuple[str, ...]) -> None:
            for node in below:
                inner = around if node.stratum.id in self._hidden else node.names
                for key in (node.stratum.id, ("own", node.stratum.id)):
                    if key in self._hidden:
                        found[key] = inner if isinstance(key, tuple) else around
                walk_tree(node.children, inner)

        walk_tree(self._nodes, ())
        return found

    @cached_property
    def _mixed(self) -> set[tuple[str, ...]]:
        """Shown strata in which responses without a smallest stratum are withheld beside others.

        What the others hold would follow from a sum of them alone.
        """
        return {path for key, path in self._shown_around.items() if key is None or isinstance(key, tuple)}
