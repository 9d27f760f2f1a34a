"""One byte of the responses, or one answer of several: what was counted, part by part, and what it says."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from server.privacy.designs import Design
from server.privacy.estimators import PooledShares, pooled_manipulation_bound, share_coefficients
from server.privacy.estimators.anytime import anytime_shares_of
from server.privacy.estimators.impossible import impossible_share_test_of
from server.privacy.estimators.inverse import possible_reports
from server.privacy.estimators.parts import Parts, checked_parts, checked_singles
from server.privacy.estimators.pooled_shares import pooled_shares_of, single_shares_of
from server.reports.interval_names import interval_name

INTERVAL = "by_size"
"""The interval of one look that is shown: exact where there are few responses."""


@dataclass(frozen=True, eq=False)
class ColumnPart:
    """Reports that were drawn from one design: the versions that they answer, and a count of each report."""

    versions: tuple[int, ...]
    design: Design
    counts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ReportColumn:
    """One byte of the responses, or one answer of several: what was counted, part by part, and what it says.

    Attributes
    ----------
    name : str
    versions : tuple of tuple of int
        The versions that each part answers; the first part is that of the newest.
    designs : tuple of Design
        The design of each part.
    of_parts : ndarray of int, shape (parts, reports)
        The counts of each part.
    weights : ndarray, shape (parts,), or None
        Without them every response counts the same.
    one_partition : bool
        Whether the parts are the same at every look, however many responses there are.
    """

    name: str
    versions: tuple[tuple[int, ...], ...]
    designs: tuple[Design, ...]
    of_parts: NDArray[np.int64]
    weights: NDArray[np.float64] | None
    confidence: float
    one_partition: bool = True

    @property
    def parts(self) -> list[ColumnPart]:
        """The parts, one by one."""
        return [ColumnPart(*part) for part in zip(self.versions, self.designs, self.of_parts, strict=True)]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of reports of each part."""
        return np.asarray(self.of_parts.sum(axis=1))

    @cached_property
    def n(self) -> int:
        """Number of reports."""
        return int(self.sizes.sum())

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """The reports as they arrived, after the coins, of all parts."""
        return np.asarray(self.of_parts.sum(axis=0))

    @property
    def observed(self) -> NDArray[np.float64]:
        """Shares of the reports as they arrived."""
        return self.counts / self.n

    @property
    def repeats_answers(self) -> bool:
        """Whether each report is named as an answer is; data from elsewhere may have more reports, or fewer."""
        return all(design.weights.shape[0] == design.weights.shape[1] for design in self.designs)

    @cached_property
    def estimate(self) -> PooledShares | None:
        """The estimated shares; None before the first response."""
        if not self.n:
            return None
        return pooled_shares_of(self.checked, self.confidence, INTERVAL)

    @cached_property
    def checked(self) -> Parts:
        """The parts as estimators take them, once there is a response."""
        return checked_parts(self.of_parts, self.designs, self.weights)

    @cached_property
    def method(self) -> str:
        """What the intervals of one look are called (`interval_name`); nothing before the first response."""
        if self.estimate is None:
            return ""
        return _name_interval(self.estimate.interval, self.counting, self.several)

    @cached_property
    def counting(self) -> tuple[Design, ...]:
        """The designs of the parts that count."""
        return tuple(
            dict.fromkeys(design for design, one in zip(self.designs, self._counts, strict=True) if one)
        )

    @property
    def design_effect(self) -> float | None:
        """Kish's, of weights alone: n times the sum of the squared weights of responses, whose sum is 1.

        How many times as many responses as with equal weights a share needs, if it is alike in all parts. None where
        every response counts the same, and before the first one.
        """
        if self.weights is None or self.estimate is None:
            return None
        some = np.array(self._counts)
        sizes = self.sizes[some]
        # Never below 1 (Cauchy and Schwarz), but for rounding.
        return max(1.0, float(sizes.sum() * (self.estimate.weights[some] ** 2 / sizes).sum()))

    @property
    def several(self) -> bool:
        """Whether more than one part counts."""
        return sum(self._counts) > 1

    @cached_property
    def _counts(self) -> list[bool]:
        """Which parts count."""
        some = self.sizes > 0
        return list((some if self.weights is None else some & (self.weights > 0)).tolist())

    @cached_property
    def anytime(self) -> NDArray[np.float64]:
        """Intervals that stay valid however often one looks, shape (answers, 2).

        Their method needs the same parts at every look. Where parts were taken together as they had too few
        responses, all that holds at every look is that a share is between 0 and 1.
        """
        if not self.one_partition:
            return np.tile([0.0, 1.0], (len(self.designs[0].weights), 1))
        return anytime_shares_of([self.checked], self.confidence)[0]

    @cached_property
    def impossible_p_value(self) -> float | None:
        """Of the hypothesis that possible shares explain the reports; None before the first."""
        return impossible_share_test_of(self.checked.answered) if self.n else None

    def manipulation(self, forged: int) -> float:
        """How far so many forged ones among the responses move a share at most, with its weights."""
        return pooled_manipulation_bound(self.sizes.tolist(), min(forged, self.n), self.designs, self.weights)


def compute_estimates(columns: Iterable[ReportColumn]) -> None:
    """Estimate columns of a single part, of hundreds of strata, all at once."""
    alike: dict[tuple[int, float], list[ReportColumn]] = {}
    for column in columns:
        if len(column.designs) == 1 and column.weights is None and column.n:
            alike.setdefault((id(column.designs[0]), column.confidence), []).append(column)
    for (_design, confidence), some in alike.items():
        counts = np.concatenate([column.of_parts for column in some])
        together, groups = checked_singles(counts, some[0].designs[0])
        estimates = single_shares_of(together, groups, confidence, INTERVAL)
        for column, checked, estimate in zip(some, groups, estimates, strict=True):
            column.__dict__.update(checked=checked, estimate=estimate)


@lru_cache(maxsize=1 << 8)  # hundreds of strata have the same designs
def _name_interval(kind: str, designs: tuple[Design, ...], several: bool) -> str:
    rows = [
        row
        for design in designs
        for row in share_coefficients([design]).numerators[:, possible_reports(design)]
    ]
    return interval_name(kind, rows, several=several)
