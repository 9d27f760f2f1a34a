"""How strata are weighted by their populations, where some are withheld or have no responses.

The rule is that of `server.study.strata.collapsing`. What a weighted figure counts together must not tell what
is withheld: withheld strata are used all together, or not at all.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from server.study.strata import Collapsed, Node, collapse


class Weighting(StrEnum):
    """Whether a group's strata count as much as their populations, and if not, why."""

    BY_POPULATION = "by population"
    NO_STRATA = "no strata below"
    NO_POPULATION = "no stratum has a population"
    POPULATION_MISSING = "some stratum has no population"
    TOO_FEW = "no stratum has enough responses"
    ONE_VERSION = "one version alone"


@dataclass(frozen=True, eq=False)
class Weights:
    """How the strata of a tree can be weighted: `sizes` are the responses of each, `hidden` what is withheld."""

    nodes: Sequence[Node]
    sizes: Mapping[int | None, int]
    hidden: Set[object]
    minimum: int

    def of(self, below: Sequence[Node], top: tuple[str, ...]) -> tuple[Weighting, Collapsed | None]:
        """Whether the smallest strata inside one can be weighted, and how."""
        populations = [node.stratum.population for node in below]
        known = [size for size in populations if size is not None]
        if not below:
            return Weighting.NO_STRATA, None
        if not known:
            return Weighting.NO_POPULATION, None
        if len(known) < len(below):
            return Weighting.POPULATION_MISSING, None
        alone = {
            place
            for place, node in enumerate(below)
            if self.sizes[node.stratum.id] and node.stratum.id not in self.hidden
        }

        def together(path: tuple[str, ...], places: Sequence[int]) -> list[int]:
            """Withheld strata, all that are in the smallest shown one: their sum is no secret (`withholding`)."""
            own = [place for place in places if self._shown_around.get(below[place].stratum.id) == path]
            enough = sum(self.sizes[below[place].stratum.id] for place in own) >= self.minimum
            return own if enough and path not in self._mixed else []

        collapsed = collapse([node.names for node in below], known, alone, together, top)
        return (Weighting.TOO_FEW if collapsed is None else Weighting.BY_POPULATION), collapsed

    @cached_property
    def _shown_around(self) -> dict[object, tuple[str, ...]]:
        """For each withheld group the path of the smallest shown stratum around it."""
        found: dict[object, tuple[str, ...]] = {None: ()} if None in self.hidden else {}

        def look(below: Sequence[Node], around: tuple[str, ...]) -> None:
            for node in below:
                inner = around if node.stratum.id in self.hidden else node.names
                for key in (node.stratum.id, ("own", node.stratum.id)):
                    if key in self.hidden:
                        found[key] = inner if isinstance(key, tuple) else around
                look(node.children, inner)

        look(self.nodes, ())
        return found

    @cached_property
    def _mixed(self) -> set[tuple[str, ...]]:
        """Shown strata in which responses without a smallest stratum are withheld beside others.

        What the others hold would follow from a sum of them alone.
        """
        return {path for key, path in self._shown_around.items() if key is None or isinstance(key, tuple)}
