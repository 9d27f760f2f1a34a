"""How collecting goes: the responses of each stratum that are shown, against its part of what is planned."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

import numpy as np

from server.collect.waves import places_of
from server.reports.report import Report
from server.study.strata import Node, walk

MOST_FOLLOWED = 100
"""Strata in the list; where there are more, the deepest levels are left out, then the last."""


@dataclass(frozen=True)
class StratumProgress:
    """A stratum with those inside it, or the responses without stratum.

    Attributes
    ----------
    path, name : str
        Empty for the responses without stratum.
    depth : int
        1 right under the survey.
    n : int or None
        Responses that are shown, to all versions; None where the group is withheld.
    target : int or None
        Its part of the planned number, in proportion to its population, rounded; None where that is not known.
    """

    path: str
    name: str
    depth: int
    n: int | None
    target: int | None

    @property
    def reached(self) -> float | None:
        """Which part of its target is shown, as a fraction; None where either is not known."""
        return None if self.n is None or not self.target else self.n / self.target


@dataclass(frozen=True)
class CollectionProgress:
    """The strata in order, each before those inside it. `cut` says whether some are left out."""

    strata: tuple[StratumProgress, ...]
    cut: bool

    @property
    def has_targets(self) -> bool:
        """Whether any stratum has one."""
        return any(each.target is not None for each in self.strata)

    @property
    def scale(self) -> float:
        """What the longest bar stands for, as a fraction of a target; at least a whole one."""
        return max(1.0, *(each.reached or 0 for each in self.strata))

    @property
    def farthest(self) -> StratumProgress | None:
        """Of the strata right under the survey the one with the smallest part of its target; None if none lacks any."""
        behind = [
            each for each in self.strata if each.depth == 1 and each.reached is not None and each.reached < 1
        ]
        return min(behind, key=lambda each: each.reached or 0, default=None)


def follow_strata(report: Report, planned: int | None) -> CollectionProgress | None:
    """The strata of a report, as far as it tells their responses; None where there are none, or nothing is shown.

    What is withheld is what estimates withhold (`Report.hidden`), so that this tells no more than they do.

    Parameters
    ----------
    planned : int or None
        How many responses are wanted in all.
    """
    if not (report.nodes and report.pooled and report.n):
        return None
    sizes: list[int] = np.sum([wave.sizes for wave in report.waves], axis=0).tolist()
    nodes, cut = _choose(report.nodes)
    part = _part_of_each(report.nodes, planned)
    by_stratum = dict(zip(places_of(report.nodes), sizes, strict=True))
    strata = [_follow(node, by_stratum, report.hidden, part) for node in nodes]
    if sizes[0]:
        strata.append(StratumProgress("", "", 1, sizes[0] if report.shows(None) else None, None))
    return CollectionProgress(tuple(strata), cut)


def follow_upper(
    nodes: tuple[Node, ...], sizes: Mapping[int | None, int], hidden: Set[object], planned: int | None
) -> tuple[StratumProgress, ...]:
    """The strata right under the survey, where `sizes` has the responses of each stratum, and `hidden` are withheld."""
    part = _part_of_each(nodes, planned)
    return tuple(_follow(node, sizes, hidden, part) for node in nodes)


def _choose(nodes: tuple[Node, ...]) -> tuple[list[Node], bool]:
    """The upper levels, as many as there is room for."""
    every = list(walk(nodes))
    deepest = max(node.depth for node in every)
    while deepest > 1 and sum(node.depth <= deepest for node in every) > MOST_FOLLOWED:
        deepest -= 1
    upper = [node for node in every if node.depth <= deepest][:MOST_FOLLOWED]
    return upper, len(upper) < len(every)


def _part_of_each(nodes: tuple[Node, ...], planned: int | None) -> float | None:
    """Responses that are planned for each person of the population; None where either is not known."""
    populations = list(_populations(nodes))
    total = sum(populations)
    if planned is None or len(populations) < len(nodes) or not total:
        return None
    return planned / total


def _populations(nodes: tuple[Node, ...]) -> Iterator[int]:
    return (node.population for node in nodes if node.population is not None)


def _follow(
    node: Node, sizes: Mapping[int | None, int], hidden: Set[object], part: float | None
) -> StratumProgress:
    n = sum(sizes.get(inside.stratum.id, 0) for inside in walk([node]))
    target = None if part is None or node.population is None else round(part * node.population)
    shown = node.stratum.id not in hidden
    return StratumProgress(node.path, node.stratum.name, node.depth, n if shown else None, target)
