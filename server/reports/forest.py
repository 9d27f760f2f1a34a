"""One estimate in every group, to be drawn on one axis: a forest plot."""

from dataclasses import dataclass
from functools import cached_property

from server.output.charts import Axis, mean_axis, share_axis
from server.reports.estimate_values import QuestionReport, ReportMean, ShareRow
from server.reports.findings import MeanFinding, ShareFinding, find_mean, find_share
from server.reports.report import Report
from server.reports.stratum_estimates import StratumReport
from server.study.strata import walk

MEAN = "mean"
"""What an address calls the mean, beside the numbers of the answers."""


@dataclass(frozen=True, eq=False)
class Branch:
    """A group with its estimate, and those inside it; groups that are withheld, or hold nobody, have none."""

    group: StratumReport
    figure: ShareRow | ReportMean | None
    inside: tuple["Branch", ...]

    def find(self, anytime: bool) -> ShareFinding | MeanFinding | None:
        """What the estimate lets one retell (`findings`)."""
        if self.figure is None or self.figure.value is None:
            return None
        if isinstance(self.figure, ReportMean):
            return find_mean(self.figure, anytime)
        return find_share(self.figure, self.figure.value, self.figure.interval(anytime))


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

    @cached_property
    def whole(self) -> Branch:
        """All responses, and the strata inside each other."""
        rest = list(reversed(self.groups))

        def grow() -> Branch:
            group, figure = rest.pop()
            inside = []
            while rest and rest[-1][0].depth > group.depth:
                inside.append(grow())
            return Branch(group, figure, tuple(inside))

        return grow()


MOST_GROUPS = 300
"""Of a forest; where there are more, the deepest levels are left to the exports."""


def figures(entry: QuestionReport) -> list[tuple[str, ShareRow | ReportMean]]:
    """What can be looked at by stratum, by the name that an address has for it."""
    shares: list[tuple[str, ShareRow | ReportMean]] = [(f"share-{row.index}", row) for row in entry.shown]
    return shares if entry.mean is None else [*shares, (MEAN, entry.mean)]


def forest(report: Report, entry: QuestionReport, which: str, most: int = MOST_GROUPS) -> Forest | None:
    """An estimate of a question by stratum, of so many at most; None where there are no strata, or no responses."""
    chosen = dict(figures(entry))[which]
    depths = [node.depth for node in walk(report.nodes)]
    deepest = max(depths, default=0)
    while deepest and sum(depth <= deepest for depth in depths) > most:
        deepest -= 1
    cut = deepest < max(depths, default=0)
    groups = [
        (group, None if group.report is None else dict(figures(group.report))[which])
        for group in report.strata(entry, deepest if cut else None)
    ]
    return Forest(entry, chosen, tuple(groups), cut) if groups else None
