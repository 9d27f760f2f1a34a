"""(a table from elsewhere, how its rows were drawn) -> estimates from rows that count differently."""

import math
from dataclasses import dataclass

from server.inputs import N_
from server.privacy.estimators.sampled_ratios import estimate_ratios
from server.privacy.estimators.weighted_rows import WeightedEstimate, pick_estimate
from server.reports.elsewhere.foreign_table import ForeignTable
from server.reports.elsewhere.sample_answers import SampleAnswers
from server.reports.elsewhere.sample_calibration import DrawnSample, calibrate_sample
from server.reports.elsewhere.sample_tables import Comparable, SampleTable, make_sample_tables
from server.reports.elsewhere.sample_together import SampleTogether, join_sampled
from server.reports.elsewhere.sampling import Sampling
from server.study.definitions import Question

UNEVEN = N_("A few rows have much of the weight: intervals may hold less often than they say.")
_LEAST_UNEVEN = 4
"""Kish's design effect from which on it is said; made-up samples of 300 held 92 of 100 at 8, 84 at 19."""


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
    drawn : DrawnSample
        What came of it.
    kish : float
        Kish's design effect of the weights: rows, over rows that count the same and would say as much.
    rows : tuple of SampleRow
        In the order of the questions.
    tables : tuple of SampleTable
        Those that were asked for.
    together : tuple of SampleTogether
        Likewise.
    """

    sampling: Sampling
    drawn: DrawnSample
    kish: float
    rows: tuple[SampleRow, ...]
    tables: tuple[SampleTable, ...]
    together: tuple[SampleTogether, ...]

    @property
    def clusters(self) -> int | None:
        """How many there are, each stratum's for itself; None where none were drawn."""
        return None if self.sampling.clusters is None else len(self.drawn.design.units.strata)

    @property
    def strata(self) -> int | None:
        """How many the sample was drawn from apart."""
        return None if self.sampling.strata is None else len(self.drawn.design.units.sizes)

    @property
    def collapsed(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Of each margin's groups that became one, the margin and what the groups were called."""
        return tuple(
            (
                margin.margin.name,
                tuple(", ".join(" · ".join(cell) for cell in margin.margin.groups[number]) for number in own),
            )
            for margin in self.drawn.margins
            for own in margin.together
        )

    @property
    def rescaled(self) -> tuple[tuple[str, float], ...]:
        """Each margin whose shares add up to neither 1 nor 100, and to what: maybe one of them was mistyped."""
        totals = ((margin.margin.name, margin.margin.total) for margin in self.drawn.margins)
        return tuple(
            (name, float(f"{total:.9g}"))
            for name, total in totals
            if not any(math.isclose(total, whole, rel_tol=1e-9) for whole in (1, 100))
        )

    @property
    def uneven(self) -> bool:
        """Whether a few rows have so much of the weight that intervals by linearisation are too narrow."""
        return self.kish >= _LEAST_UNEVEN


def estimate_sample(
    sampling: Sampling, table: ForeignTable, known: Comparable, confidence: float
) -> SampleReport:
    """Estimate each question, as every version asked it.

    Raises
    ------
    InputError
        Naming the field, if rows cannot have been drawn so, or a table cannot be made.
    """
    drawn = calibrate_sample(sampling, table)
    answers, weights = SampleAnswers(table), drawn.design.weights
    rows = tuple(
        SampleRow(own[0].question, index, pick_estimate(estimate_ratios(parts, drawn.design), 0, confidence))
        for own in known.questions
        for index, parts in answers.list_parts(own)
    )
    tables = make_sample_tables(sampling.tables, known, table, answers, drawn.design, confidence)
    together = join_sampled(sampling.together, known, answers, drawn.design, confidence)
    kish = table.rows * float(weights @ weights) / float(weights.sum()) ** 2
    return SampleReport(sampling, drawn, kish, rows, tables, together)
