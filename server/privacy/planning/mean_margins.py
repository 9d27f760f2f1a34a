"""Means: of a number that was rounded at random to one of two ends, and of an ordered scale."""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import finite, positive, whole_number
from server.privacy.designs import Design
from server.privacy.planning.comparison import ceiling, confidence_value
from server.privacy.planning.estimand import mean_of, true_shares, variances


def margin_mean(
    n: int,
    design: Design,
    low: float,
    high: float,
    confidence: float = 0.95,
    shares: ArrayLike | None = None,
    answered: float | None = None,
) -> float:
    """Half the width of the interval for a mean that n respondents are expected to give.

    Parameters
    ----------
    n : int
        Respondents, from 1 up.
    design : Design
        Shape (k, m), invertible. As in `estimators.estimate_mean`, its truths stand for k equally spaced values
        from low to high; with k = 2 a number was first rounded at random to one of the two.
    low, high : float
        Finite, low < high, in the unit of the number; 0 and 1 for a margin in parts of the range.
    confidence : float
        In (0, 1).
    shares : array_like, shape (k,), optional
        The true shares of the k values, with the sum 1; for a rounded number with the mean mu the second is
        (mu - low) / (high - low). None: the true shares that make the interval widest.
    answered : float, optional
        None: everybody's truth is a number. Otherwise the last truth of the design is "prefer not to say", as in
        `estimators.estimate_answered_mean`, and this share of the people, in [1e-6, 1], gives a number; `shares`, if
        given, say themselves how many.

    Returns
    -------
    float
        In the unit of low and high. It includes what rounding at random adds.

    Raises
    ------
    ValueError
        If an argument is outside its range, or the design cannot be inverted.

    References
    ----------
    Duchi, J. C., Jordan, M. I. and Wainwright, M. J. (2013). Local privacy and statistical minimax rates. *FOCS*.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> round(margin_mean(1537, coin_flip(0.25), low=0, high=40), 3)
    2.0
    """
    estimands, width = [mean_of(design, answered)], _width(low, high)
    (variance,) = variances(estimands, true_shares(design, estimands, shares, answered))
    z = confidence_value(confidence)
    return float(width) * z * math.sqrt(float(variance / whole_number("n", n, 1)))


def respondents_for_margin_mean(
    margin: float,
    design: Design,
    low: float,
    high: float,
    confidence: float = 0.95,
    shares: ArrayLike | None = None,
    answered: float | None = None,
) -> int:
    """The fewest respondents with whom the interval for a mean is expected to be at most this wide on each side.

    Parameters
    ----------
    margin : float
        Half the width, positive and finite, in the unit of low and high.
    design, low, high, confidence, shares, answered
        As in `margin_mean`. Without `shares` the promise holds whatever the true answers are.

    Returns
    -------
    int
        The smallest n with n >= (z (high - low) / margin)**2 variance, the variance in double precision.

    Raises
    ------
    ValueError
        As `margin_mean`.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip, ordinal
    >>> respondents_for_margin_mean(2, coin_flip(0.25), low=0, high=40)
    1537
    >>> respondents_for_margin_mean(0.2, ordinal(5, 2.0), low=1, high=5)
    1115

    With "prefer not to say" as a third answer, which a tenth of the people choose:

    >>> from server.privacy.designs import k_ary
    >>> respondents_for_margin_mean(2, k_ary(3, 1.0986122886681098), low=0, high=40, answered=0.9)
    2253
    """
    half = Fraction(positive("margin", margin))
    estimands, width = [mean_of(design, answered)], _width(low, high)
    (variance,) = variances(estimands, true_shares(design, estimands, shares, answered))
    return ceiling((Fraction(confidence_value(confidence)) * width / half) ** 2 * variance)


def worst_shares_mean(design: Design, answered: float | None = None) -> NDArray[np.float64]:
    """The true shares for which `respondents_for_margin_mean` plans when it is given none.

    Parameters
    ----------
    design : Design
        Shape (k, m), invertible.
    answered : float, optional
        As in `margin_mean`.

    Returns
    -------
    ndarray, shape (k,)
        With the sum 1; at most two numbers are above 0. No true shares make the interval wider.

    Raises
    ------
    ValueError
        If the design cannot be inverted.

    Examples
    --------
    Half of the people at each end of the scale:

    >>> from server.privacy.designs import ordinal
    >>> worst_shares_mean(ordinal(5, 2.0)).round(6).tolist()
    [0.5, 0.0, 0.0, 0.0, 0.5]
    """
    return true_shares(design, [mean_of(design, answered)], None, answered)[0]


def _width(low: float, high: float) -> Fraction:
    bottom, top = finite("low", low), finite("high", high)
    if not (bottom < top and math.isfinite(top - bottom)):
        raise ValueError(f"low and high must be finite with low < high; they are {low!r} and {high!r}")
    return Fraction(top) - Fraction(bottom)
