"""The coin flip: the yes/no design that respondents are shown, by its gamma or its privacy loss."""

import math
from fractions import Fraction
from numbers import Rational

from server.privacy._checks import is_number, positive
from server.privacy.designs.coins import TOTAL
from server.privacy.designs.design import Design
from server.privacy.designs.rounding import exp_from_below


def coin_flip(gamma: float | Fraction) -> Design:
    """Report the truth with probability 1/2 + gamma, the opposite with 1/2 - gamma.

    Parameters
    ----------
    gamma : float
        In the open interval (0, 1/2). 1/4 is two fair coins: the first says "tell the
        truth" with probability 1/2, otherwise the second decides.

    Returns
    -------
    Design
        Shape (2, 2), ordered (no, yes). The chance of the truth is rounded down to a
        multiple of 2**-32, so that the privacy loss never exceeds
        ln((1/2 + gamma) / (1/2 - gamma)).

    Raises
    ------
    ValueError
        If gamma is outside (0, 1/2), or so small that 32-bit coins cannot tell the
        two answers apart.

    References
    ----------
    Warner (1965), with p = 1/2 + gamma; Dwork and Roth (2014), section 3.2.

    Examples
    --------
    >>> coin_flip(0.25).weights.tolist()
    [[3221225472, 1073741824], [1073741824, 3221225472]]
    """
    if not (is_number(gamma) and 0 < gamma < 0.5):
        raise ValueError(f"gamma must be in the open interval (0, 1/2); it is {gamma!r}")
    exact = Fraction(gamma) if isinstance(gamma, Rational) else Fraction(float(gamma))
    truth = math.floor((Fraction(1, 2) + exact) * TOTAL)
    if truth == TOTAL // 2:
        raise ValueError(f"gamma must be in (0, 1/2) and at least 2**-32; it is {gamma!r}")
    return _symmetric(truth)


def for_epsilon(epsilon: float) -> Design:
    """The most informative coin flip whose privacy loss is at most epsilon.

    Parameters
    ----------
    epsilon : float
        In nats, above 2**-30. Beyond 22.18 nothing more is gained: the chance of a lie is
        then one coin in 2**32.

    Returns
    -------
    Design
        Shape (2, 2). The chance of the truth, e**epsilon / (e**epsilon + 1), is rounded
        down to a multiple of 2**-32.

    Raises
    ------
    ValueError
        If epsilon is not a finite number above 2**-30.

    Examples
    --------
    >>> for_epsilon(1.0).epsilon <= 1.0
    True
    >>> for_epsilon(coin_flip(0.25).epsilon) == coin_flip(0.25)
    True
    """
    ratio = exp_from_below(positive("epsilon", epsilon))
    truth = min(math.floor(TOTAL * ratio / (ratio + 1)), TOTAL - 1)
    if truth == TOTAL // 2:
        raise ValueError(f"epsilon must be above 2**-30, or 32-bit coins show nothing; it is {epsilon!r}")
    return _symmetric(truth)


def gamma_of(epsilon: float) -> float:
    """The gamma of the coin flip with this privacy loss: tanh(epsilon / 2) / 2.

    Rounded down to a multiple of 2**-32, so that `coin_flip(gamma_of(epsilon))` is
    `for_epsilon(epsilon)` and loses no more than epsilon (in nats).

    Raises
    ------
    ValueError
        As `for_epsilon`.

    Examples
    --------
    >>> gamma_of(1.0986122886681098)
    0.25
    """
    return (int(for_epsilon(epsilon).weights[1, 1]) - TOTAL // 2) / TOTAL


def _symmetric(truth: int) -> Design:
    return Design([[truth, TOTAL - truth], [TOTAL - truth, truth]])
