"""What an interval lets one retell: in whole numbers of 100, rounded outwards, so that no sentence says more than it.

A finding holds numbers and which sentence they make; its words are in `templates/words/findings.html`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from server.inputs import N_
from server.reports.estimate_values import QuestionReport, ReportMean, ShareRow
from server.study.kinds.kind import PREFER_NOT_TO_SAY

WIDEST = 50
"""Points; and the part of a number's range, in percent. What fits more than this is not called a finding."""


class Says(StrEnum):
    """Which sentence an interval makes."""

    BETWEEN = "between"
    AT_MOST = "at_most"
    AT_LEAST = "at_least"
    NOT_TOLD = "not_told"
    IMPOSSIBLE = "impossible"

    @property
    def tells(self) -> bool:
        """Whether a number may be stated as found."""
        return self not in (Says.NOT_TOLD, Says.IMPOSSIBLE)


@dataclass(frozen=True)
class ShareFinding:
    """Of how many of 100 something is true.

    Attributes
    ----------
    row : ShareRow
        What it is the share of.
    says : Says
    low, high : int
        Of 100, 0 and 100 included: the interval lies within them, as far as it is possible at all.
    guess : int or None
        The estimate of 100; None where the nearest whole number is not between `low` and `high`, or the responses do
        not tell.
    """

    row: ShareRow
    says: Says
    low: int
    high: int
    guess: int | None


@dataclass(frozen=True)
class MeanFinding:
    """What a number is on average, in its own unit: its interval cut to what is possible, and rounded outwards."""

    mean: ReportMean
    says: Says
    low: float
    high: float
    guess: float | None


@dataclass(frozen=True)
class QuestionFinding:
    """What is found of one question.

    Attributes
    ----------
    entry : QuestionReport
    shares : tuple of ShareFinding
        In the order in which they are drawn: the largest first, unless the answers have an order of their own.
    leader : ShareFinding or None
        The answer whose interval lies above that of each other answer, where there are several.
    mean : MeanFinding or None
    """

    entry: QuestionReport
    shares: tuple[ShareFinding, ...]
    leader: ShareFinding | None
    mean: MeanFinding | None

    @property
    def headline(self) -> ShareFinding | MeanFinding | None:
        """What its sentence is about; None where that tells of no answer which it is."""
        if self.mean is not None:
            return self.mean
        return self.shares[0] if len(self.shares) == 1 else self.leader

    @property
    def tells(self) -> bool:
        """Whether something may be stated as found: a number, or which answer is the most common."""
        if self.mean is None and self.leader is not None:
            return True
        return self.headline is not None and self.headline.says.tells

    @property
    def fits_nothing(self) -> bool:
        """Whether no possible number fits: how wide its interval is then tells nothing."""
        return self.headline is not None and self.headline.says == Says.IMPOSSIBLE


def interpret_question(entry: QuestionReport, anytime: bool) -> QuestionFinding:
    """What the responses to a question say, by the intervals of one look or of any number of them.

    Before the first response there are no shares and no mean.
    """
    if not entry.n:
        return QuestionFinding(entry, (), None, None)
    found = [find_share(row, row.value, row.interval(anytime)) for row in entry.shown]
    leader = _find_leader(found, anytime)
    traits = entry.question.traits
    if not (traits.levels or traits.in_ranges):
        # What is no answer to the question itself stays behind those that are, however many gave it.
        found.sort(key=lambda share: (share.row.answer == PREFER_NOT_TO_SAY, -share.row.value))
    mean = entry.mean
    return QuestionFinding(entry, tuple(found), leader, None if mean is None else find_mean(mean, anytime))


def is_told(figure: ShareRow | ReportMean, anytime: bool) -> bool:
    """Whether the interval of an estimate lets one call it found; where not, it is only to calculate with."""
    ends = (0.0, 1.0) if isinstance(figure, ShareRow) else (figure.low, figure.high)
    return _choose(*figure.interval(anytime), *ends).tells


def list_marks(figure: ShareRow | ReportMean, anytime: bool) -> list[str]:
    """Messages of what keeps an estimate from being read as a finding; none where nothing does, or nobody responded."""
    if not figure.column.n or figure.value is None:
        return []
    untold = [] if is_told(figure, anytime) else [N_("not told")]
    return untold + ([] if figure.value == figure.within_range else [N_("out of its range")])


def find_share(row: ShareRow, value: float, interval: tuple[float, float]) -> ShareFinding:
    """The sentence of one share."""
    return ShareFinding(row, *round_share(value, interval))


def round_share(value: float | None, interval: tuple[float, float]) -> tuple[Says, int, int, int | None]:
    """Which sentence a share makes; its limits and the estimate, as in `ShareFinding`."""
    says = _choose(*interval, 0, 1)
    least, most = map(int, round_outwards((100 * interval[0], 100 * interval[1]), (0, 100), 1))
    guess = None if value is None else round(min(max(100 * value, 0.0), 100.0))
    known = says.tells and guess is not None and least <= guess <= most
    return says, least, most, guess if known else None


def find_mean(mean: ReportMean, anytime: bool) -> MeanFinding | None:
    """The sentence of a mean; None before the first response."""
    if mean.estimate is None:
        return None
    return MeanFinding(mean, *round_mean(mean.value, mean.interval(anytime), (mean.low, mean.high)))


def round_mean(
    value: float | None, interval: tuple[float, float], ends: tuple[float, float]
) -> tuple[Says, float, float, float | None]:
    """Which sentence a mean between `ends` makes; its limits and the estimate, as in `MeanFinding`."""
    first, last = ends
    says = _choose(*interval, first, last)
    parts = count_parts(last - first)
    low, high = round_outwards(interval, ends, parts)
    guess = None if value is None else round(min(max(value, first), last) * parts) / parts
    return says, low, high, guess if says.tells and guess is not None and low <= guess <= high else None


def round_outwards(
    interval: tuple[float, float], ends: tuple[float, float], parts: int
) -> tuple[float, float]:
    """In so many parts of a unit, but not beyond what is possible: its ends may have more digits than that."""
    low, high = math.floor(interval[0] * parts) / parts, math.ceil(interval[1] * parts) / parts
    return min(max(low, ends[0]), ends[1]), min(max(high, ends[0]), ends[1])


def count_parts(width: float) -> int:
    """In how many parts of a unit a number with a range of this width is told."""
    return int(10 ** max(2 - math.floor(math.log10(width)), 0))


def _choose(low: float, high: float, first: float, last: float) -> Says:
    if high <= first or low >= last:
        return Says.IMPOSSIBLE  # it may be nobody, or all; but the interval says no such thing
    if 100 * (min(high, last) - max(low, first)) > WIDEST * (last - first):
        return Says.NOT_TOLD
    if low <= first:
        return Says.AT_MOST
    return Says.AT_LEAST if high >= last else Says.BETWEEN


def _find_leader(shares: Sequence[ShareFinding], anytime: bool) -> ShareFinding | None:
    """The answer whose interval lies above all others'."""
    if len(shares) < 2:
        return None
    first = max(shares, key=lambda share: share.row.value)
    above = max(share.row.interval(anytime)[1] for share in shares if share is not first)
    return first if first.row.interval(anytime)[0] > above else None
