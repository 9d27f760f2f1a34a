"""Two samples under one design: the margin of a difference of shares, and the power to show one."""

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
    exact_share,
)
from server.privacy.planning.contrasts import compare_channels


def margin_two_samples(
    n_a: int,
    n_b: int,
    design: Design,
    confidence: float = 0.95,
    share_a: float = 0.5,
    share_b: float = 0.5,
) -> float:
    """Half the width of the interval for a difference of two shares.

    z sqrt(lam_a (1 - lam_a) / n_a + lam_b (1 - lam_b) / n_b) / abs(Pr(yes | yes) - Pr(yes | no)).

    Parameters
    ----------
    n_a, n_b : int
        Respondents in each group, from 1 up.
    design : Design
        Shape (2, 2), the same for both groups.
    confidence : float
        In (0, 1).
    share_a, share_b : float
        The true shares of "yes", in [0, 1].

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
    >>> round(margin_two_samples(3074, 3074, coin_flip(0.25)), 4)
    0.05
    """
    line = channel(design)
    z = confidence_value(confidence)
    variance = line.variance(exact_share("share_a", share_a)) / whole_number("n_a", n_a, 1)
    variance += line.variance(exact_share("share_b", share_b)) / whole_number("n_b", n_b, 1)
    return z * math.sqrt(float(variance / line.slope**2))


def respondents_for_margin_two_samples(
    margin: float,
    design: Design,
    confidence: float = 0.95,
    share_a: float = 0.5,
    share_b: float = 0.5,
    ratio: int = 1,
) -> int:
    """The fewest respondents in group A that make a difference of two shares this precise.

    Parameters
    ----------
    margin : float
        Half the width of the interval for the difference, a fraction in (0, 1).
    design, confidence, share_a, share_b
        As in `margin_two_samples`.
    ratio : int
        Respondents in group B for each one in group A, a whole number from 1 up.

    Returns
    -------
    int
        Respondents in group A; group B needs `ratio` times as many.

    Raises
    ------
    ValueError
        As `margin_two_samples`.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> respondents_for_margin_two_samples(0.05, coin_flip(0.25))
    3074
    """
    half = Fraction(probability("margin", margin, open_interval=True))
    line = channel(design)
    z = Fraction(confidence_value(confidence))
    variance = line.variance(exact_share("share_a", share_a))
    variance += line.variance(exact_share("share_b", share_b)) / whole_number("ratio", ratio, 1)
    return ceiling(z**2 * variance / (line.slope * half) ** 2)


def power_two_samples(
    n_a: int,
    n_b: int,
    share_a: float,
    share_b: float,
    design: Design,
    alpha: float = 0.05,
    sides: int = 2,
) -> float:
    """Chance that two groups of these sizes show their shares to differ.

    The normal test of two shares of "yes" reports, with the pooled variance (what both groups have
    when the null hypothesis is true) in its critical value and the separate ones in its deviation; no
    correction for continuity. With a direct question it is R's `power.prop.test`, both tails counted.

    Parameters
    ----------
    n_a, n_b : int
        Respondents in each group, from 1 up.
    share_a, share_b : float
        The true shares of "yes", in [0, 1]. Where they are equal, the power is alpha.
    design : Design
        Shape (2, 2), the same for both groups.
    alpha : float
        Chance of a false alarm, in (0, 1).
    sides : {1, 2}
        A one-sided test looks to the side on which the true difference is.

    Returns
    -------
    float
        A probability.

    Raises
    ------
    ValueError
        If an argument is outside its range, or the design is not 2 x 2 or cannot be inverted.

    References
    ----------
    Fleiss, Levin and Paik (2003), section 4.2.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> round(power_two_samples(2000, 2000, 0.1, 0.2, coin_flip(0.25)), 3)
    0.922
    """
    whole_number("n_a", n_a, 1)
    if whole_number("n_b", n_b, 1) < n_a:
        # The test treats both groups alike; the units of the smaller one keep its terms within floats.
        n_a, n_b, share_a, share_b = n_b, n_a, share_b, share_a
    line = channel(design)
    return _compare(share_a, share_b, line, alpha, sides, Fraction(int(n_b), int(n_a))).power(int(n_a))


def respondents_for_power_two_samples(
    share_a: float,
    share_b: float,
    design: Design,
    power: float = 0.8,
    alpha: float = 0.05,
    sides: int = 2,
    ratio: int = 1,
) -> int:
    """The fewest respondents in group A that show two shares to differ with this power.

    Parameters
    ----------
    share_a, share_b, design, alpha, sides
        As in `power_two_samples`; the shares are different numbers.
    power : float
        In (0, 1).
    ratio : int
        Respondents in group B for each one in group A, a whole number from 1 up: the sizes
        stay in proportion, so that the power rises with every respondent in group A.

    Returns
    -------
    int
        Respondents in group A; group B needs `ratio` times as many.

    Raises
    ------
    ValueError
        As `power_two_samples`, and if the two shares are equal.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> respondents_for_power_two_samples(0.1, 0.2, coin_flip(0.25))
    1377
    """
    probability("power", power, open_interval=True)
    per_person = Fraction(whole_number("ratio", ratio, 1))
    comparison = _compare(share_a, share_b, channel(design), alpha, sides, per_person)
    if comparison.squared == 0:
        raise ValueError(f"share_a must be in [0, 1] and differ from share_b; both are {share_a!r}")
    return comparison.respondents(power)


def _compare(
    share_a: float, share_b: float, line: Channel, alpha: float, sides: int, ratio: Fraction
) -> Comparison:
    """The test, in units in which the difference grows with the square root of group A's size."""
    shares = [exact_share("share_a", share_a), exact_share("share_b", share_b)]
    return compare_channels(shares, [line, line], [Fraction(1), ratio], None, alpha, sides)
