"""How precise results are beside what the study sheet planned, and the power that comes with it."""

from dataclasses import dataclass

from server.privacy.planning import power
from server.reports.estimate_values import QuestionReport
from server.reports.reached_margins import ReachedMargin, measure_margins
from server.reports.report import Report
from server.study.planning import CONFIDENCE

FROM = 0.5
"""The share from which a difference is to be told: that of most uncertain answers, asked directly."""


@dataclass(frozen=True, eq=False)
class AchievedPrecision:
    """Of a result that a plan promises a margin for.

    Attributes
    ----------
    margin : ReachedMargin
        What was reached and what was planned.
    effective : float
        Responses that would tell as much if each counted the same: their number over the design effect.
    power : float or None
        About how likely so many show that a share is not 50 %, where in truth it is the planned margin above that;
        at 5 %, two-sided, by the normal approximation. Of Yes and No asked with one design, where a margin is planned.
    """

    margin: ReachedMargin
    effective: float
    power: float | None


def list_precision(report: Report) -> tuple[AchievedPrecision, ...]:
    """Everything that a plan promises a margin for; nothing before the first response."""
    progress = measure_margins(report, report.study.planned_margin)
    return () if progress is None else tuple(_achieve(margin) for margin in progress.measured)


def _achieve(margin: ReachedMargin) -> AchievedPrecision:
    effective = margin.entry.n / (margin.entry.design_effect or 1.0)
    return AchievedPrecision(margin, effective, _find_power(margin.entry, margin, int(effective)))


def _find_power(entry: QuestionReport, margin: ReachedMargin, n: int) -> float | None:
    designs = entry.columns[0].counting
    if (
        margin.what != "share"
        or margin.planned is None
        or len(designs) != 1
        or designs[0].weights.shape != (2, 2)
    ):
        return None
    if n < 1 or FROM + margin.planned > 1:
        return None
    return power(n, FROM + margin.planned, FROM, designs[0], alpha=1 - CONFIDENCE)
