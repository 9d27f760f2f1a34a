"""(survey, version, tally) -> a `Report` value.

Whatever a question's kind, it is one design for each byte, and its estimates are functions of
the reports counted at that byte. Kinds differ in which of the estimates are shown.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from server import __version__, responses, surveys
from server.definitions import Definition, Question, Section
from server.models import Survey, SurveyVersion
from server.privacy.designs import Design
from server.privacy.estimators import (
    AnsweredMeanEstimate,
    ControlItemTest,
    MeanEstimate,
    ShareEstimate,
    control_item_test,
    estimate_answered_mean,
    estimate_mean,
    estimate_shares,
    impossible_share_test,
)
from server.reports.axes import Axis, mean_axis, share_axis
from server.responses import Tally


@dataclass(frozen=True)
class Column:
    """One byte of the responses: its design, the reports counted after the coins, the estimate (None before any)."""

    name: str
    design: Design
    counts: tuple[int, ...]
    estimate: ShareEstimate | None
    impossible_p_value: float | None


@dataclass(frozen=True)
class ShareRow:
    """The share of people whose true answer is number `index`, counted as report `code` of a column."""

    index: int
    answer: str
    column: Column
    code: int

    @property
    def count(self) -> int:
        """Reports that arrived so."""
        return self.column.counts[self.code]

    @property
    def impossible(self) -> bool:
        """Whether this share is one of those outside [0, 1]."""
        estimate = self.column.estimate
        return estimate is not None and estimate.impossible and not 0 <= estimate.shares[self.code] <= 1


@dataclass(frozen=True)
class Mean:
    """The mean of a number from `low` to `high`, or of the levels of a scale; among those who gave one."""

    low: float
    high: float
    estimate: MeanEstimate | AnsweredMeanEstimate | None

    @property
    def axis(self) -> Axis:
        """What its chart is drawn on."""
        return mean_axis(self.low, self.high, None if self.estimate is None else self.estimate.interval)


@dataclass(frozen=True)
class QuestionReport:
    """One question: its bytes and what they say."""

    question: Question
    columns: tuple[Column, ...]
    mean: Mean | None
    control: ControlItemTest | None

    @property
    def rows(self) -> tuple[ShareRow, ...]:
        """A share for each answer; a number's two ends are no answers of anybody."""
        answers = tuple(enumerate(self.question.answers))
        if self.question.encoding in ("one_hot", "boxes"):
            return tuple(ShareRow(index, answer, self.columns[index], 1) for index, answer in answers)
        first = 2 if self.question.encoding == "line" else 0
        return tuple(ShareRow(index, answer, self.columns[0], index) for index, answer in answers[first:])

    @property
    def shown(self) -> tuple[ShareRow, ...]:
        """The rows that say something: where the answers are No and Yes, No is what is left."""
        return self.rows[1:] if self.question.answers == ("no", "yes") else self.rows

    @property
    def impossible(self) -> tuple[ShareRow, ...]:
        """The shown shares outside [0, 1]."""
        return tuple(row for row in self.shown if row.impossible)

    @property
    def impossible_p_value(self) -> float | None:
        """Of the hypothesis that the true shares are possible: the smallest of the columns', times their number."""
        values = [column.impossible_p_value for column in self.columns]
        known = [value for value in values if value is not None]
        return min(1.0, len(known) * min(known)) if known else None


@dataclass(frozen=True)
class Report:
    """Everything that a report shows, in whatever format."""

    definition: Definition
    slug: str
    version_number: int
    version: str
    published_on: date
    made_on: date
    simulated: bool
    n: int
    confidence: float
    questions: tuple[QuestionReport, ...]
    software: str = f"Moneda {__version__}"

    @property
    def outline(self) -> Iterator[Section | QuestionReport]:
        """The questions under the headings of their sections."""
        reports = {entry.question.name: entry for entry in self.questions}
        for entry in self.definition.entries:
            if isinstance(entry, Section):
                yield entry
            elif isinstance(entry, Question):
                yield reports[entry.name]

    @property
    def axis(self) -> Axis:
        """What the charts of shares are drawn on: one axis, so that they can be compared."""
        return share_axis(list(self._intervals))

    @property
    def widest(self) -> float:
        """Width of the widest interval of a share; 0 before the first response."""
        return max((float(high - low) for low, high in self._intervals), default=0.0)

    @property
    def _intervals(self) -> Iterator[NDArray[np.float64]]:
        for entry in self.questions:
            for row in entry.shown:
                if row.column.estimate is not None:
                    yield row.column.estimate.intervals[row.code]


def build(survey: Survey, version: SurveyVersion, tally: Tally, confidence: float = 0.95) -> Report:
    """Estimate every question of a version from its tally."""
    definition = surveys.definition_of(version)
    questions = []
    byte = 0
    for question in definition.questions:
        columns = []
        for name, design in zip(question.columns, question.designs, strict=True):
            columns.append(
                _column(name, design, responses.counts(tally, byte, design.weights.shape[1]), confidence)
            )
            byte += 1
        questions.append(
            QuestionReport(
                question=question,
                columns=tuple(columns),
                mean=_mean(question, columns[0], confidence),
                control=_control(question, columns[0]),
            )
        )
    return Report(
        definition=definition,
        slug=survey.slug,
        version_number=version.number,
        version=version.sha256,
        published_on=version.published_on,
        made_on=surveys.today(),
        simulated=survey.simulated,
        n=sum(tally.values()),
        confidence=confidence,
        questions=tuple(questions),
    )


def value_range(question: Question) -> tuple[float, float] | None:
    """The numbers that the first and the last numeric truth stand for; None where answers are no numbers.

    The levels of a scale count as 1, 2, 3, ...
    """
    if question.encoding == "line" and question.grid is not None:
        return question.grid.low, question.grid.high
    return (1, len(question.options)) if question.kind == "scale" else None


def _column(name: str, design: Design, counts: NDArray[np.int64], confidence: float) -> Column:
    some = bool(counts.sum())
    return Column(
        name=name,
        design=design,
        counts=tuple(counts.tolist()),
        estimate=estimate_shares(counts, design, confidence) if some else None,
        impossible_p_value=impossible_share_test(counts, design) if some else None,
    )


def _mean(question: Question, column: Column, confidence: float) -> Mean | None:
    ends = value_range(question)
    if ends is None:
        return None
    estimator = estimate_answered_mean if question.prefer_not_to_say else estimate_mean
    some = any(column.counts)
    return Mean(*ends, estimator(column.counts, column.design, *ends, confidence) if some else None)


def _control(question: Question, column: Column) -> ControlItemTest | None:
    if not (question.control and any(column.counts)):
        return None
    return control_item_test(column.counts, column.design)
