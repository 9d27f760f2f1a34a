"""Three questions together: the share of every combination, and how two go together within each answer of the third."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from server.collect.waves import Wave
from server.privacy.estimators import (
    GroupComparison,
    JointEstimate,
    compare_conditional_shares,
    estimate_pooled_joint,
)
from server.privacy.estimators.association import associate
from server.reports.crossing import (
    MOST_CELLS,
    MOST_JOINT,
    CrossedSide,
    JointShare,
    take_cell,
    take_sides,
)
from server.reports.joint_counts import JointCounts, JointParts, count_together, join_parts, weigh_some
from server.reports.population_weights import StratumCells, Weigh, weigh_nothing
from server.reports.report_columns import INTERVAL

MOST_WITHIN = 64
"""Combinations of reports, unless coins treat answers alike, of which pairs are looked at within the third."""


@dataclass(frozen=True, eq=False)
class PairWithin:
    """Two of three questions, by their places, among those who gave an answer to the third.

    `third` is the place of that question, `answer` that of its answer in the table. Of the chosen answers of the two
    it holds the shares in the two groups (`compared`), the odds ratio and phi; None where the estimates define none.
    """

    pair: tuple[int, int]
    third: int
    answer: int
    compared: GroupComparison
    odds_ratio: float | None
    phi: float | None

    @property
    def difference(self) -> float | None:
        """Of the two shares; None where one of them is estimated where none can be."""
        gave, others = self.compared.gave.possible, self.compared.others.possible
        return None if gave is None or others is None else gave - others


@dataclass(frozen=True, eq=False)
class ThreeTogether:
    """Three questions. One that is not estimated whole stands for one of its answers (`answers`), given or not.

    With `strata` these count by their populations; `plain` is then the same with every response counting the same.
    """

    sides: tuple[CrossedSide, ...]
    answers: tuple[int, ...]
    confidence: float
    tables: tuple[JointCounts, ...]
    strata: StratumCells | None = None

    @property
    def plain(self) -> "ThreeTogether | None":
        """With every response counting the same; None where that is what this is."""
        return None if self.strata is None else replace(self, strata=None)

    @property
    def versions(self) -> tuple[int, ...]:
        """The numbers of the versions that ask all three questions."""
        return tuple(one.wave.number for one in self.sides[0].versions)

    @property
    def n(self) -> int:
        """Number of responses that count."""
        return sum(one.wave.n for one in self.sides[0].versions) if self.strata is None else self.strata.n

    @property
    def too_large(self) -> bool:
        """Whether there are more combinations than are shown, or can be estimated together."""
        return not self.tables

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of each question how many answers the table has: all, or \"not given\" and \"given\"."""
        return tuple(map(_count, self.sides))

    def list_places(self) -> list[tuple[int, ...]]:
        """Every combination of answers, in the order of `list_cells`: the last question's beside each other."""
        return list(product(*map(range, self.sizes)))

    def list_cells(self) -> list[JointShare]:
        """The share of every combination."""
        return [take_cell(self._joint, at) for at in self.list_places()]

    @cached_property
    def pairs(self) -> tuple[PairWithin, ...]:
        """Each pair within each answer of the third, the last question as the third first; none of too many reports."""
        if self._is_slow:
            return ()
        return tuple(
            self._compare(third, answer) for third in (2, 1, 0) for answer in range(self.sizes[third])
        )

    @property
    def _is_slow(self) -> bool:
        """Whether intervals of a pair could take seconds: many reports that each tell something else."""
        return any(
            math.prod(len(design.weights[0]) for design in own) > MOST_WITHIN
            and not all(design.treats_options_alike() for design in own)
            for own in self._parts.designs
        )

    def _compare(self, third: int, answer: int) -> PairWithin:
        first, second = (place for place in range(3) if place != third)
        order = (first, second, third)
        parts = self._parts
        chosen = [1 if side.split else own for side, own in zip(self.sides, self.answers, strict=True)]
        compared = compare_conditional_shares(
            [table.transpose(order) for table in parts.tables],
            [[designs[place] for place in order] for designs in parts.designs],
            chosen[first],
            chosen[second],
            self.confidence,
            answer,
            parts.weights,
        )
        table = self._joint.table.transpose(order)[..., answer]
        for axis, place in enumerate((first, second)):  # the chosen answer, after all others
            given = table.take([chosen[place]], axis)
            table = np.concatenate([table.sum(axis=axis, keepdims=True) - given, given], axis)
        total = float(table.sum())
        if total <= 0:  # estimated to be nobody
            return PairWithin((first, second), third, answer, compared, None, None)
        measured = associate(table / total, np.zeros((4, 4)), self.confidence)
        phi = measured.phi.value
        phi = phi if phi is not None and -1 <= phi <= 1 else None
        return PairWithin((first, second), third, answer, compared, measured.odds_ratio.value, phi)

    @cached_property
    def _parts(self) -> JointParts:
        return join_parts(self.tables, _columns(self.sides, self.answers), self.strata)

    @cached_property
    def _joint(self) -> JointEstimate:
        parts = self._parts
        return estimate_pooled_joint(parts.tables, parts.designs, parts.weights, self.confidence, INTERVAL)


def join_three(
    waves: Sequence[Wave],
    names: Sequence[str],
    answers: tuple[int, ...],
    confidence: float,
    weigh: Weigh = weigh_nothing,
) -> ThreeTogether:
    """Three different questions of the newest version's, none of which is a number."""
    sides = tuple(take_sides(waves, names))
    strata = weigh_some(weigh, [one.wave for one in sides[0].versions], 1, sum(map(_count, sides)))
    tables = () if _is_large(sides) else tuple(_count_each(sides, answers, strata))
    return ThreeTogether(sides, answers, confidence, tables, strata)


def _count(side: CrossedSide) -> int:
    return 2 if side.split else len(side.question.answers)


def _is_large(sides: tuple[CrossedSide, ...]) -> bool:
    """Whether there are too many combinations of answers, or in some version of reports."""
    reports = max(
        math.prod(
            len(asked.bytes(side.split)[0].design.weights[0])
            for side, asked in zip(sides, version, strict=True)
        )
        for version in zip(*(side.versions for side in sides), strict=True)
    )
    return math.prod(map(_count, sides)) > MOST_CELLS or reports > MOST_JOINT


def _columns(sides: tuple[CrossedSide, ...], answers: tuple[int, ...]) -> tuple[int, ...]:
    """Which column of each question is counted."""
    return tuple(side.at(answer)[0] for side, answer in zip(sides, answers, strict=True))


def _count_each(
    sides: tuple[CrossedSide, ...], answers: tuple[int, ...], strata: StratumCells | None
) -> Iterator[JointCounts]:
    """Of each version that asks all of them."""
    for version in zip(*(side.versions for side in sides), strict=True):
        columns = [asked.bytes(side.split) for side, asked in zip(sides, version, strict=True)]
        yield count_together(version[0].wave, columns, [_columns(sides, answers)], strata)
