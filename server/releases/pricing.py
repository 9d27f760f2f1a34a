"""What a plan costs on top of what was released: looked at before it is paid for, as often as one likes."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from server.inputs import N_, InputError, Problem, refuse
from server.releases.basis import Basis, identify_item
from server.releases.dividing import Expected, divide, expect_results
from server.releases.plans.plan_reader import ReleasePlan
from server.releases.values import Released

_PLACE = re.compile(r"items\[(\d+)\]")


@dataclass(frozen=True)
class Price:
    """A plan with its price.

    Attributes
    ----------
    known : mapping
        By the place of an item in the plan, the entry in which it is released already; it costs nothing.
    expected : mapping
        By the place of every other item, what it costs and how far off it will be.
    paying : Plan or None
        What is paid for, each item with its loss; None if that is nothing.
    epsilon, delta : Decimal
        What all of it takes from the budget.
    """

    known: Mapping[int, Released]
    expected: Mapping[int, Expected]
    paying: ReleasePlan | None
    epsilon: Decimal
    delta: Decimal


def price(basis: Basis, plan: ReleasePlan) -> Price:
    """What a plan would cost. No response is looked at.

    Raises
    ------
    InputError
        As `divide`.
    """
    newest = [basis.find_released(item) for item in plan.items]
    known = {
        place: found
        for place, (item, found) in enumerate(zip(plan.items, newest, strict=True))
        if found is not None and not item.anew
    }
    places = [place for place in range(len(plan.items)) if place not in known]
    nothing = Decimal(0)
    if not places:
        return Price(known, {}, None, nothing, nothing)
    try:
        rest = replace(plan, items=tuple(plan.items[place] for place in places))
        paying = divide(rest, basis.shape, basis.budget)
    except InputError as error:
        raise InputError(error.status, [_at_home(problem, places) for problem in error.problems]) from None
    wanted = [basis.want(item, f"items[{place}]") for place, item in zip(places, paying.items, strict=True)]
    before, after = basis.add_losses(wanted)
    errors = dict(zip(places, expect_results(paying, basis.shape), strict=True))
    return Price(known, errors, paying, after[0] - before[0], after[1] - before[1])


def cells_digest(basis: Basis, plan: ReleasePlan) -> str:
    """What tells whether a plan still asks for the very cells whose price was shown: the same questions and strata."""
    asked = b"".join(identify_item(item, basis.shape) for item in plan.items)
    return hashlib.sha256(asked).hexdigest()


def require_cells(basis: Basis, plan: ReleasePlan, shown: str | None) -> None:
    """Refuse to be paid for other cells than those that were shown.

    Raises
    ------
    InputError
        409.
    """
    if cells_digest(basis, plan) != shown:
        raise refuse(
            409,
            "plan",
            N_("is about other strata or questions than when its price was shown; look at it again"),
        )


def _at_home(problem: Problem, places: Sequence[int]) -> Problem:
    """A problem of an item named by its place in the whole plan."""
    found = _PLACE.match(problem.field)
    if found is None:
        return problem
    return replace(problem, field=f"items[{places[int(found[1])]}]{problem.field[found.end() :]}")


def renew_plan(basis: Basis, plan: ReleasePlan, seen: Sequence[int | None]) -> ReleasePlan:
    """The plan with those items wanted anew that were not released since an entry that somebody has seen.

    Whoever means "newer than this one" pays once, however often they ask: if others wait meanwhile (`lock`).

    Parameters
    ----------
    seen : sequence of int or None
        For each item, the number of the entry that it shall be newer than; None where any will do.
    """
    items = []
    for item, entry in zip(plan.items, seen, strict=True):
        newest = basis.find_released(item)
        items.append(replace(item, anew=newest is not None and newest.entry == entry))
    return replace(plan, items=tuple(items))
