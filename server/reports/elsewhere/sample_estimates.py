"""(a table from elsewhere, how its rows were drawn) -> estimates from rows that count differently."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.collect.tallies import Tally
from server.collect.waves import WaveQuestion, by_option
from server.inputs import N_, refuse
from server.privacy.consistency.raking import rake_weights
from server.privacy.designs import Design
from server.privacy.estimators import answered_mean_coefficients, mean_coefficients
from server.privacy.estimators.coefficients import Coefficients, share_coefficients
from server.privacy.estimators.weighted_rows import (
    SampleDesign,
    WeightedEstimate,
    WeightedPart,
    estimate_from_rows,
)
from server.reports.elsewhere.foreign_table import ForeignTable
from server.reports.elsewhere.sampling import Sampling
from server.study.definitions import Question

FEWEST_ROWS = 5
"""Of a group of a margin: what it tells is estimated from them."""
UNEVEN = N_("A few rows have much of the weight: intervals may hold less often than they say.")
_LEAST_UNEVEN = 4
"""Kish's design effect from which on it is said; made-up samples of 300 held 92 of 100 at 8, 84 at 19."""
_Make = Callable[[Design], Coefficients]


@dataclass(frozen=True)
class SampleRow:
    """A share, of an answer by its number, or the mean of a question: without a number."""

    question: Question
    index: int | None
    estimate: WeightedEstimate


@dataclass(frozen=True)
class SampleReport:
    """Estimates from rows that count differently.

    Attributes
    ----------
    sampling : Sampling
    rounds : int
        Of raking; 0 without margins.
    kish : float
        Kish's design effect of the weights: rows, over rows that count the same and would say as much.
    clusters : int or None
        How many there are.
    rows : tuple of SampleRow
        In the order of the questions.
    """

    sampling: Sampling
    rounds: int
    kish: float
    clusters: int | None
    rows: tuple[SampleRow, ...]

    @property
    def uneven(self) -> bool:
        """Whether a few rows have so much of the weight that intervals by linearisation are too narrow."""
        return self.kish >= _LEAST_UNEVEN


def estimate_sample(
    sampling: Sampling,
    table: ForeignTable,
    asked: Sequence[Sequence[WaveQuestion]],
    confidence: float,
) -> SampleReport:
    """Estimate each question, as every version asked it.

    Raises
    ------
    InputError
        Naming the field, if no weights have the margins, or the sample is larger than its population.
    """
    weights, margins, rounds = _calibrate(sampling, table)
    clusters = None if table.clusters is None else len(np.unique(table.clusters))
    if clusters == 1:
        template = N_("must name a column of at least %(limit)d clusters; it has %(value)d")
        raise refuse(422, "sampling.clusters", template, limit=2, value=1)
    if sampling.population is not None and sampling.population < table.rows:
        template = N_("must be at least %(limit)d, the rows of the table; it is %(value)d")
        raise refuse(422, "sampling.population", template, limit=table.rows, value=sampling.population)
    sample = SampleDesign(weights, margins, table.clusters, sampling.population)
    answers = _ReportsByVersion(table)
    rows = tuple(
        SampleRow(own[0].question, index, estimate_from_rows(parts, sample, confidence))
        for own in asked
        for index, parts in answers.list_parts(own)
    )
    kish = table.rows * float(weights @ weights) / float(weights.sum()) ** 2
    return SampleReport(sampling, rounds, kish, clusters, rows)


def _calibrate(
    sampling: Sampling, table: ForeignTable
) -> tuple[NDArray[np.float64], list[NDArray[np.int64]], int]:
    """The weights once they have the margins; of each margin the group of every row; the rounds that it took."""
    weights = np.ones(table.rows) if table.sampling_weights is None else table.sampling_weights
    margins = []
    for place, margin in enumerate(sampling.margins):
        groups = np.array(margin.group_of)[table.covariates[margin.covariate].astype(np.int64)]
        for number, found in enumerate(np.bincount(groups, minlength=len(margin.groups))):
            if found < FEWEST_ROWS:
                field = f"sampling.margins[{place}].groups[{number}]"
                template = N_(
                    "must have at least %(limit)d rows; it has %(value)d: take it together with another group"
                )
                raise refuse(422, field, template, limit=FEWEST_ROWS, value=int(found))
        margins.append(groups)
    try:
        raked = rake_weights(
            weights,
            [(groups, margin.shares) for groups, margin in zip(margins, sampling.margins, strict=True)],
        )
    except ValueError:  # numbers and groups were checked when they were read
        template = N_(
            "must be within reach of the rows: no weights were found by which all groups have their shares"
        )
        raise refuse(422, "sampling.margins", template) from None
    return raked.weights, margins, raked.rounds


class _ReportsByVersion:
    """The reports of a table, question by question."""

    def __init__(self, table: ForeignTable) -> None:
        self._table = table
        self._rows: dict[int, tuple[NDArray[np.int64], Tally]] = {}

    def list_parts(self, asked: Sequence[WaveQuestion]) -> Iterator[tuple[int | None, list[WeightedPart]]]:
        """Of each answer that is shown, and of the mean, the rows that reported under each version's design."""
        question = asked[0].question
        asked = [each for each in asked if len(self._find(each)[0])]
        split = by_option(asked)
        answers = range(question.first_answer, len(question.answers))
        for index in answers[1:] if question.answers == ("no", "yes") else answers:
            place, row = (index, 1) if split else (0, index)
            yield index, [self._take(each, place, split, _share_of(row)) for each in asked]
        if question.ends is not None:
            low, high = question.ends
            mean = answered_mean_coefficients if question.prefer_not_to_say else mean_coefficients
            yield (
                None,
                [self._take(each, 0, False, lambda design: mean([design], low, high)) for each in asked],
            )

    def _take(self, asked: WaveQuestion, place: int, split: bool, make: _Make) -> WeightedPart:
        byte = asked.bytes(split)[place]
        rows, tally = self._find(asked)
        return WeightedPart(rows, byte.codes(tally), byte.design, make(byte.design))

    def _find(self, asked: WaveQuestion) -> tuple[NDArray[np.int64], Tally]:
        number = asked.wave.number
        if number not in self._rows:
            own = self._table.version == number
            patterns = self._table.patterns(asked.wave.definition, own)
            self._rows[number] = np.flatnonzero(own), Tally(patterns, np.ones(len(patterns), np.int64))
        return self._rows[number]


def _share_of(row: int) -> _Make:
    """What makes the coefficients of the share of a truth."""

    def make(design: Design) -> Coefficients:
        every = share_coefficients([design])
        return Coefficients(every.numerators[row : row + 1], every.denominator)

    return make
