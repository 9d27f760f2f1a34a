"""One byte of the responses, or one answer of several: what was counted, part by part, and what it says."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from server.privacy.designs import Design
from server.privacy.estimators import (
    PooledShares,
    anytime_shares,
    estimate_pooled_shares,
    pooled_impossible_share_test,
    pooled_manipulation_bound,
    share_coefficients,
)
from server.reports.intervals import interval_name

INTERVAL = "by_size"
"""The interval of one look that is shown: exact where there are few responses."""


@dataclass(frozen=True, eq=False)
class Part:
    """Reports that were drawn from one design: the versions that they answer, and a count of each report."""

    versions: tuple[int, ...]
    design: Design
    counts: NDArray[np.int64]

    @property
    def n(self) -> int:
        """Number of reports."""
        return int(self.counts.sum())


@dataclass(frozen=True, eq=False)
class Column:
    """One byte of the responses, or one answer of several: what was counted, part by part, and what it says.

    The first part is that of the newest version. Without `weights` every response counts the same.
    `one_partition`: whether the parts are the same at every look, however many responses there are.
    """

    name: str
    parts: tuple[Part, ...]
    weights: tuple[float, ...] | None
    confidence: float
    one_partition: bool = True

    @property
    def n(self) -> int:
        """Number of reports."""
        return sum(part.n for part in self.parts)

    @property
    def counts(self) -> NDArray[np.int64]:
        """The reports as they arrived, after the coins, of all parts."""
        return np.asarray(np.sum([part.counts for part in self.parts], axis=0))

    @property
    def observed(self) -> NDArray[np.float64]:
        """Shares of the reports as they arrived."""
        return self.counts / self.n

    @cached_property
    def estimate(self) -> PooledShares | None:
        """The estimated shares; None before the first response."""
        if not self.n:
            return None
        return estimate_pooled_shares(self.of_parts, self.designs, self.weights, self.confidence, INTERVAL)

    @cached_property
    def method(self) -> str:
        """What the intervals of one look are called (`interval_name`); nothing before the first response."""
        if self.estimate is None:
            return ""
        rows = [list(share_coefficients([design]).numerators[:, may]) for design, may in self.counting]
        return interval_name(self.estimate.interval, rows)

    @property
    def counting(self) -> list[tuple[Design, NDArray[np.bool_]]]:
        """The designs of the parts that count, each with the reports that it can give."""
        weights = self.weights or [1.0] * len(self.parts)
        return [
            (part.design, part.design.weights.sum(axis=0) > 0)
            for part, weight in zip(self.parts, weights, strict=True)
            if part.n and weight
        ]

    @cached_property
    def anytime(self) -> NDArray[np.float64]:
        """Intervals that stay valid however often one looks, shape (answers, 2).

        Their method needs the same parts at every look. Where parts were taken together as they had too few
        responses, all that holds at every look is that a share is between 0 and 1.
        """
        if not self.one_partition:
            return np.tile([0.0, 1.0], (len(self.designs[0].weights), 1))
        return anytime_shares(self.of_parts, self.designs, self.weights, self.confidence)

    @cached_property
    def impossible_p_value(self) -> float | None:
        """Of the hypothesis that possible shares explain the reports; None before the first."""
        return pooled_impossible_share_test(self.of_parts, self.designs) if self.n else None

    def manipulation(self, forged: int) -> float:
        """How far so many forged ones among the responses move a share at most, with its weights."""
        sizes = [part.n for part in self.parts]
        return pooled_manipulation_bound(sizes, min(forged, self.n), self.designs, self.weights)

    @property
    def of_parts(self) -> list[NDArray[np.int64]]:
        """The counts of each part."""
        return [part.counts for part in self.parts]

    @property
    def designs(self) -> list[Design]:
        """The design of each part."""
        return [part.design for part in self.parts]


def merged(parts: Sequence[Part]) -> tuple[Part, ...]:
    """The parts, those of one design counted together."""
    found: dict[bytes, Part] = {}
    for part in parts:
        key = part.design.weights.tobytes()
        known = found.get(key)
        if known is not None:
            part = Part(
                tuple(dict.fromkeys(known.versions + part.versions)), part.design, known.counts + part.counts
            )
        found[key] = part
    return tuple(found.values())
