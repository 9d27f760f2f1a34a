"""Estimates of one question by stratum, rolled up, and weighted by population where that is possible."""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from server.collect.waves import Wave, WaveQuestion, places_of
from server.reports.estimate_values import QuestionReport, compute_limits
from server.reports.population_weights import StratumCells, Weighting, Weights
from server.reports.question_estimates import estimate_question, post_stratified
from server.reports.withholding import ResponseGroup, find_withheld
from server.study.strata import Node, list_leaves, walk
from server.study.strata.tree import SEPARATOR


@dataclass(frozen=True, eq=False)
class StratumReport:
    """A group of responses: all, a stratum with all strata inside, or those that came without stratum.

    `n` is None and there is no `report` where the group is withheld; nor is there one of nobody.
    The report is that of the population where `weighting` says so. `path` is empty for all.
    `together` are groups of strata that count as one, as some have too few responses; `unused` are strata
    that count as those beside them do (`server.study.strata.collapsing`), both by their paths.
    """

    path: str
    name: str
    depth: int
    own_link: bool
    population: int | None
    n: int | None
    weighting: Weighting
    report: QuestionReport | None
    together: tuple[tuple[str, ...], ...] = ()
    unused: tuple[str, ...] = ()

    @property
    def weighted(self) -> bool:
        """Whether its strata count as much as their populations."""
        return self.weighting == Weighting.BY_POPULATION

    @property
    def withheld(self) -> bool:
        """Whether nothing is said of the group."""
        return self.n is None


@dataclass(frozen=True, eq=False)
class StratumTree:
    """The strata of a report; `hidden` are the keys of the groups to withhold (`hidden_in`)."""

    nodes: Sequence[Node]
    hidden: Set[object]
    confidence: float
    minimum: int

    @cached_property
    def place(self) -> dict[int | None, int]:
        """The place of each stratum in lists of all."""
        return {key: place for place, key in enumerate(places_of(self.nodes))}

    @cached_property
    def weights(self) -> Callable[[tuple[int, ...]], Weights]:
        """How strata with so many responses are weighted: of questions that as many answered, found once."""
        return cache(self._find_weights)

    def weigh(self, waves: Sequence[Wave]) -> StratumCells | None:
        """How the strata count by their populations in what is estimated of these versions; None where they do not."""
        sizes = tuple(np.sum([wave.sizes for wave in waves], axis=0).tolist())
        return StratumCells.of(self.weights(sizes).inside((), self.nodes), sizes, self.place)

    def _find_weights(self, sizes: tuple[int, ...]) -> Weights:
        own = {stratum: sizes[place] for stratum, place in self.place.items()}
        return Weights(self.nodes, own, self.hidden, self.minimum)


def by_stratum(
    versions: Sequence[WaveQuestion], tree: StratumTree, deepest: int | None = None
) -> tuple[StratumReport, ...]:
    """All responses, then each stratum before those inside it, then the responses without stratum.

    Those below `deepest` are left out.
    """
    table = _Table(versions, tree)
    some = (node for node in walk(tree.nodes) if deepest is None or node.depth <= deepest)
    groups = [table.whole(), *(table.group(node) for node in some)]
    if table.sizes[0]:
        groups.append(table.without())
    compute_limits(group.report for group in groups if group.report is not None)
    return tuple(groups)


def whole_of(versions: Sequence[WaveQuestion], tree: StratumTree) -> StratumReport:
    """All responses, or all strata by their populations: what a question's first numbers are."""
    return _Table(versions, tree).whole()


def group_of(versions: Sequence[WaveQuestion], tree: StratumTree, node: Node | None) -> StratumReport:
    """A stratum with those inside it, or the responses without stratum (None): as in `by_stratum`."""
    table = _Table(versions, tree)
    return table.without() if node is None else table.group(node)


def deepest_within(nodes: Sequence[Node], most: int) -> int:
    """The depth down to which groups are added up from so many strata at most; 0 for the top, -1 for nothing."""
    deepest, needed = -1, len(list_leaves(nodes))
    while needed <= most:
        deepest += 1
        below = [node for node in walk(nodes) if node.depth == deepest + 1]
        if not below:
            break
        needed += sum(len(list_leaves([node])) for node in below)
    return deepest


def hidden_in(tables: Sequence[Sequence[int]], nodes: Sequence[Node], minimum: int) -> frozenset[object]:
    """The keys of the groups that some table of sizes withholds, each with the responses of each place.

    Withheld everywhere, so that sums and differences of the tables tell of nobody, or of `minimum` people.
    Strata whose responses came here under the one around them are withheld as they were elsewhere.
    """
    found = [find_withheld(_root(nodes, sizes), minimum) for sizes in tables if any(sizes)]
    merged = {node.stratum.id for node in walk(nodes) if node.stratum.merged}
    return frozenset[object](merged).union(*found)


