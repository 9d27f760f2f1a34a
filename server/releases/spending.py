"""What releases lose together."""

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Protocol

from server.privacy.accounting import best_composition
from server.releases.values import Budget, Spent

COMMON_DELTA = 1e-6
"""At which the best known composition is told where the budget has no delta."""


class Booked(Protocol):
    """What an entry of the ledger costs, and whom: the strata that it covers, or None for everybody."""

    @property
    def epsilon(self) -> Decimal: ...

    @property
    def delta(self) -> Decimal: ...

    @property
    def strata(self) -> tuple[int, ...] | None: ...


def sum_losses(neighbours: str, booked: Sequence[Booked]) -> tuple[Decimal, Decimal]:
    """The epsilon and the delta of some entries together, as a budget counts them.

    A response is in one of the smallest strata. So under unbounded neighbours, where it is added or
    removed, all entries cost what was spent on the stratum that cost most (parallel composition).
    Replaced, a response may move to another stratum: then everything is added up.
    """
    alone = _alone(neighbours, booked)
    return (
        max(sum((each.epsilon for each in own), Decimal(0)) for own in alone),
        max(sum((each.delta for each in own), Decimal(0)) for own in alone),
    )


def round_loss_down(loss: Decimal, rows_each: int = 1) -> float:
    """A float that is not above what is booked, for each of the rows that one person has at most.

    What loses so much by a row loses as many times that by as many rows: they are added or left out one by one.
    """
    exact = Fraction(loss) / rows_each
    near = float(exact)
    return near if Fraction(near) <= exact else math.nextafter(near, 0.0)


def sum_spent(budget: Budget | None, booked: Sequence[Booked]) -> Spent:
    """What a survey's releases lose together; without a budget nothing was released."""
    neighbours = "bounded" if budget is None else budget.neighbours
    at = float(budget.delta) if budget is not None and budget.delta else COMMON_DELTA
    epsilon, delta = sum_losses(neighbours, booked)
    return Spent(
        epsilon=epsilon,
        delta=delta,
        sequential=sum((each.epsilon for each in booked), Decimal(0)),
        best=max(_best(own, at) for own in _alone(neighbours, booked)) if booked else None,
        best_delta=at,
    )


def _alone(neighbours: str, booked: Sequence[Booked]) -> list[list[Booked]]:
    """The entries that one response can be in, for each kind of response."""
    if neighbours == "bounded":
        return [list(booked)]
    keys = sorted({key for each in booked for key in each.strata or ()})
    everywhere = [each for each in booked if each.strata is None]
    groups = [[each for each in booked if each.strata is None or key in each.strata] for key in keys]
    return [everywhere, *groups]


def _best(booked: Sequence[Booked], delta: float) -> float:
    """The smallest bound known at a failure probability, of which entries with one use up a part."""
    lost = [
        Fraction(each.epsilon) for each in booked if each.epsilon
    ]  # an owner may declare that nothing was
    if not lost:
        return 0.0
    left = Fraction(repr(delta)) - sum((Fraction(each.delta) for each in booked), Fraction(0))
    failure = float(left) if left > 0 else 0.0
    return best_composition(lost, delta=failure).epsilon
