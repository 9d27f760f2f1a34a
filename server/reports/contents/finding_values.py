"""What a public report found, as plain data: pages, paper and spreadsheets show it, and compute nothing."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from itertools import pairwise

from server.output.documents import Text
from server.releases import Figure, Released
from server.releases.plans.items import ItemKind
from server.reports.findings import Says, round_mean, round_share

_UNSURE = frozenset((ItemKind.MOST_COMMON, ItemKind.EXCEEDING))


class Picture(StrEnum):
    """How a finding is drawn: a hundred dots, bars, dots on lines, a table in shades, a tree, or not at all."""

    DOTS = "dots"
    BARS = "bars"
    LINES = "lines"
    TABLE = "table"
    TREE = "tree"
    NOTHING = "nothing"


@dataclass(frozen=True)
class FindingRange:
    """What one share or mean may be.

    Attributes
    ----------
    label : Text
        The answer or the stratum that it is of.
    says : Says
        Which sentence its interval makes.
    low, high, guess : float
        Of 100, whole, where it is a share; in the number's own unit where it is a mean. The interval, cut to what
        is possible, lies within `low` and `high`; `guess` is None where the estimate does not.
    value : float or None
        The estimate as it was released, and
    interval : tuple of float
        its interval; unclipped, shares in fractions.
    """

    label: Text
    says: Says
    low: float
    high: float
    guess: float | None
    value: float | None
    interval: tuple[float, float]


@dataclass(frozen=True)
class ReleaseFinding:
    """What one entry of the ledger says of one question, or of none.

    Attributes
    ----------
    name : str
        Its address: never another's while the survey is there. Letters, digits, "_" and "-".
    entry : Released
        Where its numbers are from.
    questions : tuple of str
        Names of those that it is about, and
    wordings : tuple of Text
        their wording.
    among : Text or None
        The stratum whose responses alone it is about.
    sentence, meaning : str
        What was found, and what that means; in the reader's language.
    picture : Picture
    ranges : tuple of FindingRange
        What is drawn, in its order.
    headline : FindingRange or None
        The one that the sentence is about; None where it is about none of them.
    ends : tuple of float or None
        What a mean lies between; None for shares, which are of 100.
    weighted : bool
        Whether strata count as much as their populations.
    replaced : bool
        Whether another entry, beside it or later, says the same and is shown in its place.
    """

    name: str
    entry: Released
    questions: tuple[str, ...]
    wordings: tuple[Text, ...]
    among: Text | None
    sentence: str
    meaning: str
    picture: Picture
    ranges: tuple[FindingRange, ...] = ()
    headline: FindingRange | None = None
    ends: tuple[float, float] | None = None
    weighted: bool = False
    replaced: bool = False

    @property
    def released_on(self) -> date:
        """The day of the release."""
        return self.entry.made_at.date()

    @property
    def tells(self) -> bool:
        """Whether its sentence states something as found, and it is known how surely: a number, which is the highest.

        An answer that was chosen or compared with noise is found, and how surely its release does not tell.
        """
        if not self.ranges:
            return self.entry.item.kind not in _UNSURE
        return self.headline is not None and (len(self.ranges) > 1 or self.headline.says.tells)

    @property
    def subject(self) -> Hashable:
        """What two findings have in common of which the later one takes the place of the earlier."""
        among = "" if self.among is None else self.among.text
        if not self.ranges:
            item = self.entry.item
            return item.kind, item.questions, item.by_stratum, item.share, among
        labels = frozenset(each.label.text for each in self.ranges)
        return self.questions, among, self.ends is None, self.weighted, labels

    @property
    def versions(self) -> frozenset[str]:
        """Of which versions its responses are."""
        found = self.entry.notes.get("versions")
        return frozenset(map(str, self.entry.covers.versions) if found is None else str(found).split(", "))


def range_of_share(label: Text, figure: Figure) -> FindingRange:
    """Of a share with an interval."""
    assert figure.low is not None
    assert figure.high is not None
    interval = figure.low, figure.high
    return FindingRange(label, *round_share(figure.value, interval), figure.value, interval)


def range_of_mean(label: Text, figure: Figure, ends: tuple[float, float]) -> FindingRange:
    """Of a mean with an interval, which lies between `ends`."""
    assert figure.low is not None
    assert figure.high is not None
    interval = figure.low, figure.high
    return FindingRange(label, *round_mean(figure.value, interval, ends), figure.value, interval)


def find_highest(ranges: Sequence[FindingRange]) -> FindingRange | None:
    """The one whose interval lies above all others', where there are several."""
    if len(ranges) < 2:
        return None
    first = max(ranges, key=lambda each: each.interval[0])
    return (
        first if all(each.interval[1] < first.interval[0] for each in ranges if each is not first) else None
    )


def some_overlap(ranges: Sequence[FindingRange]) -> bool:
    """Whether there are two whose intervals do."""
    ends = sorted(extent.interval for extent in ranges)
    return any(low <= high for (_, high), (low, _) in pairwise(ends))


def rank(ranges: Sequence[FindingRange]) -> list[FindingRange]:
    """The largest first; those of which nothing is told last, whatever chance made of their estimates."""

    def order(extent: FindingRange) -> tuple[bool, float]:
        return not says_something(extent), -(extent.value if extent.value is not None else extent.interval[0])

    return sorted(ranges, key=order)


def says_something(extent: FindingRange) -> bool:
    """Whether its sentence is more than that these responses do not tell."""
    return extent.says not in (Says.NOT_TOLD, Says.IMPOSSIBLE)
