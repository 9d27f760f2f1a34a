"""How precise results are now, in the unit of a plan: half of an interval, of what the plan promises a margin for.

A plan's margin is for one look and at 95 %, whatever the design, the weights and the versions are. So it is held
against the interval of one look, also while a page shows those for any number of looks; at another confidence it
is held against nothing.
"""

from dataclasses import dataclass
from functools import cached_property

from server.reports.estimate_values import QuestionReport, compute_limits
from server.reports.report import Report
from server.study.definitions import Question
from server.study.kinds import What
from server.study.planning import CONFIDENCE, list_promised


@dataclass(frozen=True, eq=False)
class ReachedMargin:
    """Of a result that a plan promises a margin for; margins are fractions of 1, for a mean of its range.

    Attributes
    ----------
    entry : QuestionReport
    what : {"share", "shares", "boxes", "mean"}
        As in a plan: the share of Yes, of each answer, of each box, or a mean.
    range : float
        What 1 is: 1 for shares, for a mean the highest less the lowest number.
    planned : float or None
        The margin that is planned; None where none is.
    """

    entry: QuestionReport
    what: What
    range: float
    planned: float | None

    @cached_property
    def reached(self) -> float:
        """Half of the widest interval of one look."""
        return self._measure(anytime=False)

    @cached_property
    def along(self) -> float:
        """Half of the widest interval of any number of looks."""
        return self._measure(anytime=True)

    def _measure(self, *, anytime: bool) -> float:
        mean = self.entry.mean if self.what == "mean" else None
        figures = self.entry.shown if mean is None else (mean,)
        span = self.range if self.what == "mean" else 1.0
        return max(high - low for low, high in (figure.interval(anytime) for figure in figures)) / 2 / span

    @property
    def suffices(self) -> bool:
        """Whether it is as precise as planned; also where nothing is."""
        return self.planned is None or self.reached <= self.planned


@dataclass(frozen=True, eq=False)
class MarginProgress:
    """How precise results are; `measured` is everything that a plan promises a margin for, `planned` that margin."""

    measured: tuple[ReachedMargin, ...]
    planned: float | None

    @cached_property
    def questions(self) -> tuple[ReachedMargin, ...]:
        """Of each question the least precise."""
        found: dict[str, ReachedMargin] = {}
        for margin in self.measured:
            name = margin.entry.question.name
            if name not in found or found[name].reached < margin.reached:
                found[name] = margin
        return tuple(found.values())

    @property
    def widest(self) -> ReachedMargin:
        """The least precise one."""
        return max(self.questions, key=lambda one: one.reached)

    @property
    def widest_along(self) -> ReachedMargin:
        """The least precise one by intervals for any number of looks."""
        return max(self.measured, key=lambda one: one.along)

    @property
    def sufficient(self) -> int:
        """How many questions are as precise as planned."""
        return sum(one.suffices for one in self.questions)

    @property
    def some_only_by_mean(self) -> bool:
        """Whether the shares of some question are left out, as its design hardly tells them apart."""
        return any(
            {what for what, _width in list_promised(one.entry.question)} != _list_results(one.entry.question)
            for one in self.questions
        )

    def find(self, entry: QuestionReport) -> ReachedMargin | None:
        """That of a question."""
        return next((one for one in self.questions if one.entry.question.name == entry.question.name), None)


def measure_margins(report: Report, planned: float | None) -> MarginProgress | None:
    """How precise results are, beside the margin that is planned; None before the first response."""
    compute_limits(report.questions)
    comparable = planned if report.confidence == CONFIDENCE else None
    found = tuple(
        ReachedMargin(entry, what, width, comparable)
        for entry in report.questions
        if entry.n
        for what, width in list_promised(entry.question)
    )
    return MarginProgress(found, comparable) if found else None


def _list_results(question: Question) -> set[What]:
    return {shown.what for shown in question.traits.list_estimands(question)}
