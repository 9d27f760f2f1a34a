"""The answers of a table from elsewhere, as guesses that a sample's weights add up: of all, or group by group."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from server.collect.tallies import Tally
from server.collect.waves import WaveQuestion, by_option
from server.privacy.designs import Design
from server.privacy.estimators import answered_mean_coefficients, mean_coefficients
from server.privacy.estimators.coefficients import Coefficients, share_coefficients
from server.privacy.estimators.sampled_joint import join_guesses
from server.privacy.estimators.sampled_ratios import GuessedPart
from server.reports.crossing import CrossedSide
from server.reports.elsewhere.foreign_table import ForeignTable

Floats = NDArray[np.float64]
Groups = NDArray[np.int64]
_Make = Callable[[Design], Coefficients]


@dataclass(frozen=True, eq=False)
class Grouping:
    """What answers are compared by: `group_of_rows` has the group of each row, -1 of none; or `versions` is a question.

    `names` are those of the groups; of a question, its answers'.
    """

    names: tuple[str, ...]
    group_of_rows: Groups | None = None
    versions: Sequence[WaveQuestion] = ()


class SampleAnswers:
    """The reports of a table, question by question."""

    def __init__(self, table: ForeignTable) -> None:
        self._table = table
        self._rows: dict[int, tuple[Groups, Tally]] = {}

    def list_parts(self, versions: Sequence[WaveQuestion]) -> Iterator[tuple[int | None, list[GuessedPart]]]:
        """Of each answer that is shown, and of the mean, the rows that reported under each version's design."""
        question = versions[0].question
        versions = [each for each in versions if len(self._find(each)[0])]
        split = by_option(versions)
        answers = range(question.first_answer, len(question.answers))
        for index in answers[1:] if question.answers == ("no", "yes") else answers:
            place, row = (index, 1) if split else (0, index)
            yield index, [self._take(each, place, split, _share_of(row)) for each in versions]
        if question.ends is not None:
            low, high = question.ends
            mean = answered_mean_coefficients if question.prefer_not_to_say else mean_coefficients
            yield (
                None,
                [self._take(each, 0, False, lambda design: mean([design], low, high)) for each in versions],
            )

    def divide(self, parts: Sequence[GuessedPart], groups: Grouping) -> list[GuessedPart]:
        """The same rows, with a ratio for each group."""
        if groups.group_of_rows is not None:
            known, size = groups.group_of_rows, len(groups.names)
            return [_keep_group(part, known, place, size) for part in parts for place in range(size)]
        return [
            made for part in parts for own in groups.versions if (made := self._cross(part, own)) is not None
        ]

    def measure_groups(self, groups: Grouping) -> list[GuessedPart]:
        """A ratio for each group: its share of all rows that tell of it."""
        if groups.group_of_rows is not None:
            rows = np.flatnonzero(groups.group_of_rows >= 0)
            size = len(groups.names)
            itself = np.eye(size)
            return [
                GuessedPart(rows, groups.group_of_rows[rows], itself, itself, itself, np.ones((size, size)))
            ]
        return [
            replace(part, tops=part.inverse, bottoms=np.repeat(part.bottoms, len(part.inverse), axis=0))
            for part in (self._take(own, 0, False, _share_of(0)) for own in groups.versions)
            if len(part.rows)
        ]

    def join(self, sides: Sequence[CrossedSide], answers: Sequence[int]) -> Iterator[GuessedPart]:
        """Of each version that asks several questions, its rows, with a ratio for each combination of answers."""
        for version in zip(*(side.versions for side in sides), strict=True):
            rows, tally = self._find(version[0])
            if len(rows):
                own = [
                    asked.bytes(side.split)[side.at(answer)[0]]
                    for asked, side, answer in zip(version, sides, answers, strict=True)
                ]
                codes = [byte.codes(tally).astype(np.int64) for byte in own]
                yield join_guesses(rows, codes, [byte.design for byte in own])

    def _cross(self, part: GuessedPart, wave_question: WaveQuestion) -> GuessedPart | None:
        """Rows of a version, in the groups of a question that it asked, too."""
        rows, tally = self._find(wave_question)
        if (
            not len(rows)
            or not len(part.rows)
            or self._table.version[part.rows[0]] != wave_question.wave.number
        ):
            return None
        byte = wave_question.bytes(False)[0]
        guesses = share_coefficients([byte.design]).numerators
        width = guesses.shape[1]
        return GuessedPart(
            rows,
            part.reports.astype(np.int64) * width + byte.codes(tally),
            _cross_tables(part.matrix, byte.design.matrix),
            _cross_tables(part.inverse, guesses),
            _cross_tables(part.tops, guesses),
            _cross_tables(part.bottoms, guesses),
        )

    def _take(self, question: WaveQuestion, place: int, split: bool, make: _Make) -> GuessedPart:
        byte = question.bytes(split)[place]
        rows, tally = self._find(question)
        made = make(byte.design)
        return GuessedPart(
            rows,
            byte.codes(tally),
            byte.design.matrix,
            share_coefficients([byte.design]).numerators,
            made.numerators[:1],
            made.denominator[None],
        )

    def _find(self, question: WaveQuestion) -> tuple[Groups, Tally]:
        number = question.wave.number
        if number not in self._rows:
            own = self._table.version == number
            patterns = self._table.patterns(question.wave.definition, own)
            self._rows[number] = np.flatnonzero(own), Tally(patterns, np.ones(len(patterns), np.int64))
        return self._rows[number]


def _cross_tables(first: Floats, second: Floats) -> Floats:
    """Of every pair of reports, those of the second varying fastest."""
    return np.asarray(np.kron(first, second), dtype=np.float64)


def _share_of(row: int) -> _Make:
    """What makes the coefficients of the share of a truth."""

    def make(design: Design) -> Coefficients:
        every = share_coefficients([design])
        return Coefficients(every.numerators[row : row + 1], every.denominator)

    return make


def _keep_group(part: GuessedPart, known: Groups, place: int, size: int) -> GuessedPart:
    """The rows of a group, which count for its ratio alone."""
    own = known[part.rows] == place
    only = (np.arange(size) == place).astype(np.float64)[:, None]
    return replace(
        part,
        rows=part.rows[own],
        reports=part.reports[own],
        tops=only * part.tops,
        bottoms=only * part.bottoms,
    )
