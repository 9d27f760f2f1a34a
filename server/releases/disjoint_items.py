"""Which items of one plan for a table have no row in common: proved from what they ask, before a row is looked at.

A row is in one of the smallest places and holds one value in each column. Rows that fulfil the conditions
of the same items are of one type. Under unbounded neighbours a row costs what the items of its type lose, and all
items together what the type that costs most does: parallel composition, by `sum_losses`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from server.releases.kinds import query_of
from server.releases.kinds.narrowed_sources import find_chosen_values
from server.releases.plans.items import Item
from server.releases.survey_shapes import Shape

MOST_TYPES = 4096
"""Of rows; where there may be more, every item is taken to be about all rows."""


@dataclass(frozen=True)
class Charge:
    """What an item costs, and the types of rows that it costs: None for all."""

    epsilon: Decimal
    delta: Decimal
    strata: tuple[int, ...] | None


def charge_items(items: Sequence[Item], shape: Shape) -> tuple[Charge, ...]:
    """What each item of a divided plan costs, and whom.

    Raises
    ------
    InputError
        As `query_of`.
    """
    types = _list_types(items, shape)
    charges = []
    for place, item in enumerate(items):
        assert item.epsilon is not None  # the plan was divided
        own = None if types is None else tuple(number for number, one in enumerate(types) if one >> place & 1)
        everywhere = types is None or len(own or ()) == len(types)
        charges.append(Charge(item.epsilon, item.delta, None if everywhere else own))
    return tuple(charges)


def _list_types(items: Sequence[Item], shape: Shape) -> list[int] | None:
    """For each type of rows the items that are about it, as the bits of a number; None where there may be too many."""
    found = {(1 << len(items)) - 1}
    for about in _list_parts(items, shape):
        found = {one & part for one in found for part in about}
        if len(found) > MOST_TYPES:
            return None
    return sorted(found)


def _list_parts(items: Sequence[Item], shape: Shape) -> Iterable[set[int]]:
    """For the places, and for each column with conditions: which items one place, or one value, may be counted in."""
    leaves = [query_of(item, shape, f"items[{place}]").leaves for place, item in enumerate(items)]
    yield {_bits([leaf in own for own in leaves]) for leaf in range(len(shape.leaves))}
    chosen = [find_chosen_values(item, shape, f"items[{place}]") for place, item in enumerate(items)]
    for name in dict.fromkeys(name for own in chosen for name in own):
        masks = [own.get(name) for own in chosen]
        ends = {0}
        for mask in masks:
            if mask is not None:
                ends.update((np.flatnonzero(mask[1:] != mask[:-1]) + 1).tolist())
        yield {_bits([mask is None or bool(mask[value]) for mask in masks]) for value in ends}


def _bits(chosen: Sequence[bool]) -> int:
    return sum(1 << place for place, own in enumerate(chosen) if own)