def name_strata(waves: Sequence[Sequence[int]], nodes: Sequence[Node], minimum: int) -> dict[int | None, str]:
    """The strata that exports of single responses may name, with their paths; others stand for a larger one.

    `waves` has, for each version, the responses of each place. A stratum is named where all
    versions together and each by itself would show it: so no difference between what the
    versions' files say tells of a few. A stratum that is not is given the path of the
    smallest shown one around it, empty where there is none.
    """
    totals = [sum(sizes) for sizes in zip(*waves, strict=True)]
    hidden = hidden_in([*waves, totals], nodes, minimum)
    paths: dict[int | None, str] = {None: ""}

    def name(below: Sequence[Node], around: str) -> None:
        for node in below:
            path = around if node.stratum.id in hidden else node.path
            paths[node.stratum.id] = path
            name(node.children, path)

    name(nodes, "")
    return paths


NO_STRATUM = "<without stratum>"
WITHHELD_STRATUM = "<withheld>"
"""What stands in exports in place of a path. No stratum's name ends with ">": none is called so."""


def describe_strata(
    waves: Sequence[Sequence[int]], nodes: Sequence[Node], minimum: int, *, without: bool
) -> dict[int | None, str]:
    """What stands for a stratum beside single responses, by that stratum: its path, or why there is none.

    Paths as in `name_strata`. Responses without stratum are `NO_STRATUM` where they may be told apart (also as far as
    `without` says); else they are `WITHHELD_STRATUM`, as are those of strata without a shown one around them.
    """
    totals = [sum(sizes) for sizes in zip(*waves, strict=True)]
    paths = {
        stratum: path or WITHHELD_STRATUM for stratum, path in name_strata(waves, nodes, minimum).items()
    }
    if without and None not in hidden_in([*waves, totals], nodes, minimum):
        paths[None] = NO_STRATUM
    return paths


class _Table:
    """What is the same for every group of one question."""

    def __init__(self, versions: Sequence[WaveQuestion], tree: StratumTree) -> None:
        self.asked, self.tree = versions, tree
        self.sizes: list[int] = np.sum([one.wave.sizes for one in versions], axis=0).tolist()
        self.weights = tree.weights(tuple(self.sizes))

    def whole(self) -> StratumReport:
        """All responses; those of all strata where they are weighted."""
        populations = [node.population for node in self.tree.nodes]
        known = [size for size in populations if size is not None]
        total = sum(known) if len(known) == len(populations) else None
        return self._estimate_group((), "", self.tree.nodes, list(range(len(self.sizes))), total)

    def without(self) -> StratumReport:
        """The responses that came through the survey's own link."""
        if None in self.tree.hidden:
            return StratumReport("", "", 1, True, None, None, Weighting.NO_STRATA, None)
        report = estimate_question(self.asked, [0], self.tree.confidence)
        return StratumReport("", "", 1, True, None, report.n, Weighting.NO_STRATA, report)

    def group(self, node: Node) -> StratumReport:
        """A stratum with those inside it."""
        if node.stratum.id in self.tree.hidden:
            return StratumReport(
                node.path,
                node.stratum.name,
                node.depth,
                False,
                node.population,
                None,
                Weighting.NO_STRATA,
                None,
            )
        places = [self.tree.place[each.stratum.id] for each in walk([node])]
        return self._estimate_group(node.names, node.stratum.name, node.children, places, node.population)

    def _estimate_group(
        self,
        names: tuple[str, ...],
        name: str,
        inside: Sequence[Node],
        places: list[int],
        population: int | None,
    ) -> StratumReport:
        n = sum(self.sizes[place] for place in places)
        weighed = self.weights.inside(names, inside)
        report = None
        if weighed.collapsed is not None:
            cells, shares = weighed.cells
            report = post_stratified(
                self.asked,
                [[self.tree.place[stratum] for stratum in cell] for cell in cells],
                shares,
                self.tree.confidence,
                one_partition=not weighed.together,
            )
            n = report.n
        elif n:
            report = estimate_question(self.asked, places, self.tree.confidence)
        path, together, unused = SEPARATOR.join(names), weighed.together, weighed.unused
        return StratumReport(
            path, name, len(names), False, population, n, weighed.weighting, report, together, unused
        )


def _root(nodes: Sequence[Node], sizes: Sequence[int]) -> ResponseGroup:
    """The tree of groups with their sizes; the survey's own link is a group beside the strata."""
    place = {key: place for place, key in enumerate(places_of(nodes))}

    def branch(node: Node) -> ResponseGroup:
        children = tuple(branch(child) for child in node.children)
        own = sizes[place[node.stratum.id]]
        if children and own:
            children = (*children, ResponseGroup(("own", node.stratum.id), own))
        n = sum(child.n for child in children) if children else own
        return ResponseGroup(node.stratum.id, n, children)

    children = (ResponseGroup(None, sizes[0]), *(branch(node) for node in nodes))
    return ResponseGroup("all", sum(child.n for child in children), children)
