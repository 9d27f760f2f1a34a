"""Losses and failure probabilities as exact numbers."""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from server.privacy._checks import is_number, probability

Number = int | float | Fraction | Decimal
"""What a privacy loss or a failure probability may be given as."""


@dataclass(frozen=True, eq=False)
class Loss(float):
    """A privacy guarantee: (epsilon, delta)-differential privacy.

    As a number it is its epsilon: it can be compared, printed and calculated with. Where a
    loss is booked, one with a delta is refused as a number, so that no delta is forgotten.

    Attributes
    ----------
    epsilon : float
        In nats, not negative; infinite when nothing is promised.
    delta : float
        Failure probability, in [0, 1]; 0 is pure differential privacy.

    Raises
    ------
    ValueError
        If epsilon is negative or no number, or delta is outside [0, 1].

    Examples
    --------
    >>> loss = Loss(0.5, 1e-6)
    >>> loss < 1, loss.delta
    (True, 1e-06)
    """

    epsilon: float
    delta: float = 0.0

    def __new__(cls, epsilon: float, delta: float = 0.0) -> "Loss":
        """Check both; the number is epsilon."""
        if not (is_number(epsilon) and epsilon >= 0):
            raise ValueError(f"epsilon must not be negative; it is {epsilon!r}")
        probability("delta", delta)
        return super().__new__(cls, epsilon)

    def __eq__(self, other: object) -> bool:
        """Of another guarantee both parts must be equal, of a number its epsilon."""
        if isinstance(other, Loss):
            return (self.epsilon, self.delta) == (other.epsilon, other.delta)
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        """Whatever is not equal; float has its own."""
        same = self.__eq__(other)
        return same if same is NotImplemented else not same

    def __hash__(self) -> int:
        """As the number that it equals."""
        return super().__hash__()


def exact_loss(name: str, value: object, *, zero: bool = True) -> Fraction:
    """A finite, non-negative number; a float is read as the shortest decimal that prints it.

    0.02 is then one fiftieth, and fifty of them are 1; as a binary fraction it is a little more.
    """
    if isinstance(value, Loss) and value.delta:
        raise ValueError(f"{name} must be a loss without a delta of its own; it is {value!r}")
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
    number = None if isinstance(value, bool) else _exact(value)
    if number is None or not 0 <= number < 1:
        raise ValueError(f"{name} must be in [0, 1); it is {value!r}")
    return number


def check_whole(name: str, value: object, low: int = 1, high: int = 1 << 53) -> int:
    """A whole number in [low, high]; up to 2**53 they are exact as floats."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise ValueError(f"{name} must be a whole number in [{low}, {high}]; it is {value!r}")
    return int(value)
