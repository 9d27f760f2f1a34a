"""One question with several true answers: the margins of their shares, whatever the design."""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import probability, whole_number
from server.privacy.designs import Design
from server.privacy.planning.comparison import ceiling, confidence_value
from server.privacy.planning.estimand import shares_of, true_shares, variances


def margin_shares(
    n: int, design: Design, confidence: float = 0.95, shares: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Half the widths of the intervals that n respondents are expected to give, one for each answer.

    z sqrt(variance / n), where the variance of one report is the sum over reports y of o_y L[x, y]**2, less the
    square of the share: o are the expected shares of the reports, L is the estimator's left inverse.

    Parameters
    ----------
    n : int
        Respondents, from 1 up.
    design : Design
        Shape (k, m), invertible.
    confidence : float
        In (0, 1), of each interval by itself.
    shares : array_like, shape (k,), optional
        The true shares, with the sum 1. None: for each answer the true shares that make its own interval
        widest, so that no true shares give a wider one.

    Returns
    -------
    ndarray, shape (k,)
        Fractions, not percent; may exceed 1.

    Raises
    ------
    ValueError
        If an argument is outside its range, or the design cannot be inverted.

    References
    ----------
    Wang et al. (2017), section 4, for the variances of k-ary response and of unary encoding.

    Examples
    --------
    >>> from server.privacy.designs import k_ary, ordinal
    >>> margin_shares(1000, k_ary(4, 1.0)).round(4).tolist()
    [0.103, 0.103, 0.103, 0.103]
    >>> margin_shares(1000, ordinal(3, 2.0), shares=[0.2, 0.5, 0.3]).round(4).tolist()
    [0.0598, 0.092, 0.0637]
    """
    estimands = shares_of(design)
    spreads = variances(estimands, true_shares(design, estimands, shares))
    z, respondents = confidence_value(confidence), whole_number("n", n, 1)
    # Inside one fraction: n may be larger than any float.
    return np.array([z * math.sqrt(float(variance / respondents)) for variance in spreads])


def respondents_for_margin_shares(
    margin: float, design: Design, confidence: float = 0.95, shares: ArrayLike | None = None
) -> int:
    """The fewest respondents with whom every answer's interval is expected to be at most this wide on each side.

    Parameters
    ----------
    margin : float
        Half the width of the widest of the intervals, a fraction in (0, 1).
    design, confidence, shares
        As in `margin_shares`. Without `shares` the promise holds whatever the true shares are.

    Returns
    -------
    int
        The smallest n with n >= z**2 variance / margin**2, the variance in double precision.

    Raises
    ------
    ValueError
        As `margin_shares`.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip, k_ary
    >>> respondents_for_margin_shares(0.05, k_ary(4, 1.0986122886681098))
    3458
    >>> respondents_for_margin_shares(0.05, coin_flip(0.25))
    1537
    """
    half = Fraction(probability("margin", margin, open_interval=True))
    estimands = shares_of(design)
    z = Fraction(confidence_value(confidence))
    return ceiling(z**2 * max(variances(estimands, true_shares(design, estimands, shares))) / half**2)


def worst_shares(design: Design) -> NDArray[np.float64]:
    """The true shares for which `respondents_for_margin_shares` plans when it is given none.

    Parameters
    ----------
    design : Design
        Shape (k, m), invertible.

    Returns
    -------
    ndarray, shape (k,)
        With the sum 1; at most two are above 0. No true shares make any answer's interval wider than
        these make the widest one.

    Raises
    ------
    ValueError
        If the design cannot be inverted.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip, kuk
    >>> worst_shares(coin_flip(0.25)).tolist()
    [0.5, 0.5]
    >>> worst_shares(kuk(0.8, 0.3)).round(6).tolist()
    [0.6, 0.4]
    """
    estimands = shares_of(design)
    shares = true_shares(design, estimands, None)
    spreads = variances(estimands, shares)
    return shares[spreads.index(max(spreads))]
