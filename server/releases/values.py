"""What was released, as values: one figure for each number, and what was paid for them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal

from server.releases.plans.items import Item

STRATUM = "*stratum"
"""The variable of a place that is a stratum; no question can be named so."""

_OF_RESPONSES = ("share", "mean", "answered", "most_common", "top", "above")
"""Statistics in which every response counts the same, from whichever stratum it is."""


@dataclass(frozen=True)
class Figure:
    """One number of a release.

    Attributes
    ----------
    statistic : str
        "respondents": their noisy number. "reports": the noisy number of reports of an answer, as
        they arrived. "fitted": the same, made to add up with others of its table or tree. "share"
        and "mean": estimates of what people entered, every response counting the same.
        "weighted_share", "weighted_mean": with strata counting as much as their populations. "most_common":
        the answer chosen, `value` None. "top": one of those chosen together, in no order, the same.
        "above": 1 or 0, whether a share exceeds the one asked for. "answered": the estimated share
        of those who gave a number. Of a number in a table, also "sum", "variance", "standard_deviation", and
        "quantile", whose place has the share of the rows below it in place of an answer.
    place : tuple of (str, str)
        Which: pairs of a question's name and an answer's name, or of `STRATUM` and a path
        ("North > Alba"; empty for all); the question's name and "" for its mean.
    value : float or int or None
        Unclipped.
    standard_error, low, high : float or None
        For counts, of the noise alone. For estimates: coins, sampling and noise together.
    """

    statistic: str
    place: tuple[tuple[str, str], ...]
    value: float | int | None
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def weighting(self) -> str | None:
        """What counts the same in an estimate: "population" or "responses"; None for what is no estimate."""
        if self.statistic in ("weighted_share", "weighted_mean"):
            return "population"
        return "responses" if self.statistic in _OF_RESPONSES else None

    def within(self, lowest: float, highest: float) -> "Figure":
        """With value and limits moved to the nearest possible numbers, as they are printed."""
        value, low, high = (
            None if number is None else min(max(number, lowest), highest)
            for number in (self.value, self.low, self.high)
        )
        return replace(self, value=value, low=low, high=high)


@dataclass(frozen=True)
class Covers:
    """Which responses a release is about.

    Attributes
    ----------
    versions : tuple of int
        Numbers of the published versions.
    state : str
        Of the survey at that moment: "open" or "closed". Of a table that is no survey: "table".
    until : date
        The day of the release: what had arrived by then. Of an open survey under bounded neighbours, what was
        shown of it (`response_counts.read_for_release`).
    respondents : int or None
        Their exact number, which is public under bounded neighbours; None under unbounded ones.
    """

    versions: tuple[int, ...]
    state: str
    until: date
    respondents: int | None

    @property
    def of_table(self) -> bool:
        """Whether these are rows of a table that is no survey."""
        return self.state == "table"


@dataclass(frozen=True)
class Released:
    """An entry of the ledger and what it paid for.

    `entry` numbers the entries of a survey 1, 2, ...; `release` is the number of the release it
    was made in. `made_by` is empty for the command line. `notes` are facts about the method by
    name, such as "l1_sensitivity" or "scale".
    """

    entry: int
    release: int
    item: Item
    mechanism: str
    epsilon: Decimal
    delta: Decimal
    neighbours: str
    confidence: float
    made_at: datetime
    made_by: str
    software: str
    covers: Covers
    strata: tuple[int, ...] | None
    figures: tuple[Figure, ...]
    notes: Mapping[str, float | int | str]

    @property
    def total(self) -> Figure | None:
        """The number of all respondents that the entry is about, if it has one."""
        counts = (figure for figure in self.figures if figure.statistic == "respondents")
        top = "" if not self.item.stratum else " > ".join(self.item.stratum)
        return next(
            (figure for figure in counts if not figure.place or figure.place == ((STRATUM, top),)), None
        )


@dataclass(frozen=True)
class Spent:
    """What a survey's releases lose together.

    Attributes
    ----------
    epsilon, delta : Decimal
        What the budget counts: sums, where strata are disjoint (unbounded neighbours) their maximum.
    sequential : Decimal
        The sum of all epsilons.
    best : float or None
        The smallest bound known for all of it at `best_delta`; None without entries.
    best_delta : float
    """

    epsilon: Decimal
    delta: Decimal
    sequential: Decimal
    best: float | None
    best_delta: float


@dataclass(frozen=True)
class Budget:
    """A survey's central budget."""

    epsilon: Decimal
    delta: Decimal
    neighbours: str


@dataclass(frozen=True)
class Ledger:
    """A survey's budget and everything that was released, oldest first.

    `left` and `left_delta` are what it may still lose: of what other copies were given, nothing. 0
    without a budget, and while it is not known what was spent. `may_release` is as in `server.releases.rights`,
    `restored` as in `server.releases.spending_marks`.
    """

    budget: Budget | None
    released: tuple[Released, ...]
    spent: Spent
    left: Decimal = Decimal(0)
    left_delta: Decimal = Decimal(0)
    may_release: str = "own"
    restored: bool = False
