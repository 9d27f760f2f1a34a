"""One option out of several: the exponential mechanism and permute-and-flip."""

import math
from fractions import Fraction
from secrets import randbelow

from numpy.typing import ArrayLike

from server.privacy._checks import (
    check_range,
    flag,
    option,
    positive,
    probability,
    real_numbers,
    whole_number,
    whole_numbers,
)
from server.privacy.selection._exact import happens_with_exp

NEIGHBOURS = ("unbounded", "bounded")


def exponential_mechanism(
    utilities: ArrayLike, sensitivity: float, epsilon: float, monotone: bool = False
) -> int:
    """Choose an option with Pr(r) proportional to exp(epsilon u(r) / (2 sensitivity)).

    Parameters
    ----------
    utilities : array_like of float, shape (m,)
        How good each option is; finite.
    sensitivity : float
        The most by which one person changes any one utility, above 0.
    epsilon : float
        Privacy loss in nats.
    monotone : bool
        Whether one person more can only raise utilities or only lower them, all in the
        same direction (counts, under unbounded neighbours). The 2 is then not needed.

    Returns
    -------
    int
        The index of the option; nothing else about the utilities.

    Raises
    ------
    ValueError
        If the utilities are empty, not a vector or not finite, or sensitivity or epsilon
        is not positive and finite.

    Notes
    -----
    An option is drawn uniformly and kept with chance exp(-rate * (best - u)), until one is
    kept: the distribution is exact, utilities and epsilon being the fractions their floats
    are. The time taken depends on the utilities; do not let others time it.

    References
    ----------
    McSherry and Talwar (2007).

    Examples
    --------
    >>> exponential_mechanism([0.0, 1000.0, 3.0], sensitivity=1.0, epsilon=1.0)
    1
    """
    exponents = _exponents(utilities, sensitivity, epsilon, monotone)
    while not happens_with_exp(exponents[index := randbelow(len(exponents))]):
        pass
    return index


def noisy_maximum(counts: ArrayLike, epsilon: float, neighbours: str = "unbounded") -> int:
    """Which option is the most common: report-noisy-max as permute-and-flip.

    Parameters
    ----------
    counts : array_like of int, shape (m,)
        People per option, each person counted in one option or several; not negative.
    epsilon : float
        Privacy loss in nats.
    neighbours : {"unbounded", "bounded"}
        Adding a person moves all counts upwards, so that exp(epsilon u) may be used;
        replacing one moves counts both ways and needs exp(epsilon u / 2).

    Returns
    -------
    int
        The index alone. Its count costs a privacy loss of its own.

    Raises
    ------
    ValueError
        If the counts are empty, not a vector, not whole or negative, or epsilon is not
        positive and finite.

    Notes
    -----
    Options are visited in random order; each is taken with chance
    exp(-rate * (largest - count)), the first one taken is the answer. The same as adding
    one-sided exponential noise to each count and reporting the largest, and never worse
    in expectation than the exponential mechanism.

    References
    ----------
    McKenna and Sheldon (2020); their equivalence with exponential noise: Ding et al. (2021).

    Examples
    --------
    >>> noisy_maximum([3, 1000, 12], epsilon=1.0)
    1
    """
    option("neighbours", neighbours, NEIGHBOURS)
    whole = whole_numbers("counts", counts)
    check_range("counts", whole, 0, 1 << 53)
    exponents = _exponents(whole, 1.0, epsilon, neighbours == "unbounded", name="counts")
    waiting = list(range(len(exponents)))
    while True:
        place = randbelow(len(waiting))
        waiting[place], waiting[-1] = waiting[-1], waiting[place]
        index = waiting.pop()
        if happens_with_exp(exponents[index]):
            return index


def selection_error(
    options: int, sensitivity: float, epsilon: float, failure: float, monotone: bool = False
) -> float:
    """How far below the best the chosen utility can be, except with chance `failure`.

    (2 sensitivity / epsilon) (ln options + ln(1 / failure)); half of it when monotone. It
    holds for both mechanisms.

    Raises
    ------
    ValueError
        If options is below 1, failure is outside (0, 1), or another argument is not
        positive and finite.

    References
    ----------
    Dwork and Roth (2014), theorem 3.11.

    Examples
    --------
    >>> round(selection_error(10, 1.0, 1.0, failure=0.05), 3)
    10.597
    """
    whole_number("options", options, 1)
    probability("failure", failure, open_interval=True)
    scale = positive("sensitivity", sensitivity) / positive("epsilon", epsilon)
    return (1 if flag("monotone", monotone) else 2) * scale * (math.log(options) - math.log(failure))


def rate_of(sensitivity: float, epsilon: float, monotone: bool) -> Fraction:
    """What a utility is multiplied by in an exponent: epsilon / (2 sensitivity), or twice that when monotone.

    So an option whose utility is d below another's is chosen exp(-rate d) times as often, whatever else there is;
    by permute-and-flip at most so often as the best one is.
    """
    loss = Fraction(positive("epsilon", epsilon))
    return loss / ((1 if flag("monotone", monotone) else 2) * Fraction(positive("sensitivity", sensitivity)))


def _exponents(
    utilities: ArrayLike, sensitivity: float, epsilon: float, monotone: bool, name: str = "utilities"
) -> list[Fraction]:
    """rate * (best - u) for every option, as exact fractions."""
    values = real_numbers(name, utilities)
    if values.ndim != 1:
        raise ValueError(f"{name} must be one vector; their shape is {values.shape}")
    rate = rate_of(sensitivity, epsilon, monotone)
    best = Fraction(float(values.max()))
    # Many options share a utility; each difference is worked out once.
    gaps = {value: rate * (best - Fraction(value)) for value in set(values.tolist())}
    return [gaps[value] for value in values.tolist()]
