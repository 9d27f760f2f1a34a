"""What one- and two-sample plans share: the channel, the normal test, the search for the smallest n."""

import math
from dataclasses import dataclass
from fractions import Fraction

import scipy

from server.privacy._checks import probability, whole_number
from server.privacy.designs import TOTAL, Design
from server.privacy.designs.design import require_design

_CERTAIN = Fraction(10) ** 300
"""A squared signal beyond every critical value, and still a float."""


@dataclass(frozen=True)
class Channel:
    """From true shares to shares of "yes" reports: reported = if_no + slope * share, exactly."""

    if_no: Fraction
    slope: Fraction

    def variance(self, share: Fraction) -> Fraction:
        """Of one report, when this is the true share."""
        reported = self.if_no + self.slope * share
        return reported * (1 - reported)


DIRECT = Channel(Fraction(0), Fraction(1))
"""A direct question: what is entered is what is sent."""


@dataclass(frozen=True)
class Comparison:
    """A normal test of a difference, in units in which the difference grows with sqrt(n).

    Attributes
    ----------
    squared : Fraction
        Square of the difference between two shares of "yes" reports.
    critical : float
        Its critical value times sqrt(n).
    deviation : float
        Standard deviation of its estimate times sqrt(n), when the alternative is true.
    sides : int
        1 or 2.
    """

    squared: Fraction
    critical: float
    deviation: float
    sides: int

    def power(self, n: int) -> float:
        """Chance of rejecting with n respondents."""
        # Multiplied as a fraction, because n may be larger than any float.
        signal = math.sqrt(float(min(self.squared * n, _CERTAIN)))
        chance = scipy.special.ndtr((signal - self.critical) / self.deviation)
        if self.sides == 2:
            chance += scipy.special.ndtr((-signal - self.critical) / self.deviation)
        return min(float(chance), 1.0)

    def respondents(self, power: float) -> int:
        """The smallest n whose power is at least this one.

        The power rises with n, so that doubling and halving find it. One-sided: the argument of Phi
        rises. Two-sided: with signal s and critical value c > 0 (alpha / 2 is below 1/2), the
        derivative in s is proportional to phi((s - c) / d) - phi((s + c) / d), which is positive
        because |s - c| < s + c.
        """
        high = 1
        while self.power(high) < power:
            high *= 2
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.power(middle) >= power else (middle, high)
        return high


def channel(design: Design) -> Channel:
    """The channel of a yes/no design."""
    if require_design(design).weights.shape != (2, 2):
        raise ValueError(f"design must have shape (2, 2); it has {design.weights.shape}")
    if_no, if_yes = (Fraction(weight, TOTAL) for weight in design.weights[:, 1].tolist())
    if if_no == if_yes:
        raise ValueError("design must tell the two answers apart; its rows are equal")
    return Channel(if_no, if_yes - if_no)


def exact_share(name: str, share: float | Fraction) -> Fraction:
    """A share in [0, 1] as the fraction that it is."""
    number = probability(name, share)
    return share if isinstance(share, Fraction) else Fraction(number)


def critical_value(alpha: float, sides: int) -> float:
    """The standard normal deviation that chance exceeds with probability alpha."""
    whole_number("sides", sides, 1, 2)
    value = -float(scipy.special.ndtri(probability("alpha", alpha, open_interval=True) / sides))
    if math.isinf(value):
        raise ValueError(f"alpha must be in (0, 1) and at least 1e-300; it is {alpha!r}")
    return value


def confidence_value(confidence: float) -> float:
    """Half the width of a two-sided interval in standard deviations."""
    return -float(scipy.special.ndtri((1 - probability("confidence", confidence, open_interval=True)) / 2))


def ceiling(n: Fraction) -> int:
    """At least one respondent."""
    return max(1, math.ceil(n))
