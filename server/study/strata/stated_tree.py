"""Strata as a file states them -> their tree, whose ids are their numbers."""

from collections.abc import Sequence

from server.store.models import Stratum
from server.study.strata.tree import Node, walk

StratumRow = tuple[tuple[str, ...], int | None]
"""The names of the strata above it and its own, and its population."""


def build_tree(rows: Sequence[StratumRow]) -> tuple[Node, ...]:
    """The tree of strata that are of no database.

    Raises
    ------
    ValueError
        If one stands twice, or not right below those that it belongs to.
    """
    below: dict[tuple[str, ...], list[tuple[Stratum, tuple[str, ...]]]] = {}
    known: set[tuple[str, ...]] = {()}
    for number, (names, population) in enumerate(rows, 1):
        if names in known or names[:-1] not in known:
            raise ValueError("each stratum must come once, after the one above it")
        known.add(names)
        stratum = Stratum(id=number, name=names[-1], population=population, merged=False)
        below.setdefault(names[:-1], []).append((stratum, names))

    def nodes(above: tuple[str, ...]) -> tuple[Node, ...]:
        return tuple(Node(stratum, names, nodes(names)) for stratum, names in below.get(above, []))

    found = nodes(())
    if [node.names for node in walk(found)] != [names for names, _ in rows]:
        raise ValueError("strata must stand before those below them, together")
    return found
