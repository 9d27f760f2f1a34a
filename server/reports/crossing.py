"""Two questions crossed: the share of every pair of answers, and of an answer in each group of the other question."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from server.collect.waves import Wave, WaveQuestion, by_option, same_question
from server.privacy.estimators import (
    Association,
    GroupComparison,
    JointEstimate,
    association_of,
    compare_conditional_shares,
    estimate_pooled_joint,
)
from server.reports.estimate_values import value_range
from server.reports.forged_moves import measure_joint_move
from server.reports.joint_counts import JointCounts, count_together, join_parts, weigh_some
from server.reports.population_weights import StratumCells, Weigh, weigh_nothing
from server.reports.report_columns import INTERVAL
from server.study.definitions import Question
from server.study.kinds import Encoding

MOST_CELLS = 144
"""Of a table that is shown whole."""
MOST_WHOLE = 12
"""Answers of a question that is crossed by one joint table, and not answer by answer."""
MOST_JOINT = 1024
"""Pairs of answers that are estimated together."""


@dataclass(frozen=True, eq=False)
class JointShare:
    """The share of people who gave both answers; its interval is for one look, `guaranteed` or by the score test."""

    share: float
    standard_error: float
    interval: tuple[float, float]
    guaranteed: bool


@dataclass(frozen=True, eq=False)
class CrossedSide:
    """A question as it is crossed: whole, or answer by answer; as every version asked it, the newest first."""

    versions: tuple[WaveQuestion, ...]
    split: bool

    @property
    def question(self) -> Question:
        return self.versions[0].question

    @property
    def columns(self) -> int:
        """How many columns it has."""
        return len(self.question.answers) if self.split else 1

    def at(self, answer: int) -> tuple[int, int]:
        """Which column an answer is in, and as which of its truths."""
        return (answer, 1) if self.split else (0, answer)


@dataclass(frozen=True, eq=False)
class Crossed:
    """Two questions, and the one answer of each that is looked at more closely.

    Where one is a number it is the column, and has a mean in each group of the other. `tables` is what
    was counted in each version. With `strata` these count by their populations; `plain` is then the same with every
    response counting the same. All intervals are for one look.
    """

    row: CrossedSide
    column: CrossedSide
    chosen: tuple[int, int]
    confidence: float
    tables: tuple[JointCounts, ...]
    strata: StratumCells | None = None

    @property
    def plain(self) -> "Crossed | None":
        """With every response counting the same; None where that is what this is."""
        return None if self.strata is None else replace(self, strata=None)

    @property
    def sides(self) -> tuple[CrossedSide, ...]:
        """Both, in the order in which their answers stand."""
        return self.row, self.column

    @property
    def versions(self) -> tuple[int, ...]:
        """The numbers of the versions that ask both questions."""
        return tuple(one.wave.number for one in self.row.versions)

    @property
    def n(self) -> int:
        """Number of responses that count."""
        return sum(one.wave.n for one in self.row.versions) if self.strata is None else self.strata.n

    @property
    def numeric(self) -> bool:
        """Whether the second question is a number."""
        return self.column.question.encoding.between_ends

    @property
    def ends(self) -> tuple[float, float]:
        """What is looked at in groups lies between: a share of 100, or the number of the second question."""
        ends = value_range(self.column.question) if self.numeric else None
        return (0.0, 100.0) if ends is None else (float(ends[0]), float(ends[1]))

    @property
    def forged(self) -> float:
        """How far made-up responses (`FORGED`) could move the share of a pair of answers at most."""
        return measure_joint_move([self.row.question.designs, self.column.question.designs])

    @property
    def too_large(self) -> bool:
        """Whether there are more pairs of answers than can be estimated together."""
        return _too_large(self.row, self.column)

    @cached_property
    def cells(self) -> list[list[JointShare]] | None:
        """The table, a row for each answer to the first question; None for a number, or where it has too many cells."""
        if self.numeric or not _whole(self.row, self.column):
            return None
        rows, columns = len(self.row.question.answers), len(self.column.question.answers)
        return [[self._cell(row, column) for column in range(columns)] for row in range(rows)]

    def list_cells(self) -> list[JointShare]:
        """The cells of the table, one row after the other; none where there is no table."""
        return [cell for line in self.cells or () for cell in line]

    @cached_property
    def association(self) -> Association:
        """Of giving the chosen answer to the one question and to the other."""
        row, column = self.row.at(self.chosen[0]), self.column.at(self.chosen[1])
        return association_of(self._joint(row[0], column[0]), row[1], column[1])

    @cached_property
    def comparison(self) -> GroupComparison:
        """The chosen second answer among those who gave the chosen first one, and among the others."""
        return self.groups[self.chosen[0]] if self.numeric else self._compare(*self.chosen)

    @cached_property
    def groups(self) -> list[GroupComparison]:
        """Of a number, by answer to the first question: where its mean is between its ends, 0 to 1.

        A number arrives as its lowest or highest possible value, rounded so as to keep its mean: the share of the
        highest among those who gave an answer is the place of their mean.
        """
        return [self._compare(index, 1) for index in range(len(self.row.question.answers))]

    @property
    def difference(self) -> float | None:
        """Of the chosen answer's shares in the two groups; None where one of them is estimated where none can be."""
        gave, others = self.comparison.gave.possible, self.comparison.others.possible
        return None if gave is None or others is None else gave - others

    @property
    def phi(self) -> float | None:
        """The correlation of the two chosen answers; None where it is not defined, or estimated where none can be."""
        phi = self.association.phi.value
        return phi if phi is not None and -1 <= phi <= 1 else None

    def _compare(self, first: int, second: int) -> GroupComparison:
        (row, gave), (column, other) = self.row.at(first), self.column.at(second)
        found = join_parts(self.tables, (row, column), self.strata)
        return compare_conditional_shares(
            found.tables, found.designs, gave, other, self.confidence, weights=found.weights
        )

    def _cell(self, row: int, column: int) -> JointShare:
        first, second = self.row.at(row), self.column.at(column)
        return take_cell(self._joint(first[0], second[0]), (first[1], second[1]))

    def _joint(self, row: int, column: int) -> JointEstimate:
        """The joint table of a column of the one question and a column of the other."""
        if (row, column) not in self._joints:
            self._joints[row, column] = self._estimate_pair(row, column)
        return self._joints[row, column]

    @cached_property
    def _joints(self) -> dict[tuple[int, int], JointEstimate]:
        return {}

    def _estimate_pair(self, row: int, column: int) -> JointEstimate:
        found = join_parts(self.tables, (row, column), self.strata)
        return estimate_pooled_joint(found.tables, found.designs, found.weights, self.confidence, INTERVAL)


