"""Responses in parts that fit into memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.collect.batches import add_up
from server.collect.tallies import Tally

Pieces = Callable[[], Iterator[tuple[int, Tally]]]
"""Gives, anew each time, where responses come from (a place in the list of strata), and their tally."""

_LARGE = 2 << 20
"""Bytes of a block."""
_KEPT = 8 << 20
"""Bytes of blocks that are kept in memory, and not read again."""
_GROUP = np.dtype(">u2")
"""How a number below 65,536 stands before a pattern: sorted, the groups are in their order."""


@dataclass(frozen=True, eq=False)
class Block:
    """Some responses: the place of each pattern in the list of strata, and their tally."""

    places: NDArray[np.int64]
    tally: Tally

    @property
    def bytes(self) -> int:
        """In memory."""
        return self.places.nbytes + self.tally.patterns.nbytes + self.tally.counts.nbytes


class Blocks:
    """Responses as blocks, to be gone through as often as needed."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._kept: list[Block] | None = []
        self._complete = False

    def walk(self) -> Iterator[Block]:
        """Every block."""
        if self._complete and self._kept is not None:
            yield from self._kept
            return
        kept: list[Block] | None = [] if self._kept is not None else None
        for block in _blocks(self._pieces()):
            if kept is not None:
                kept.append(block)
                if sum(each.bytes for each in kept) > _KEPT:
                    kept = self._kept = None
            yield block
        self._kept, self._complete = kept, True


def _blocks(pieces: Iterator[tuple[int, Tally]]) -> Iterator[Block]:
    """Pieces brought together, equal patterns counted together where there are many."""
    waiting: list[Block] = []
    size = 0
    for place, tally in pieces:
        waiting.append(Block(np.full(len(tally.counts), place), tally))
        size += waiting[-1].bytes
        if size > _LARGE:
            block = _join_blocks(waiting)
            if block.bytes > _LARGE // 2:
                yield block
                waiting, size = [], 0
            else:
                waiting, size = [block], block.bytes
    if waiting:
        yield _join_blocks(waiting)


def _join_blocks(blocks: list[Block]) -> Block:
    places = np.concatenate([block.places for block in blocks])
    tally = Tally.join_all([block.tally for block in blocks])
    if tally.n < 2 * len(places):  # most of them are different
        return Block(places, tally)
    found = add_up([in_groups(places, tally)])
    return Block(*groups_of(found))


def in_groups(groups: NDArray[np.integer], tally: Tally) -> Tally:
    """A tally whose patterns begin with the number of their group."""
    before = groups.astype(_GROUP).view(np.uint8).reshape(-1, _GROUP.itemsize)
    return Tally(np.concatenate([before, tally.patterns], axis=1), tally.counts)


def groups_of(tally: Tally) -> tuple[NDArray[np.int64], Tally]:
    """What `in_groups` was made of."""
    before = np.ascontiguousarray(tally.patterns[:, : _GROUP.itemsize])
    groups = before.view(_GROUP).ravel().astype(np.int64)
    return groups, Tally(tally.patterns[:, _GROUP.itemsize :], tally.counts)
