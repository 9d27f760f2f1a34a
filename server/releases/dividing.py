"""What a plan costs, and what error to expect of it: before anything is counted."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_DOWN, Decimal

from server.inputs import N_, refuse
from server.privacy.estimators.limits import normal_quantile
from server.privacy.queries import epsilon_for_error
from server.releases.kinds import Query, Shuffled, query_of
from server.releases.plans.plan_reader import (
    LEAST_EPSILON,
    MOST_EPSILON,
    Division,
    Item,
    ReleasePlan,
    format_decimal,
)
from server.releases.survey_shapes import Shape
from server.releases.values import Budget

SMALLEST = Decimal("0.000000001")
"""Losses are whole multiples of it."""


@dataclass(frozen=True)
class Expected:
    """What to expect of an item.

    Attributes
    ----------
    item : Item
    epsilon, delta : Decimal
        What it costs.
    unit : str
        Of the errors: "people", "share", "value", the number's own, or "value squared".
    error : float or None
        Of the noise alone, root mean squared; None while `Plan.people` is needed and not known.
    standard_error, margin : float or None
        Of an estimate: with coins, sampling and noise together; the margin is half of the interval.
        None for what is no estimate, and as above.
    people : int or None
        How many are expected where it asks.
    """

    item: Item
    epsilon: Decimal
    delta: Decimal
    unit: str
    error: float | None
    standard_error: float | None
    margin: float | None
    people: int | None


def divide(plan: ReleasePlan, shape: Shape, budget: Budget | None = None) -> ReleasePlan:
    """The plan with a loss for every item. No data are looked at.

    Raises
    ------
    InputError
        On an item that asks for what there is not, for an error that cannot be reached, or for more
        than the whole budget.
    """
    queries = [query_of(item, shape, f"items[{place}]") for place, item in enumerate(plan.items)]
    if isinstance(queries[0], Shuffled):  # alone in its plan
        price = queries[0].price
        item = replace(plan.items[0], epsilon=price.epsilon, delta=price.delta)
        _check_granted((item,), budget)
        return replace(plan, items=(item,), division=Division.GIVEN, epsilon=None)
    if plan.division == Division.GIVEN:
        losses = [item.epsilon or Decimal(0) for item in plan.items]
    elif plan.division == Division.ERRORS:
        losses = [
            _find_loss(query, item, plan, shape, f"items[{place}]")
            for place, (query, item) in enumerate(zip(queries, plan.items, strict=True))
        ]
    else:
        weights = [item.weight or Decimal(1) for item in plan.items]
        whole = plan.epsilon or Decimal(0)
        losses = [
            (whole * weight / sum(weights)).quantize(SMALLEST, rounding=ROUND_DOWN) for weight in weights
        ]
    for place, loss in enumerate(losses):
        if loss <= 0:
            template = N_("must leave something for each item; it is %(value)s")
            raise refuse(
                422, f"items[{place}].epsilon", template, value=format_decimal(plan.epsilon or Decimal(0))
            )
    items = tuple(
        replace(item, epsilon=loss, weight=None, error=None)
        for item, loss in zip(plan.items, losses, strict=True)
    )
    _check_granted(items, budget)
    return replace(plan, items=items, division=Division.GIVEN, epsilon=None)


def _check_granted(items: Sequence[Item], budget: Budget | None) -> None:
    """Refuse what could not be paid for if nothing were spent yet."""
    if budget is None:
        return
    for place, item in enumerate(items):
        for name, limit in (("epsilon", budget.epsilon), ("delta", budget.delta)):
            value = getattr(item, name)
            if value > limit:
                template = N_("must be at most %(limit)s, the survey’s budget; it is %(value)s")
                values = {"limit": format_decimal(limit), "value": format_decimal(value)}
                raise refuse(409, f"items[{place}].{name}", template, **values)


def _find_loss(query: Query, item: Item, plan: ReleasePlan, shape: Shape, field: str) -> Decimal:
    """The smallest loss with which an item's error is what is wanted."""
    assert item.error is not None  # `parse_plan` says so
    people = _people(plan, shape)

    def error(epsilon: float) -> float:
        found = query.error(
            epsilon / shape.rows_each, float(item.delta), _count_expected(item, query, shape, people)
        ).noise
        if found is None:
            at = f"{field}.people" if item.where else "people"
            raise refuse(422, at, N_("is required; the error of a share or a mean depends on it"))
        return found

    low, high = float(LEAST_EPSILON), float(MOST_EPSILON)
    best = error(high)
    if best > item.error:
        template = N_("must be at least %(limit)s, the error with the largest loss; it is %(value)s")
        raise refuse(422, f"{field}.error", template, limit=_round_up(best), value=format_decimal(item.error))
    return Decimal(repr(epsilon_for_error(error, float(item.error), low, high)))


def _round_up(number: float) -> str:
    """With three digits, and no less than it is: whoever types it is not refused again."""
    exact = Decimal(number)
    return format_decimal(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 2), ROUND_CEILING))


def _people(plan: ReleasePlan, shape: Shape) -> int | None:
    return plan.people if shape.respondents is None else max(shape.respondents, 1)


def _count_expected(item: Item, query: Query, shape: Shape, people: int | None) -> int | None:
    """How many of the people to expect where an item asks: all, or a stratum's part of them.

    Under conditions what the item says, if it does: nobody else knows. By the populations where all are known,
    else as if the smallest strata were of one size: how many responded there is what a release would cost to tell.
    """
    if item.where:
        return item.people
    if people is None or len(query.leaves) == len(shape.leaves):
        return people
    strata = [leaf for leaf in shape.leaves if leaf.path]
    known = all(leaf.population is not None for leaf in strata)
    sizes = [(leaf.population or 0) if known else 1 for leaf in strata]
    inside = {shape.leaves[place].path for place in query.leaves}
    own = sum(size for leaf, size in zip(strata, sizes, strict=True) if leaf.path in inside)
    return max(1, round(people * own / sum(sizes)))


def expect_results(plan: ReleasePlan, shape: Shape) -> tuple[Expected, ...]:
    """What to expect of each item of a divided plan. No data are looked at.

    Raises
    ------
    InputError
        As `divide`.
    """
    people = _people(plan, shape)
    found = []
    for place, item in enumerate(plan.items):
        assert item.epsilon is not None
        query = query_of(item, shape, f"items[{place}]")
        epsilon = float(item.epsilon) / shape.rows_each
        inside = _count_expected(item, query, shape, people)
        error = query.error(epsilon, float(item.delta), inside)
        margin = None if error.whole is None else normal_quantile(plan.confidence) * error.whole
        found.append(
            Expected(item, item.epsilon, item.delta, error.unit, error.noise, error.whole, margin, inside)
        )
    return tuple(found)
