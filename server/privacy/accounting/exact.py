"""Losses and failure probabilities as exact numbers."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

Number = int | float | Fraction | Decimal
"""What a privacy loss or a failure probability may be given as."""


def exact_loss(name: str, value: object, *, zero: bool = True) -> Fraction:
    """A finite, non-negative number; a float is read as the shortest decimal that prints it.

    0.02 is then one fiftieth, and fifty of them are 1; as a binary fraction it is a little more.
    """
    number = None if isinstance(value, bool) else _exact(value)
    if number is None or number < 0 or (number == 0 and not zero):
        raise ValueError(
            f"{name} must be {'not negative' if zero else 'positive'} and finite; it is {value!r}"
        )
    return number


def _exact(value: object) -> Fraction | None:
    if isinstance(value, (int, Fraction)):
        return Fraction(value)
    if isinstance(value, np.integer):
        return Fraction(int(value))
    if isinstance(value, Decimal):
        return Fraction(value) if value.is_finite() else None
    if isinstance(value, (float, np.floating)):
        return Fraction(repr(float(value))) if math.isfinite(value) else None
    return None


def exact_probability(name: str, value: object) -> Fraction:
    """A failure probability in [0, 1)."""
    number = exact_loss(name, value)
    if number >= 1:
        raise ValueError(f"{name} must be in [0, 1); it is {value!r}")
    return number


def whole(name: str, value: object, low: int = 1) -> int:
    """A whole number that is at least `low`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < low:
        raise ValueError(f"{name} must be a whole number of at least {low}; it is {value!r}")
    return int(value)


def to_float(value: Fraction) -> float:
    """The nearest float; infinite above the largest."""
    try:
        return float(value)
    except OverflowError:
        return math.inf
