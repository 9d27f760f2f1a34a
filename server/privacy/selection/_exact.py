"""Exact coins: events whose chance is a fraction, or exp of minus a fraction.

References
----------
Canonne, C., Kamath, G. and Steinke, T. (2020), algorithm 1.
"""

from fractions import Fraction
from secrets import randbelow


def happens_with_exp(exponent: Fraction) -> bool:
    """An event of chance exp(-exponent), for an exponent of at least 0."""
    numerator, denominator = exponent.numerator, exponent.denominator
    while numerator > denominator:
        if not _within_one(1, 1):
            return False
        numerator -= denominator
    return _within_one(numerator, denominator)


def _within_one(numerator: int, denominator: int) -> bool:
    """The same for a fraction x in [0, 1].

    The number of times in a row that coins of chance x, x/2, x/3, ... come up is even with
    chance 1 - x + x**2/2! - ... = exp(-x).
    """
    round_ = 1
    while randbelow(denominator * round_) < numerator:
        round_ += 1
    return round_ % 2 == 1
