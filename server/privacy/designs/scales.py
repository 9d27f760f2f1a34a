"""Designs for ordered scales: a near answer is a likelier report than a far one."""

import math
from decimal import ROUND_CEILING, Decimal, localcontext

from server.privacy._checks import positive, whole_number
from server.privacy.designs.coins import REPORTS_LIMIT, TOTAL
from server.privacy.designs.design import Design
from server.privacy.designs.rounding import DIGITS, apportion, exp_from_below


def ordinal(options: int, epsilon: float) -> Design:
    """A design for an ordered scale: Pr(report y | truth x) proportional to exp(-t |x - y|).

    The exponential mechanism with the distance as its (negative) utility, with t such that the
    privacy loss is epsilon, and not half of it as the general theorem would allow.

    Parameters
    ----------
    options : int
        Points of the scale, in [2, 256].
    epsilon : float
        Privacy loss in nats, at least options**3 * 2**-31. The design's own is at most this, and
        with three points or more within options * 2**-32 of it, for an epsilon of up to 10.

    Returns
    -------
    Design
        Shape (options, options), unchanged when the scale is read from its other end. With two
        points it is `for_epsilon(epsilon)`.

    Raises
    ------
    ValueError
        If options is not a whole number in [2, 256], or epsilon is not finite, or is so small
        that 32-bit coins cannot tell the points apart.

    Notes
    -----
    With k points, t = epsilon / (k - 1) exactly. Let Z_x be the sum of exp(-t |x - y|) over y.
    It is smallest at the two ends, where it is the same, and Z_(x+1) <= e^t Z_x, because no
    distance changes by more than 1. For x < x' the best report is some y <= x, with the ratio
    e^(t (x' - x)) Z_x' / Z_x <= e^(t (x' - x)) e^(t (k - 1 - x')) Z_(k-1) / Z_0 <= e^(t (k - 1)),
    which x = y = 0, x' = k - 1 attains.

    References
    ----------
    McSherry, F. and Talwar, K. (2007). Mechanism design via differential privacy. *FOCS*, 94-103.

    Examples
    --------
    >>> ordinal(3, 2.0).matrix.round(3).tolist()
    [[0.665, 0.245, 0.09], [0.212, 0.576, 0.212], [0.09, 0.245, 0.665]]
    """
    whole_number("options", options, 2, REPORTS_LIMIT)
    epsilon = positive("epsilon", epsilon)
    if epsilon * 2**31 < options**3:
        raise ValueError(
            f"epsilon must be at least {options}**3 * 2**-31 = {options**3 / 2**31:.3g} for 32-bit coins to tell "
            f"{options} points apart; it is {epsilon!r}"
        )
    with localcontext(prec=DIGITS):
        t = Decimal(epsilon) / (options - 1)
        likelihoods = [(-t * distance).exp() for distance in range(options)]
        half = [_row(x, likelihoods) for x in range((options + 1) // 2)]
    half[0] = _end_row(half[0], epsilon)
    mirrored = [row[::-1] for row in reversed(half[: options // 2])]
    return Design(half + mirrored)


def _row(x: int, likelihoods: list[Decimal]) -> list[int]:
    """Weights for truth x: every lie is rounded up and the truth pays, so that no lie gets too rare."""
    by_report = [likelihoods[abs(x - y)] for y in range(len(likelihoods))]
    scale = TOTAL / sum(by_report, Decimal(0))
    row = [max(1, int((scale * likelihood).to_integral_value(ROUND_CEILING))) for likelihood in by_report]
    row[x] += TOTAL - sum(row)
    return row


def _end_row(row: list[int], epsilon: float) -> list[int]:
    """The row of an end of the scale, with the ratio that is the loss brought up to e**epsilon.

    The loss is the ratio of its first weight to its last one. The last one was rounded up, so that the
    first may grow; the weights between them pay for it. It grows by no more than one part in 2**12, and
    they shrink by no more than one in 2**10, which keeps every other ratio below this one.
    """
    first, between, last = row[0], row[1:-1], row[-1]
    room = min(first >> 12, sum(between) >> 10)
    first = min(math.floor(exp_from_below(epsilon) * last), first + room)
    return [first, *apportion(between, TOTAL - first - last), last]
