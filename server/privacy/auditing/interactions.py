"""The exact loss of a search whose questions come one at a time: of all that is told in the course of it."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from server.privacy.auditing.comparing import chance_of_pattern
from server.privacy.auditing.dealing import Counts, Draw, deal_randomness, freeze_output
from server.privacy.auditing.enumeration import exact_loss
from server.privacy.auditing.noise_losses import LEAKS, ROUNDING

_OFFSETS = (0, 3)
"""Of the thresholds at which every course is dealt."""
_NOT_COMPARED = "answers are not compared under noise one by one, or more is told than what was above"

Begin = Callable[[], Any]
"""Draws the threshold; what it returns is kept between questions."""
Ask = Callable[[Any, Any], tuple[Any, Any]]
"""What was kept, and a true answer -> what is told, and what is kept; None where nothing more is told."""


@dataclass(frozen=True)
class _Threshold:
    """The noise of a threshold, and which answers were above it or not, under noise of the same scale."""

    draw: Draw
    above: tuple[bool, ...] = ()
    values: tuple[int, ...] = ()
    scale: float = 1.0

    @property
    def chance(self) -> float:
        return chance_of_pattern(self.above, self.draw, Draw(self.draw.kind, self.values, self.scale))


@dataclass
class _Teller:
    """Deals to one question the least noisy answer above the threshold or the largest below; then a new threshold."""

    offset: int
    above: bool | None
    draws: list[Draw]

    def noisy(self, kind: str, values: Counts, scale: float) -> Counts:
        self.draws.append(Draw(kind, tuple(values.tolist()), scale))
        if len(self.draws) == 1 and self.above is not None:
            return np.full_like(values, self.offset if self.above else self.offset - 1)
        return np.asarray(values + self.offset)

    def below(self, limit: int) -> int:
        raise ValueError("a search must not choose at random")

    def happens(self, exponent: Fraction) -> bool:
        raise ValueError("a search must not choose at random")

    def picks(self, weights: Any) -> int:
        raise ValueError("a search must not choose at random")

    def keeps(self, levels: int) -> bool:
        raise ValueError("a search must not choose at random")

    def fits(self, size: int, most: int) -> bool:
        raise ValueError("a search must not choose at random")


def interaction_loss(
    begin: Begin, ask: Ask, first: list[Any], second: list[Any], delta: float = 0.0
) -> tuple[float, str]:
    """The loss of a whole search on two neighbouring lists of true answers, and where it shows.

    Every course is followed: each answer is dealt once as near above the threshold as it can be, once as near below,
    at several thresholds. Its chance is added up over all values of each noisy threshold. Whoever asks may choose
    by what was told before: that is one list among those that are looked at.

    Parameters
    ----------
    begin, ask : callable
        `ask(kept, answer)` gives what is told, and what is kept for the next question.
    first, second : list
        The true answers, less the threshold.
    delta : float
        In [0, 1).

    Returns
    -------
    tuple of float and str
        In nats, within 1e-6; infinite where what is told does not follow from the comparisons.
    """
    found = []
    for answers in (first, second):
        courses = [list(_follow(begin, ask, answers, offset)) for offset in _OFFSETS]
        seen = [dict(own) for own in courses]
        alike = len(seen[0]) < len(courses[0])  # told the same, above or not: something else decided
        if any(kept.keys() != seen[0].keys() for kept in seen) or None in seen[0] or alike:
            return math.inf, _NOT_COMPARED
        found.append(seen[0])
    if found[0].keys() != found[1].keys():
        return math.inf, LEAKS
    chances = [[each[told] for told in found[0]] for each in found]
    if delta:
        return max(exact_loss(*chances, delta=delta) - ROUNDING, 0.0), "every event"
    losses = [abs(math.log(a) - math.log(b)) for a, b in zip(*chances, strict=True)]
    worst = max(losses)
    told = list(found[0])[losses.index(worst)]
    return max(worst - ROUNDING, 0.0), f"told {told!r}"


def _follow(begin: Begin, ask: Ask, answers: list[Any], offset: int) -> Iterator[tuple[Any, float]]:
    """What is told in each course, with its chance; None for one in which answers are not compared."""
    draws: list[Draw] = []
    with deal_randomness(_Teller(offset, None, draws)):
        kept = begin()
    if len(draws) != 1 or len(draws[0].values) != 1:
        yield None, 1.0
        return
    yield from _continue(ask, kept, answers, offset, (_Threshold(draws[0]),), ())


def _continue(
    ask: Ask,
    kept: Any,
    answers: list[Any],
    offset: int,
    thresholds: tuple[_Threshold, ...],
    replies: tuple[Any, ...],
) -> Iterator[tuple[Any, float]]:
    if kept is None or not answers:
        yield replies, math.prod(each.chance for each in thresholds)
        return
    *before, last = thresholds
    for above in (False, True):
        draws: list[Draw] = []
        with deal_randomness(_Teller(offset, above, draws)):
            said, after = ask(kept, answers[0])
        if not 1 <= len(draws) <= 2 or any(len(each.values) != 1 for each in draws):
            yield None, 1.0
            return
        compared, *renewed = draws
        known = replace(
            last,
            above=(*last.above, above),
            values=(*last.values, *compared.values),
            scale=compared.scale,
        )
        if last.above and last.scale != compared.scale:
            yield None, 1.0
            return
        following = (*before, known, *(_Threshold(each) for each in renewed))
        yield from _continue(ask, after, answers[1:], offset, following, (*replies, freeze_output(said)))
