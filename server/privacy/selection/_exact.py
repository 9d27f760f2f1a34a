"""Exact coins: events whose chance is a fraction, or exp of minus a fraction.

References
----------
Canonne, C., Kamath, G. and Steinke, T. (2020), algorithm 1.
"""

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from secrets import randbelow


def happens_with_exp(exponent: Fraction) -> bool:
    """An event of chance exp(-exponent), for an exponent of at least 0."""
    numerator, denominator = exponent.numerator, exponent.denominator
    while numerator > denominator:
        if not _within_one(1, 1):
            return False
        numerator -= denominator
    return _within_one(numerator, denominator)


def pick_weighted(weights: Sequence[int]) -> int:
    """The place of a weight, with a chance in proportion to it."""
    ends = list(accumulate(weights))
    return bisect_right(ends, randbelow(ends[-1]))


def has_size(size: int, target: int) -> bool:
    """Whether as many were taken as are wanted; else all of it is drawn again."""
    return size == target


def keep_levels(levels: int) -> bool:
    """An event of chance (8 / (3 e))**levels."""
    return all(_keeps_level() for _ in range(levels))


def _keeps_level() -> bool:
    """An event of chance 8 / (3 e) = 1 - 1/45 + 1/(45 6) - 1/(45 6 7) + ..., from the series of exp(-1).

    The number of times in a row that coins of chance 1/45, 1/6, 1/7, ... come up is even with that chance.
    """
    if randbelow(45):
        return True
    came_up = 1
    while randbelow(came_up + 5) == 0:
        came_up += 1
    return came_up % 2 == 0


def _within_one(numerator: int, denominator: int) -> bool:
    """The same for a fraction x in [0, 1].

    The number of times in a row that coins of chance x, x/2, x/3, ... come up is even with
    chance 1 - x + x**2/2! - ... = exp(-x).
    """
    round_ = 1
    while randbelow(denominator * round_) < numerator:
        round_ += 1
    return round_ % 2 == 1
