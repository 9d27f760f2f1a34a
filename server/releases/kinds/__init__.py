"""Each kind of item: what it asks of the responses, how it is perturbed, what is estimated from that."""

from collections.abc import Callable

from server.releases.kinds.base import OWN_LINK, Drawn, Error, Query
from server.releases.kinds.counts import Count, Tree
from server.releases.kinds.means import mean_of
from server.releases.kinds.selections import Exceeding, MostCommon
from server.releases.kinds.shuffled import Shuffled, Shuffling, shuffling_of
from server.releases.kinds.single import Share
from server.releases.kinds.tables import Table
from server.releases.plans.reading import Item, Kind
from server.releases.shapes import Shape, Source
from server.releases.spending import rounded_down

__all__ = [
    "OWN_LINK",
    "Drawn",
    "Error",
    "Query",
    "Shuffled",
    "Shuffling",
    "drawn",
    "query_of",
    "registered",
    "shuffling_of",
]

_KINDS: dict[Kind, Callable[[Item, Shape, str], Query]] = {
    Kind.COUNT: Count.of,
    Kind.SHARE: Share.of,
    Kind.HISTOGRAM: Table.of,
    Kind.TABLE: Table.of,
    Kind.MEAN: mean_of,
    Kind.HIERARCHY: Tree.of,
    Kind.MOST_COMMON: MostCommon.of,
    Kind.EXCEEDING: Exceeding.of,
    Kind.SHUFFLED: Shuffled.of,
}


def registered() -> tuple[Kind, ...]:
    """Every kind that can be released."""
    return tuple(_KINDS)


def query_of(item: Item, shape: Shape, field: str) -> Query:
    """An item, checked against what there is.

    Raises
    ------
    InputError
        Naming what of the item (`field`) there is not.
    """
    return _KINDS[item.kind](item, shape, field)


def drawn(item: Item, source: Source, field: str, confidence: float) -> Drawn:
    """Count, perturb and estimate an item whose loss is stated: what every release does, and is audited.

    Raises
    ------
    InputError
        As `query_of`.
    """
    assert item.epsilon is not None  # the plan was divided
    query = query_of(item, source.shape, field)
    return query.draw(source, rounded_down(item.epsilon), rounded_down(item.delta), confidence)