def cross_questions(
    waves: Sequence[Wave],
    row: str,
    column: str,
    chosen: tuple[int, int],
    confidence: float,
    weigh: Weigh = weigh_nothing,
) -> Crossed:
    """Two different questions that can be crossed, of the newest version's; not both are numbers."""
    if waves[0].questions[row].question.encoding.between_ends:
        row, column, chosen = column, row, chosen[::-1]
    first, second = take_sides(waves, (row, column))
    pairs, numeric = _list_pairs(first, second, chosen), second.question.encoding.between_ends
    compared = len(first.question.answers) if numeric else 1
    strata = weigh_some(weigh, [one.wave for one in first.versions], len(pairs), compared)
    return Crossed(first, second, chosen, confidence, tuple(_tables(first, second, chosen, strata)), strata)


def take_cell(joint: JointEstimate, at: tuple[int, ...]) -> JointShare:
    """A cell of a joint table."""
    low, high = joint.intervals[at].tolist()
    share, error = float(joint.table[at]), float(joint.standard_errors[at])
    return JointShare(share, error, (low, high), joint.interval == "exact")


def take_sides(waves: Sequence[Wave], names: Sequence[str]) -> list[CrossedSide]:
    """Different questions as the versions that ask all of them asked them."""
    by_number = [
        {question.wave.number: question for question in same_question(name, waves)} for name in names
    ]
    shared = [number for number in by_number[0] if all(number in found for found in by_number)]
    return [_side(tuple(found[number] for number in shared)) for found in by_number]


def _whole(row: CrossedSide, column: CrossedSide) -> bool:
    """Whether the table of all pairs of answers is shown."""
    return len(row.question.answers) * len(column.question.answers) <= MOST_CELLS


def _too_large(row: CrossedSide, column: CrossedSide) -> bool:
    sides = [1 if side.split else len(side.question.answers) for side in (row, column)]
    return sides[0] * sides[1] > MOST_JOINT


def _tables(
    row: CrossedSide, column: CrossedSide, chosen: tuple[int, int], strata: StratumCells | None
) -> Iterator[JointCounts]:
    """Of each version the pairs of columns that are looked at, counted in one go."""
    pairs = _list_pairs(row, column, chosen)
    if not _too_large(row, column):
        for of_row, of_column in zip(row.versions, column.versions, strict=True):
            both = [of_row.bytes(row.split), of_column.bytes(column.split)]
            yield count_together(of_row.wave, both, pairs, strata)


def _list_pairs(row: CrossedSide, column: CrossedSide, chosen: tuple[int, int]) -> list[tuple[int, int]]:
    """The columns that are looked at together: all, or those of the chosen answers where there are too many."""
    if _whole(row, column) or column.question.encoding.between_ends:
        return list(product(range(row.columns), range(column.columns)))
    return [(row.at(chosen[0])[0], column.at(chosen[1])[0])]


def _side(versions: tuple[WaveQuestion, ...]) -> CrossedSide:
    cells = len(versions[0].question.answers)
    # Many answers make a joint table that is slow to estimate and says nothing more than pairs of answers do.
    alike = all(
        one.question.encoding is not Encoding.WHOLE or one.question.designs[0].treats_options_alike()
        for one in versions
    )
    return CrossedSide(versions, by_option(versions) or (cells > MOST_WHOLE and alike))
