"""The exact loss of comparisons with a noisy threshold, as the sparse vector makes them."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.privacy.auditing.dealing import Counts, Draw, Outcome, deal_number, deal_randomness, freeze_output
from server.privacy.auditing.noise_losses import LEAKS, ROUNDING, of_draws

Rows = NDArray[np.float64]
_OFFSETS = (0, 3)
"""Of the thresholds at which every pattern is dealt."""
_FINE, _REACH = 2000, 40
"""Values of a threshold in one scale of its noise, where there are more; scales that are looked at."""


class _Comparer:
    """Deals a threshold, and to each answer the least noisy one above it or the largest below it."""

    def __init__(self, offset: int, above: tuple[bool, ...]) -> None:
        self.offset, self.above = offset, above
        self.draws: list[Draw] = []

    def noisy(self, kind: str, values: Counts, scale: float) -> Counts:
        self.draws.append(Draw(kind, tuple(values.tolist()), scale))
        if len(self.draws) == 1:
            return values + self.offset
        if len(self.draws) == 2:
            return np.where(np.array(self.above), self.offset, self.offset - 1)
        return deal_number(0, values.size)

    def below(self, limit: int) -> int:
        raise ValueError("a comparison must not choose at random")

    def happens(self, exponent: Fraction) -> bool:
        raise ValueError("a comparison must not choose at random")

    def picks(self, weights: Sequence[int]) -> int:
        raise ValueError("a comparison must not choose at random")

    def keeps(self, levels: int) -> bool:
        raise ValueError("a comparison must not choose at random")

    def fits(self, size: int, most: int) -> bool:
        raise ValueError("a comparison must not choose at random")


def compared_loss(
    mechanism: Callable[[Any], Any], first: Any, second: Any, answers: int
) -> tuple[float, str]:
    """The loss of a sparse vector on two neighbouring inputs, and where it shows.

    The first number that is perturbed is the threshold's offset, the next ones are the answers, and what
    comes after them are values that are given out. Every pattern of answers above and below is
    dealt at several thresholds, each answer as near to the threshold as it can be, to see what comes of
    it; the chance of each pattern is added up over all thresholds.

    Parameters
    ----------
    mechanism : callable
        `mechanism(data)`.
    answers : int
        How many there are.

    Returns
    -------
    tuple of float and str
        In nats, within 1e-6.
    """
    found = []
    for data in (first, second):
        seen = _patterns(mechanism, data, answers)
        if seen is None:
            return math.inf, "answers are not compared under noise, or more is told than what was above"
        found.append(seen)
    worst, where = 0.0, ""
    for a, b in (found, found[::-1]):
        for output, (here, pattern) in a.items():
            if output not in b:
                return math.inf, LEAKS
            there = b[output][0]
            noisy, moved = of_draws(here.draws, there.draws, 0.0)
            loss = math.log(here.chance) - math.log(there.chance) + noisy
            if loss > worst:
                worst = loss
                where = f"{pattern} ({here.chance:.3g} against {there.chance:.3g}){moved and ', '}{moved}"
    return max(worst - ROUNDING, 0.0), where


def _patterns(
    mechanism: Callable[[Any], Any], data: Any, answers: int
) -> dict[Any, tuple[Outcome, str]] | None:
    """Each output with its chance, the draws after the comparisons, and a pattern that leads to it.

    None where outputs do not follow from what is above a noisy threshold, or are the same if only one answer is and
    if none: something else decided about it.
    """
    found: dict[Any, tuple[Outcome, str]] = {}
    alone = set()
    for above in product((False, True), repeat=answers):
        shown = set()
        for offset in _OFFSETS:
            dealer = _Comparer(offset, above)
            with deal_randomness(dealer):
                shown.add(freeze_output(mechanism(data)))
            if [len(draw.values) for draw in dealer.draws[:2]] != [1, answers]:
                return None
        if len(shown) > 1:
            return None
        (output,) = shown
        if sum(above) <= 1:
            alone.add(output)
        threshold, compared, *after = dealer.draws
        pattern = "".join("+" if up else "-" for up in above)
        known, first = found.get(output, (Outcome(0.0, tuple(after)), pattern))
        found[output] = (
            Outcome(known.chance + chance_of_pattern(above, threshold, compared), known.draws),
            first,
        )
    return found if len(alone) == answers + 1 else None


@lru_cache(maxsize=1024)
def chance_of_pattern(above: tuple[bool, ...], threshold: Draw, compared: Draw) -> float:
    """Of answers above and below: summed over the threshold's offset, given which they are independent.

    Courses of a search begin alike: what was added up of one holds for the others.
    """
    step = max(1, round(threshold.scale / _FINE))
    most = math.ceil(_REACH * threshold.scale / step) + 1
    low = step * np.arange(-most, most, dtype=np.float64)
    high = low + step
    # Left of 0 by symmetry, where the difference of two chances near 1 would be lost in rounding.
    chances = np.where(
        low >= 0,
        _tail(np.maximum(low, 0), threshold.scale) - _tail(np.maximum(high, 0), threshold.scale),
        _tail(np.maximum(1 - high, 0), threshold.scale) - _tail(np.maximum(1 - low, 0), threshold.scale),
    )
    offsets = low + (step - 1) / 2 + threshold.values[0]
    for up, value in zip(above, compared.values, strict=True):
        away = offsets - value
        chances = chances * (_upper(away, compared.scale) if up else _upper(1 - away, compared.scale))
    return float(chances.sum())


def _upper(value: Rows, scale: float) -> Rows:
    """Pr(noise >= value)."""
    return np.where(
        value >= 0, _tail(np.maximum(value, 0), scale), 1 - _tail(np.maximum(1 - value, 0), scale)
    )


def _tail(value: Rows, scale: float) -> Rows:
    """Pr(noise >= value) for a value of at least 0: a**value / (1 + a) with a = exp(-1 / scale)."""
    return np.exp(-value / scale) / (1 + math.exp(-1 / scale))
