"""What happened to populations: estimates are weighted by them, so that no change may go unnoticed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from server.store.models import Survey
from server.study.strata.tree import Node, walk
from server.study.surveys import today


@dataclass(frozen=True)
class PopulationChange:
    """Another population for a stratum that was there before; None where it has none."""

    path: str
    old: int | None
    new: int | None


def populations_of(nodes: Iterable[Node]) -> dict[int, int | None]:
    """The populations that strata were given, by the ids of these."""
    return {node.stratum.id: node.stratum.population for node in walk(nodes)}


def population_changes(before: Mapping[int, int | None], nodes: Iterable[Node]) -> list[PopulationChange]:
    """Which strata have another population than before."""
    return [
        PopulationChange(node.path, before[node.stratum.id], node.stratum.population)
        for node in walk(nodes)
        if before.get(node.stratum.id, node.stratum.population) != node.stratum.population
    ]


def mark_populations(survey: Survey) -> None:
    """Remember that populations are other ones from today on: every report says since when."""
    survey.populations_since = today()
