"""Exact rounding: probabilities to integers that add up, exponentials from below."""

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from server.privacy._checks import finite, whole_number
from server.privacy.designs.coins import TOTAL

DIGITS = 60
"""Of every decimal computation; a float has 17."""

_LARGEST_EXPONENT = 64.0
# No two weights differ by more than a factor of 2**32, which is below e**23: a larger epsilon changes nothing.


def round_up(epsilon: float, decimals: int = 4) -> float:
    """Round a privacy loss up for display, so that it is never shown smaller than it is.

    Raises
    ------
    ValueError
        If epsilon is not finite, or decimals is not a whole number in [0, 15].

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> round_up(coin_flip(0.25).epsilon)
    1.0987
    """
    loss, digits = finite("epsilon", epsilon), whole_number("decimals", decimals, 0, 15)
    with localcontext(prec=400):  # all the digits that a float can have
        return float(Decimal(loss).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_CEILING))


# A page of the editor asks for the same few losses hundreds of times, and each is computed to sixty digits.
@lru_cache(maxsize=4096)
def log_from_above(ratio: Fraction) -> float:
    """The smallest float that is not below ln(ratio)."""
    with localcontext(prec=DIGITS):
        exact = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
        nearest = float(exact)
        return nearest if Decimal(nearest) >= exact else math.nextafter(nearest, math.inf)


@lru_cache(maxsize=4096)
def exp_from_below(epsilon: float) -> Fraction:
    """A fraction below e**min(epsilon, 64), by less than one part in 10**59.

    Integers whose ratio does not exceed it lose no more than epsilon.
    """
    with localcontext(prec=DIGITS):
        return Fraction(Decimal(float(min(epsilon, _LARGEST_EXPONENT))).exp().next_minus())


def nearest_weight(share: Fraction) -> int:
    """The nearest multiple of 2**-32 that is neither 0 nor 1, so that no report becomes certain."""
    return min(max(math.floor(share * TOTAL + Fraction(1, 2)), 1), TOTAL - 1)


def apportion(row: Sequence[int], total: int) -> list[int]:
    """Share `total` out in proportion to a row (largest remainders, so that it adds up)."""
    whole = sum(row)
    parts = [divmod(weight * total, whole) for weight in row]
    shares = [share for share, _ in parts]
    by_remainder = sorted(range(len(row)), key=lambda y: (-parts[y][1], y))
    for y in by_remainder[: total - sum(shares)]:
        shares[y] += 1
    return shares


def apportion_weights(row: Sequence[int]) -> list[int]:
    """Weights in proportion to a row; what is possible stays possible, at the cost of the largest."""
    weights = apportion(row, TOTAL)
    lost = [y for y, weight in enumerate(weights) if weight == 0 and row[y] > 0]
    for y in lost:
        weights[y] = 1
    weights[weights.index(max(weights))] -= len(lost)
    return weights
