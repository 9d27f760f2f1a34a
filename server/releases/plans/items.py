"""What can be asked of a release, as values."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from server.releases.plans.row_conditions import RowCondition

LARGEST_NUMBER = Decimal(10**15)
"""On either side of 0, of what a number of a table is compared with."""


class ItemKind(StrEnum):
    """Kinds that something else than their entry in `KINDS` names; that alone lists all."""

    COUNT = "count"
    SHARE = "share"
    HISTOGRAM = "histogram"
    MEAN = "mean"
    SUM = "sum"
    VARIANCE = "variance"
    QUANTILES = "quantiles"
    TABLE = "table"
    HIERARCHY = "hierarchy"
    MOST_COMMON = "most_common"
    TOP = "top"
    EXCEEDING = "exceeding"
    SHUFFLED = "shuffled"
    SEARCH = "search"
    DECLARED = "declared"


class Division(StrEnum):
    """How a plan's privacy loss is divided over its items."""

    EQUALLY = "equally"
    PROPORTIONS = "proportions"
    ERRORS = "errors"
    GIVEN = "given"


@dataclass(frozen=True)
class Item:
    """One thing to release.

    Attributes
    ----------
    kind : str
        By its name in `KINDS`.
    questions : tuple of str
        Names of questions (of columns, where the data are a table).
    option : str or None
        For a share: the name of the answer.
    by_stratum : bool
        For a table: one of its axes is the smallest strata. For a mean: each of these has its own.
    stratum : tuple of str
        Names from the top down of the stratum whose responses alone are asked about; empty for all.
    noise : str
        "geometric", "laplace" or, for a mean, "gaussian"; for the most common answer
        "noisy_maximum" or "exponential"; for several and for quantiles "exponential".
    how_many : int or None
        For `top`: how many of the most common answers.
    share : Decimal or None
        For `exceeding` and a search: the share to exceed, in (0, 1).
    limit : int or None
        For a search: the number of people to exceed, where it is none of shares.
    positives : int
        For `exceeding` and a search: after how many of those above nothing more is said.
    most : int or None
        For a search: how many questions it has at most, if that was said.
    values : bool
        For `exceeding`: whether noisy numbers of those above are wanted.
    where : tuple of RowCondition
        What must hold of a row for it to be counted, all of it together.
    people : int or None
        How many rows to expect under the conditions.
    breaks : tuple of Decimal
        For a histogram of a number: where its bins begin, and where the last one ends.
    levels : tuple of Decimal
        For `quantiles`: the share of rows below each.
    weight, error, epsilon : Decimal or None
        Its part of the whole loss; or the error to reach, root mean squared, in the units of
        what is released (people, shares, the number's own); or its loss, in nats.
    delta : Decimal
        Failure probability: positive with Gaussian noise and for `shuffled`, else 0.
    anew : bool
        Whether it is wanted anew where the same was released already.
    """

    kind: str
    questions: tuple[str, ...] = ()
    option: str | None = None
    by_stratum: bool = False
    stratum: tuple[str, ...] = ()
    noise: str = "geometric"
    how_many: int | None = None
    share: Decimal | None = None
    limit: int | None = None
    positives: int = 1
    most: int | None = None
    values: bool = False
    where: tuple[RowCondition, ...] = ()
    people: int | None = None
    breaks: tuple[Decimal, ...] = ()
    levels: tuple[Decimal, ...] = ()
    weight: Decimal | None = None
    error: Decimal | None = None
    epsilon: Decimal | None = None
    delta: Decimal = Decimal(0)
    anew: bool = False


@dataclass(frozen=True)
class ReleasePlan:
    """Things to release together.

    Attributes
    ----------
    items : tuple of Item
    division : Division
        `EQUALLY` and `PROPORTIONS` divide `epsilon`; `ERRORS` gives each item what its error
        needs; `GIVEN` takes each item's own.
    epsilon : Decimal or None
        Loss of all items together, in nats, where it is divided.
    people : int or None
        How many respondents to expect: errors of shares and means depend on it.
    confidence : float
        Of the intervals.
    """

    items: tuple[Item, ...]
    division: Division = Division.EQUALLY
    epsilon: Decimal | None = None
    people: int | None = None
    confidence: float = 0.95
