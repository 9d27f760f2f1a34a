"""Tallies: how often each combination of reports arrived. Every estimate is a function of one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Tally:
    """Report strings and how often each occurs.

    `patterns` has a row for each string and a column for each byte; `counts` an entry for each
    row. A string may stand in several rows.
    """

    patterns: NDArray[np.uint8]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, strings: bytes | memoryview, length: int) -> "Tally":
        """Of strings of `length` bytes, one after the other."""
        patterns = np.frombuffer(strings, dtype=np.uint8).reshape(-1, length)
        return cls(patterns, np.ones(len(patterns), dtype=np.int64))

    @property
    def n(self) -> int:
        """Number of responses."""
        return int(self.counts.sum())

    @classmethod
    def join_all(cls, tallies: Sequence["Tally"]) -> "Tally":
        """Several, at least one, row by row."""
        return cls(
            np.concatenate([tally.patterns for tally in tallies]),
            np.concatenate([tally.counts for tally in tallies]),
        )


def count_cells(cells: NDArray[np.integer], counts: NDArray[np.int64], possible: int) -> NDArray[np.int64]:
    """How often each of the numbers below `possible` occurs among `cells`, each counting as often as it says."""
    # Weights are added up as floats, exactly: no survey has 2^53 responses.
    return np.bincount(cells, weights=counts, minlength=possible).astype(np.int64)
