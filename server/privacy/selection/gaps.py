"""The exponential mechanism where many options are equally good, as the numbers between two rows of a table are."""

import math
import sys
from fractions import Fraction
from secrets import randbelow

import numpy as np
from numpy.typing import ArrayLike

from server.privacy._checks import check_range, real_numbers, whole_numbers
from server.privacy.selection._exact import happens_with_exp, keep_levels, pick_weighted
from server.privacy.selection.choice import rate_of

_DEEPEST = 64
"""Gaps whose exponents are at least this are proposed as if theirs was this: hardly ever, and mostly for nothing."""
_SHARES = [3**level * 8 ** (_DEEPEST - level) for level in range(_DEEPEST + 1)]
"""In proportion to which an option of each level is proposed."""
_MOST = 1 << 62
"""Options in all gaps together."""
_LARGEST_FLOAT = Fraction(sys.float_info.max)


def choose_in_gaps(
    utilities: ArrayLike, sizes: ArrayLike, sensitivity: float, epsilon: float, monotone: bool = False
) -> tuple[int, int]:
    """Choose one of all options with Pr(r) proportional to exp(epsilon u(r) / (2 sensitivity)).

    Parameters
    ----------
    utilities : array_like of float, shape (m,)
        How good each option of a gap is, one for each gap; finite.
    sizes : array_like of int, shape (m,)
        How many options there are in each gap, from 1 to 2**62 / m.
    sensitivity, epsilon, monotone
        As for `exponential_mechanism`.

    Returns
    -------
    tuple of int
        The gap, and which of its options, from 0 on.

    Raises
    ------
    ValueError
        As `exponential_mechanism`; or if the sizes are not as many whole numbers in their range.

    Notes
    -----
    An option with the exponent x = epsilon (best - u) / (2 sensitivity) and its whole part j is proposed in proportion
    to (3/8)**j, and kept with chance exp(-(x - j)) (8 / (3 e))**j, both exactly: about one proposal in three is
    kept, however many options there are. The time taken still depends on the utilities; do not let others time it.

    References
    ----------
    McSherry and Talwar (2007); for quantiles Smith (2011).

    Examples
    --------
    >>> choose_in_gaps([-900.0, 0.0], [1_000_000, 1], sensitivity=1.0, epsilon=1.0)
    (1, 0)
    """
    values, lengths = real_numbers("utilities", utilities), whole_numbers("sizes", sizes)
    if values.ndim != 1 or lengths.shape != values.shape:
        raise ValueError(
            "utilities and sizes must be two vectors of one length; "
            f"their shapes are {values.shape} and {lengths.shape}"
        )
    check_range("sizes", lengths, 1, _MOST // max(lengths.size, 1))
    rate, best = rate_of(sensitivity, epsilon, monotone), Fraction(float(values.max()))
    deepest = min(math.floor(rate * (best - Fraction(float(values.min())))), _DEEPEST)
    # Compared with floats that are exactly at or below the fraction where each level begins: no level is mistaken.
    begins = np.array([_float_below(best - level / rate) for level in range(deepest, 0, -1)])
    levels = deepest - np.searchsorted(begins, values, side="left")
    members = [np.flatnonzero(levels == level) for level in range(deepest + 1)]
    ends = [np.cumsum(lengths[own]) for own in members]
    weights = [
        int(own[-1]) * share if own.size else 0
        for own, share in zip(ends, _SHARES[: deepest + 1], strict=True)
    ]
    while True:
        level = pick_weighted(weights)
        option = randbelow(int(ends[level][-1]))
        place = int(np.searchsorted(ends[level], option, side="right"))
        gap = int(members[level][place])
        exponent = rate * (best - Fraction(float(values[gap])))
        if keep_levels(level) and happens_with_exp(exponent - level):
            return gap, option - (int(ends[level][place - 1]) if place else 0)


def _float_below(number: Fraction) -> float:
    """The largest float that is not above a number; -inf where there is none."""
    if number < -_LARGEST_FLOAT:
        return -math.inf
    near = float(number)
    return near if Fraction(near) <= number else math.nextafter(near, -math.inf)
