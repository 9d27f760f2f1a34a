"""Responses as lines of CSV, a part after the other: a large survey has hundreds of megabytes of them."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from server.collect.tallies import Tally
from server.collect.waves import groups_of

NOT_ASKED = 256
"""In place of a report, where the version does not have the column."""
_ROWS = 1 << 13
"""Responses in a part."""
_WIDEST = 4
# What stands for each report, a comma before it; zeros fill it up.
_CELLS = np.zeros((NOT_ASKED + 1, _WIDEST), dtype=np.uint8)
for _code in range(NOT_ASKED):
    _text = f",{_code}".encode()
    _CELLS[_code, : len(_text)] = np.frombuffer(_text, dtype=np.uint8)
_CELLS[NOT_ASKED, 0] = ord(",")


class CodedRows(NamedTuple):
    """Some responses of one group, a row for each: the codes of their reports, or `NOT_ASKED`."""

    group: int
    cells: NDArray[np.uint16]


def rows_of(sorted_parts: Iterator[Tally], columns: Sequence[int], width: int) -> Iterator[CodedRows]:
    """A row for each response, from tallies in groups (`waves.in_groups`), in their order.

    Parameters
    ----------
    columns : sequence of int
        The place of each byte of a pattern among the cells.
    width : int
        Number of cells; those that no byte has are `NOT_ASKED`.
    """
    for tally in sorted_parts:
        groups, own = groups_of(tally)
        ends = np.cumsum(tally.counts)
        for start in range(0, int(ends[-1]), _ROWS):
            stop = min(start + _ROWS, int(ends[-1]))
            pattern = np.searchsorted(ends, np.arange(start, stop), side="right")
            cells = np.full((stop - start, width), NOT_ASKED, dtype=np.uint16)
            cells[:, columns] = own.patterns[pattern]
            group = groups[pattern]
            cuts = [0, *(np.flatnonzero(group[1:] != group[:-1]) + 1).tolist(), len(group)]
            for first, last in pairwise(cuts):
                yield CodedRows(int(group[first]), cells[first:last])


def csv_lines(beginning: str | None, cells: NDArray[np.uint16]) -> bytes:
    """Rows as lines of CSV, each beginning with the same cells, if there are any."""
    written = _CELLS[cells].reshape(len(cells), -1)
    if beginning is None:
        written, beginning = written[:, 1:], ""  # no comma before the first
    ends = (np.frombuffer(text, dtype=np.uint8) for text in (beginning.encode(), b"\r\n"))
    head, end = (np.broadcast_to(part, (len(cells), len(part))) for part in ends)
    line = np.concatenate([head, written, end], axis=1)
    return line.tobytes().translate(None, b"\0")
