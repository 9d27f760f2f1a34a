"""Several options at once: a set of so many, by the exponential mechanism over all such sets."""

import math
from fractions import Fraction
from secrets import randbelow

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import option, positive, probability, real_numbers, whole_number, whole_numbers
from server.privacy.selection._exact import happens_with_exp, has_size
from server.privacy.selection.choice import NEIGHBOURS, rate_of

_HALVINGS = 40
_FAR = Fraction(1000)
"""In an exponent: what is further above is always taken, and what is further below never, wherever the centre is."""


def choose_several(
    utilities: ArrayLike, chosen: int, sensitivity: float, epsilon: float
) -> NDArray[np.int64]:
    """Choose a set S of so many options with Pr(S) proportional to exp(epsilon u(S) / (2 sensitivity)).

    u(S) is the sum of the utilities of its options.

    Parameters
    ----------
    utilities : array_like of float, shape (m,)
        How good each option is; finite.
    chosen : int
        How many options are wanted, from 1 to m - 1.
    sensitivity : float
        Half of the most by which one person changes the sum of one set more than that of another; above 0. For
        counts in which a person is in one option, 1/2 where people come or go, and 1 where one is replaced,
        however many are wanted: `several_sensitivity`.
    epsilon : float
        Privacy loss in nats, of the whole set.

    Returns
    -------
    ndarray of int64, shape (chosen,)
        The options, in ascending order: nothing is said of which of them is better.

    Raises
    ------
    ValueError
        If the utilities are not a vector of finite numbers, chosen is out of its range, or sensitivity or epsilon is
        not positive and finite.

    Notes
    -----
    Each option is taken with odds exp(rate u - t), independently, and the whole is done again until so many are
    taken: given their number, t makes no difference, and the distribution is exact, utilities and epsilon being
    the fractions their floats are. t is only chosen so that about so many are taken. The time depends on the utilities;
    do not let others time it.

    Choosing one after the other, or the largest of utilities with Gumbel noise, costs the loss of one choice
    `chosen` times. Here the sum over a set is one utility: a person who is in one option changes it by 1.

    References
    ----------
    McSherry and Talwar (2007).

    Examples
    --------
    >>> choose_several([3, 1000, 12, 2000], chosen=2, sensitivity=0.5, epsilon=1.0).tolist()
    [1, 3]
    """
    values = real_numbers("utilities", utilities)
    if values.ndim != 1:
        raise ValueError(f"utilities must be one vector; their shape is {values.shape}")
    whole_number("chosen", chosen, 1, max(values.size - 1, 1))
    rate = rate_of(sensitivity, epsilon, monotone=False)
    last = Fraction(float(np.sort(values)[-chosen]))
    # About the last that would be taken: so floats are exact enough to find t.
    above = {value: rate * (Fraction(value) - last) for value in set(values.tolist())}
    shift = _centre([float(min(max(above[value], -_FAR), _FAR)) for value in values.tolist()], chosen)
    exponents = [above[value] - shift for value in values.tolist()]
    while True:
        taken = np.flatnonzero([_is_taken(exponent) for exponent in exponents])
        if has_size(taken.size, chosen):
            return taken


def several_error(options: int, chosen: int, sensitivity: float, epsilon: float, failure: float) -> float:
    """How far below the last of the best the worst of the chosen can be, except with chance `failure`.

    (2 sensitivity / epsilon) ln(chosen (options - chosen) / failure). Where the best so many are further apart from
    the others, they are what is chosen, with the same chance.

    Raises
    ------
    ValueError
        If options is below 2, chosen is not from 1 to options - 1, failure is outside (0, 1), or another argument is
        not positive and finite.

    Notes
    -----
    Of two sets that differ in one option, b in the one and s in the other, the second is exp(-rate (u(b) - u(s)))
    times as likely. Added up over the sets with s and without b, that bounds the chance that s is chosen and b is not;
    there are chosen (options - chosen) such pairs of one of the best and one of the others.

    Examples
    --------
    >>> round(several_error(10, 3, sensitivity=0.5, epsilon=1.0, failure=0.05), 3)
    6.04
    """
    whole_number("options", options, 2)
    whole_number("chosen", chosen, 1, options - 1)
    probability("failure", failure, open_interval=True)
    scale = 2 * positive("sensitivity", sensitivity) / positive("epsilon", epsilon)
    return scale * (math.log(chosen) + math.log(options - chosen) - math.log(failure))


def several_sensitivity(weights: ArrayLike, chosen: int, neighbours: str = "unbounded") -> float:
    """Half of the most by which one person changes the sum of one set of options more than that of another.

    Parameters
    ----------
    weights : array_like of int, shape (options, cells)
        What a report in each cell adds to each utility: those of `estimate_utilities`; the identity where counts
        are what is compared. A person has one report, or none.
    chosen : int
        How many options a set has, from 1 to options - 1.
    neighbours : {"unbounded", "bounded"}

    Raises
    ------
    ValueError
        If the weights are not two rows or more of whole numbers, or chosen is out of its range.

    Examples
    --------
    >>> several_sensitivity([[1, 0, 0], [0, 1, 0], [0, 0, 1]], chosen=2)
    0.5
    >>> several_sensitivity([[1, 0, 0], [0, 1, 0], [0, 0, 1]], chosen=2, neighbours="bounded")
    1.0
    """
    option("neighbours", neighbours, NEIGHBOURS)
    rows = whole_numbers("weights", weights)
    if rows.ndim != 2 or len(rows) < 2:
        raise ValueError(f"weights must have a row for each option, two or more; their shape is {rows.shape}")
    whole_number("chosen", chosen, 1, len(rows) - 1)
    columns = np.unique(np.column_stack([rows, np.zeros(len(rows), dtype=np.int64)]), axis=1)
    if neighbours == "unbounded":
        return _largest_range(columns, chosen) / 2
    return max(_largest_range(columns - column[:, None], chosen) for column in columns.T) / 2


def _largest_range(changes: NDArray[np.int64], chosen: int) -> int:
    """Over the columns, how much more the sum of one set of rows can be than that of another."""
    ordered = np.sort(changes, axis=0)
    return int((ordered[-chosen:].sum(axis=0) - ordered[:chosen].sum(axis=0)).max())


def _centre(exponents: list[float], chosen: int) -> Fraction:
    """Where odds of exp(exponent - centre) let about so many be taken."""
    places = np.array(exponents)
    low, high = float(places.min() - _FAR), float(places.max() + _FAR)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if scipy.special.expit(places - middle).sum() > chosen else (low, middle)
    return Fraction(low)


def _is_taken(exponent: Fraction) -> bool:
    """An event of odds exp(exponent): one of two sides, the less likely of them kept with chance exp(-|exponent|)."""
    while True:
        likelier = randbelow(2) == 0
        if likelier or happens_with_exp(abs(exponent)):
            return likelier == (exponent > 0)
