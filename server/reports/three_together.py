"""Three questions together: the share of every combination of answers."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from server.collect.waves import Wave
from server.privacy.estimators import JointEstimate, estimate_pooled_joint
from server.reports.crossing import MOST_CELLS, MOST_JOINT, CrossedSide, JointShare, take_cell, take_sides
from server.reports.joint_counts import JointCounts, count_together, join_parts
from server.reports.report_columns import INTERVAL


@dataclass(frozen=True, eq=False)
class ThreeTogether:
    """Three questions. One that is not estimated whole stands for one of its answers (`answers`), given or not."""

    sides: tuple[CrossedSide, ...]
    answers: tuple[int, ...]
    confidence: float
    tables: tuple[JointCounts, ...]

    @property
    def versions(self) -> tuple[int, ...]:
        """The numbers of the versions that ask all three questions."""
        return tuple(one.wave.number for one in self.sides[0].asked)

    @property
    def n(self) -> int:
        """Number of responses."""
        return sum(one.wave.n for one in self.sides[0].asked)

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
    def _joint(self) -> JointEstimate:
        found, used = join_parts(self.tables, _columns(self.sides, self.answers))
        return estimate_pooled_joint(found, used, None, self.confidence, INTERVAL)


def join_three(
    waves: Sequence[Wave], names: Sequence[str], answers: tuple[int, ...], confidence: float
) -> ThreeTogether:
    """Three different questions of the newest version's, none of which is a number."""
    sides = tuple(take_sides(waves, names))
    tables = () if _is_large(sides) else tuple(_count_each(sides, answers))
    return ThreeTogether(sides, answers, confidence, tables)


def _count(side: CrossedSide) -> int:
    return 2 if side.split else len(side.question.answers)


def _is_large(sides: tuple[CrossedSide, ...]) -> bool:
    """Whether there are too many combinations of answers, or in some version of reports."""
    reports = max(
        math.prod(
            len(asked.bytes(side.split)[0].design.weights[0])
            for side, asked in zip(sides, version, strict=True)
        )
        for version in zip(*(side.asked for side in sides), strict=True)
    )
    return math.prod(map(_count, sides)) > MOST_CELLS or reports > MOST_JOINT


def _columns(sides: tuple[CrossedSide, ...], answers: tuple[int, ...]) -> tuple[int, ...]:
    """Which column of each question is counted."""
    return tuple(side.at(answer)[0] for side, answer in zip(sides, answers, strict=True))


def _count_each(sides: tuple[CrossedSide, ...], answers: tuple[int, ...]) -> Iterator[JointCounts]:
    """Of each version that asks all of them."""
    for version in zip(*(side.asked for side in sides), strict=True):
        columns = [asked.bytes(side.split) for side, asked in zip(sides, version, strict=True)]
        yield count_together(version[0].wave, columns, [_columns(sides, answers)])
