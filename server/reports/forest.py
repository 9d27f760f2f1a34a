"""One estimate in every group, to be drawn on one axis: a forest plot."""

from dataclasses import dataclass

from server.output.charts import Axis, mean_axis, share_axis
from server.reports.estimate_values import QuestionReport, ReportMean, ShareRow
from server.reports.report import Report
from server.reports.stratum_estimates import StratumReport
from server.study.strata import walk

MEAN = "mean"
"""What an address calls the mean, beside the numbers of the answers."""


@dataclass(frozen=True, eq=False)
class Forest:
    """A share or a mean by stratum; groups that are withheld, or hold nobody, have none."""

    entry: QuestionReport
    chosen: ShareRow | ReportMean
    groups: tuple[tuple[StratumReport, ShareRow | ReportMean | None], ...]
    cut: bool

    def axis(self, anytime: bool) -> Axis:
        """With room for every interval."""
        intervals = [figure.interval(anytime) for _, figure in self.groups if figure is not None]
        if isinstance(self.chosen, ShareRow):
            return share_axis(intervals)
        lows, highs = [self.chosen.low], [self.chosen.high]
        for low, high in intervals:
            lows.append(low)
            highs.append(high)
        return mean_axis(self.chosen.low, self.chosen.high, (min(lows), max(highs)))


MOST_GROUPS = 300
"""Of a forest; where there are more, the deepest levels are left to the exports."""


def figures(entry: QuestionReport) -> list[tuple[str, ShareRow | ReportMean]]:
    """What can be looked at by stratum, by the name that an address has for it."""
    shares: list[tuple[str, ShareRow | ReportMean]] = [(f"share-{row.index}", row) for row in entry.shown]
    return shares if entry.mean is None else [*shares, (MEAN, entry.mean)]


def forest(report: Report, entry: QuestionReport, which: str) -> Forest | None:
    """An estimate of a question by stratum; None where there are no strata, or no responses."""
    chosen = dict(figures(entry))[which]
    depths = [node.depth for node in walk(report.nodes)]
    deepest = max(depths, default=0)
    while deepest and sum(depth <= deepest for depth in depths) > MOST_GROUPS:
        deepest -= 1
    cut = deepest < max(depths, default=0)
    groups = [
        (group, None if group.report is None else dict(figures(group.report))[which])
        for group in report.strata(entry, deepest if cut else None)
    ]
    return Forest(entry, chosen, tuple(groups), cut) if groups else None
