"""What a release starts from: what may be asked, the ledger, and who asked what before; read once and passed on."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

from sqlalchemy.orm import Session

from server.releases.budgets import ledger_of, read_entries
from server.releases.kinds import KINDS, Query, query_of
from server.releases.plans.plan_reader import Item, item_json
from server.releases.rights import Limits, limits_of
from server.releases.spending import Booked, sum_losses
from server.releases.survey_shapes import Shape
from server.releases.survey_sources import survey_shape
from server.releases.values import Budget, Ledger, Released
from server.store.models import Survey


@dataclass(frozen=True)
class PricedItem:
    """An item to be paid for: what it asks, and what it costs whom."""

    item: Item
    field: str
    asked: bytes
    query: Query
    epsilon: Decimal
    delta: Decimal
    strata: tuple[int, ...] | None


@dataclass(frozen=True)
class Basis:
    """A survey's releases at one moment, and what more may be asked.

    `asked` says of each entry of the ledger, oldest first, what it asked (`identify_item`). Whoever pays by it
    has held the survey since before it was read (`survey_access.lock`).
    """

    shape: Shape
    ledger: Ledger
    budget: Budget
    limits: Limits
    asked: tuple[bytes, ...]

    @cached_property
    def _newest(self) -> Mapping[bytes, Released]:
        return dict(zip(self.asked, self.ledger.released, strict=True))

    def find_released(self, item: Item) -> Released | None:
        """The newest entry that asked the same."""
        return self._newest.get(identify_item(item, self.shape))

    def want(self, item: Item, field: str) -> PricedItem:
        """An item whose loss is stated, checked against what there is.

        Raises
        ------
        InputError
            As `query_of`.
        """
        query = query_of(item, self.shape, field)
        assert item.epsilon is not None  # the plan was divided
        asked, strata = identify_item(item, self.shape), find_covered(query, self.shape)
        return PricedItem(item, field, asked, query, item.epsilon, item.delta, strata)

    def add_losses(self, items: Sequence[Booked]) -> tuple[tuple[Decimal, Decimal], tuple[Decimal, Decimal]]:
        """Epsilon and delta that count against the budget: of what was released, and with what is wanted."""
        booked = [each for each in self.ledger.released if each.release > self.limits.inherited]
        neighbours = self.budget.neighbours
        return sum_losses(neighbours, booked), sum_losses(neighbours, [*booked, *items])


def load_basis(session: Session, survey: Survey) -> Basis:
    """Read what a release starts from. No response is looked at, but for their number where that is public.

    Raises
    ------
    InputError
        As `survey_shape`.
    """
    shape, stored = survey_shape(session, survey), read_entries(session, survey)
    ledger = ledger_of(session, survey, stored)
    assert ledger.budget is not None  # survey_shape says so
    limits = limits_of(session, survey, ledger.budget)
    return Basis(shape, ledger, ledger.budget, limits, tuple(bytes(entry.asked) for entry in stored))


def identify_item(item: Item, shape: Shape) -> bytes:
    """What makes two items the same question: everything but the price.

    A question of another version that has the same name and asks something else is another one. So is
    the same about strata, once there are more of them; another name or place in their list makes it no other one.
    """
    bare = replace(item, weight=None, error=None, epsilon=None, delta=Decimal(0), anew=False, stratum=())
    found = [shape.variable(name) for name in item.questions]
    identities = [variable.identity for variable in found if variable is not None]
    by_leaf = item.stratum or item.by_stratum or KINDS[item.kind].by_leaf
    within = shape.within(item.stratum) if by_leaf else ()
    leaves = sorted(shape.leaves[place].identity for place in within)
    written = json.dumps([item_json(bare), identities, leaves], sort_keys=True)
    return hashlib.sha256(written.encode()).digest()


def find_covered(query: Query, shape: Shape) -> tuple[int, ...] | None:
    """The ids of the strata that an item is about; None for all responses."""
    if len(query.leaves) == len(shape.leaves):
        return None
    return tuple(key for place in query.leaves for key in shape.leaves[place].keys)
