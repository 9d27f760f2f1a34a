"""What is estimated of one question, from whatever responses: all, one version's, a stratum's, a population's.

Whatever a question's kind, it is some columns of reports, and its estimates are functions of the
columns' parts: reports that were drawn from one design, each part with a weight. Kinds differ in
which of the estimates are shown. All of it is computed when it is looked at.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

from server.output.charts import Axis, mean_axis
from server.privacy.designs import Design
from server.privacy.estimators import (
    AnsweredMeanEstimate,
    ControlItemTest,
    MeanEstimate,
    PooledShares,
    answered_mean_coefficients,
    mean_coefficients,
    pooled_control_item_test,
)
from server.privacy.estimators.anytime import anytime_answered_means_of, anytime_means_of, anytime_shares_of
from server.privacy.estimators.impossible import impossible_share_tests
from server.privacy.estimators.inverse import possible_reports
from server.privacy.estimators.late import compute_limits as compute_side_by_side
from server.privacy.estimators.pooled_means import pooled_answered_mean_of, pooled_mean_of
from server.reports.estimate_remarks import Remark, remarks
from server.reports.interval_names import interval_name
from server.reports.report_columns import INTERVAL, ReportColumn, compute_estimates
from server.study.definitions import Question


@dataclass(frozen=True, eq=False)
class ShareRow:
    """The share of people whose true answer is number `index`, counted as report `code` of a column."""

    index: int
    answer: str
    column: ReportColumn
    code: int

    @property
    def count(self) -> int | None:
        """Reports that arrived so; None where reports are others than answers."""
        return int(self.column.counts[self.code]) if self.column.repeats_answers else None

    @property
    def observed(self) -> float | None:
        """Their share of all."""
        return float(self.column.observed[self.code]) if self.column.repeats_answers else None

    @property
    def impossible(self) -> bool:
        """Whether this share is one of those outside [0, 1]."""
        estimate = self.column.estimate
        return estimate is not None and estimate.impossible and not 0 <= estimate.shares[self.code] <= 1

    @property
    def value(self) -> float:
        """The estimated share."""
        assert self.column.estimate is not None
        return float(self.column.estimate.shares[self.code])

    @property
    def within_range(self) -> float:
        """The possible share that is nearest to the estimate."""
        return min(max(self.value, 0.0), 1.0)

    @property
    def standard_error(self) -> float:
        """Of the estimated share."""
        assert self.column.estimate is not None
        return float(self.column.estimate.standard_errors[self.code])

    def interval(self, anytime: bool) -> tuple[float, float]:
        """The limits to show: valid at every look, or at one."""
        assert self.column.estimate is not None
        limits = self.column.anytime if anytime else self.column.estimate.intervals
        low, high = limits[self.code].tolist()
        return low, high


@dataclass(frozen=True, eq=False)
class ReportMean:
    """The mean of a number from `low` to `high`, or of the levels of a scale; among those who gave one."""

    low: float
    high: float
    column: ReportColumn
    answered: bool

    @cached_property
    def estimate(self) -> MeanEstimate | AnsweredMeanEstimate | None:
        """The estimated mean; None before the first response."""
        if not self.column.n:
            return None
        estimate = pooled_answered_mean_of if self.answered else pooled_mean_of
        return estimate(self.column.checked, (self.low, self.high), self.column.confidence, INTERVAL)

    @cached_property
    def method(self) -> str:
        """What the interval of one look is called (`interval_name`); nothing before the first response."""
        if self.estimate is None:
            return ""
        column = self.column
        return _name_interval(self.estimate.kind, column.counting, column.several, self.answered)

    @cached_property
    def anytime(self) -> tuple[float, float]:
        """An interval that stays valid however often one looks (`Column.anytime`)."""
        if not self.column.one_partition:
            return self.low, self.high
        limits = anytime_answered_means_of if self.answered else anytime_means_of
        return limits([self.column.checked], (self.low, self.high), self.column.confidence)[0]

    @property
    def value(self) -> float | None:
        """The estimated mean; None where the reports do not show that anybody gave a number."""
        assert self.estimate is not None
        return self.estimate.mean

    @property
    def within_range(self) -> float | None:
        """The possible mean that is nearest to the estimate."""
        return None if self.value is None else min(max(self.value, self.low), self.high)

    @property
    def standard_error(self) -> float | None:
        """Of the estimated mean."""
        assert self.estimate is not None
        return self.estimate.standard_error

    def interval(self, anytime: bool) -> tuple[float, float]:
        """The limits to show: valid at every look, or at one."""
        assert self.estimate is not None
        return self.anytime if anytime else self.estimate.interval

    def axis(self, anytime: bool) -> Axis:
        """What its chart is drawn on."""
        return mean_axis(self.low, self.high, None if self.estimate is None else self.interval(anytime))


@lru_cache(maxsize=1 << 8)  # hundreds of strata have the same designs
def _name_interval(kind: str, designs: tuple[Design, ...], several: bool, answered: bool) -> str:
    rows = []
    for design in designs:
        may = possible_reports(design)
        if not answered:
            rows.append(mean_coefficients([design], 0, 1).numerators[0, may])
            continue
        coefficients = answered_mean_coefficients([design], 0, 1)
        positions, answers = coefficients.numerators[0, may], coefficients.denominator[may]
        # The limits are those of what numbers are away from a mean (Fieller): here from some mean or other.
        rows.append(positions - 0.37 * answers)
    return interval_name(kind, rows, several=several, ratio=answered)


@dataclass(frozen=True, eq=False)
class QuestionReport:
    """One question: its columns and what they say. `by_option`: a column for each answer."""

    question: Question
    versions: tuple[int, ...]
    by_option: bool
    columns: tuple[ReportColumn, ...]

    @property
    def n(self) -> int:
        """Number of responses."""
        return self.columns[0].n

    @property
    def weighted(self) -> bool:
        """Whether strata count as much as their populations, and not as their responses."""
        return self.columns[0].weights is not None

    @property
    def design_effect(self) -> float | None:
        """Kish's (`ReportColumn.design_effect`): every column has the responses of the same strata."""
        return self.columns[0].design_effect

    @cached_property
    def rows(self) -> tuple[ShareRow, ...]:
        """A share for each answer; a number's two ends are no answers of anybody."""
        answers = tuple(enumerate(self.question.answers))
        if self.by_option:
            return tuple(ShareRow(index, answer, self.columns[index], 1) for index, answer in answers)
        first = self.question.first_answer
        return tuple(ShareRow(index, answer, self.columns[0], index) for index, answer in answers[first:])

    @property
    def shown(self) -> tuple[ShareRow, ...]:
        """The rows that say something: where the answers are No and Yes, No is what is left."""
        return self.rows[1:] if self.question.answers == ("no", "yes") else self.rows

    @property
    def impossible(self) -> tuple[ShareRow, ...]:
        """The shown shares outside [0, 1]."""
        return tuple(row for row in self.shown if row.impossible)

    @cached_property
    def impossible_p_value(self) -> float | None:
        """Of the hypothesis that the true shares are possible: the smallest of the columns', times their number."""
        values = [column.impossible_p_value for column in self.columns]
        known = [value for value in values if value is not None]
        return min(1.0, len(known) * min(known)) if known else None

    @cached_property
    def mean(self) -> ReportMean | None:
        """Of a number or a scale."""
        ends = value_range(self.question)
        return None if ends is None else ReportMean(*ends, self.columns[0], self.question.prefer_not_to_say)

    @cached_property
    def control(self) -> ControlItemTest | None:
        """The test of a control question, once it has responses."""
        column = self.columns[0]
        if not (self.question.control and column.n):
            return None
        return pooled_control_item_test(column.of_parts, column.designs, column.weights)

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What a reader must know about its estimates."""
        mean = None if self.mean is None else self.mean.estimate
        return tuple(
            remarks(
                [row.value for row in self.impossible],
                len(self.shown),
                self.impossible_p_value,
                mean,
                self.control,
                several=self.columns[0].several,
            )
        )

    def manipulation(self, forged: int) -> float:
        """How far so many forged responses move one of its shares at most."""
        return max(column.manipulation(min(forged, self.n)) for column in self.columns)


def compute_limits(reports: Iterable[QuestionReport]) -> None:
    """Compute the intervals that are shown of one look at many reports, all at once."""
    several = list(reports)
    compute_estimates(column for report in several for column in report.columns)
    late: list[MeanEstimate | AnsweredMeanEstimate | PooledShares] = []
    for report in several:
        late += {
            id(row.column): row.column.estimate for row in report.shown if row.column.estimate is not None
        }.values()
        if report.mean is not None and report.mean.estimate is not None:
            late.append(report.mean.estimate)
    compute_side_by_side(late)


def compute_all(reports: Iterable[QuestionReport]) -> None:
    """Compute what is shown of questions in many groups, all at once: limits for every look, and tests."""
    known = [report for report in reports if report.n]
    if not known:
        return
    columns = [column for report in known for column in report.columns]
    confidence = columns[0].confidence
    steady = [column for column in columns if column.one_partition]
    _keep(steady, "anytime", anytime_shares_of([column.checked for column in steady], confidence))
    tests = impossible_share_tests([column.checked.answered for column in columns])
    _keep(columns, "impossible_p_value", tests)
    alike: dict[tuple[bool, tuple[float, float]], list[ReportMean]] = {}
    for report in known:
        if (mean := report.mean) is not None and mean.column.one_partition:
            alike.setdefault((mean.answered, (mean.low, mean.high)), []).append(mean)
    for (answered, ends), means in alike.items():
        limits = anytime_answered_means_of if answered else anytime_means_of
        _keep(means, "anytime", limits([mean.column.checked for mean in means], ends, confidence))


def _keep(owners: Iterable[ReportColumn | ReportMean], name: str, values: Iterable[object]) -> None:
    """Let each have a property that was computed of all at once."""
    for owner, value in zip(owners, values, strict=True):
        owner.__dict__[name] = value


def value_range(question: Question) -> tuple[float, float] | None:
    """The numbers that the first and the last numeric truth stand for; None where answers are no numbers."""
    return question.ends
