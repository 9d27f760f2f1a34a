"""One sample: the margin of an estimated share, and the power of a test against a fixed one."""

import math
from fractions import Fraction

from server.privacy._checks import probability, whole_number
from server.privacy.designs import Design
from server.privacy.planning.comparison import (
    Channel,
    Comparison,
    ceiling,
    channel,
    confidence_value,
    critical_value,
    exact_share,
)


def margin(n: int, design: Design, confidence: float = 0.95, share: float = 0.5) -> float:
    """Half the width of the interval that n respondents are expected to give.

    With lam the share of "yes" reports that `share` leads to:
    z sqrt(lam (1 - lam) / n) / abs(Pr(yes | yes) - Pr(yes | no)).

    Parameters
    ----------
    n : int
        Respondents, from 1 up.
    design : Design
        Shape (2, 2).
    confidence : float
        In (0, 1).
    share : float
        The true share of "yes", in [0, 1]. Under a symmetric design 1/2 is the worst case.

    Returns
    -------
    float
        A fraction, not percent; may exceed 1.

    Raises
    ------
    ValueError
        If an argument is outside its range, or the design is not 2 x 2 or cannot be inverted.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> round(margin(1537, coin_flip(0.25)), 4)
    0.05
    """
    line = channel(design)
    z = confidence_value(confidence)
    # Inside one fraction: n may be larger than any float.
    squared = line.variance(exact_share("share", share)) / line.slope**2 / whole_number("n", n, 1)
    return z * math.sqrt(float(squared))


def respondents_for_margin(
    margin: float, design: Design, confidence: float = 0.95, share: float = 0.5
) -> int:
    """The fewest respondents whose interval is expected to be at most this wide on each side.

    Parameters
    ----------
    margin : float
        Half the width, a fraction in (0, 1): 0.05 is five percentage points.
    design, confidence, share
        As in `margin`.

    Returns
    -------
    int
        The smallest n with n >= z**2 lam (1 - lam) / (slope * margin)**2, where slope is
        Pr(yes | yes) - Pr(yes | no); exact given z.

    Raises
    ------
    ValueError
        As `margin`.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> respondents_for_margin(0.05, coin_flip(0.25))
    1537
    """
    half = Fraction(probability("margin", margin, open_interval=True))
    line = channel(design)
    z = Fraction(confidence_value(confidence))
    return ceiling(z**2 * line.variance(exact_share("share", share)) / (line.slope * half) ** 2)


def power(n: int, share: float, null: float, design: Design, alpha: float = 0.05, sides: int = 2) -> float:
    """Chance that n respondents show a share to differ from another one.

    The normal test of the share of "yes" reports, with the variance under the null hypothesis in
    its critical value: Phi((abs(lam1 - lam0) sqrt(n) - z sd0) / sd1), and when two-sided the other
    tail as well, sd = sqrt(lam (1 - lam)).

    Parameters
    ----------
    n : int
        Respondents, from 1 up.
    share : float
        The true share of "yes", in [0, 1].
    null : float
        The share that the null hypothesis claims, in [0, 1]. Where it equals `share`, the
        power is alpha.
    design : Design
        Shape (2, 2).
    alpha : float
        Chance of a false alarm, in (0, 1).
    sides : {1, 2}
        A one-sided test looks to the side on which `share` is.

    Returns
    -------
    float
        A probability.

    Raises
    ------
    ValueError
        If an argument is outside its range, or the design is not 2 x 2 or cannot be inverted.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> round(power(483, 0.1, 0.0, coin_flip(0.25), sides=1), 3)
    0.801
    """
    return compare(share, null, channel(design), alpha, sides).power(whole_number("n", n, 1))


def respondents_for_power(
    share: float, null: float, design: Design, power: float = 0.8, alpha: float = 0.05, sides: int = 2
) -> int:
    """The fewest respondents that show a share to differ from another one with this power.

    Parameters
    ----------
    share, null : float
        In [0, 1], as in the function `power`; different numbers.
    design : Design
        Shape (2, 2).
    power : float
        In (0, 1).
    alpha, sides
        As in the function `power`.

    Returns
    -------
    int
        The smallest n whose power is at least this one.

    Raises
    ------
    ValueError
        As the function `power`, and if share and null are equal.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> respondents_for_power(0.1, 0.0, coin_flip(0.25), sides=1)
    483
    """
    probability("power", power, open_interval=True)
    comparison = compare(share, null, channel(design), alpha, sides)
    if comparison.squared == 0:
        raise ValueError(f"share must be in [0, 1] and differ from null; both are {share!r}")
    return comparison.respondents(power)


def compare(share: float, null: float, line: Channel, alpha: float, sides: int) -> Comparison:
    """The one-sample test of a share under a channel."""
    true, claimed = exact_share("share", share), exact_share("null", null)
    return Comparison(
        squared=(line.slope * (true - claimed)) ** 2,
        critical=critical_value(alpha, sides) * math.sqrt(line.variance(claimed)),
        deviation=math.sqrt(line.variance(true)),
        sides=sides,
    )
