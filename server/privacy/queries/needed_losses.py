"""The privacy loss that an error needs."""

from collections.abc import Callable

from server.privacy._checks import is_number, positive

_DIGITS = 4


def epsilon_for_error(
    expected_error: Callable[[float], float], error: float, low: float = 1e-4, high: float = 100.0
) -> float:
    """The smallest privacy loss whose expected error is at most the one given.

    Parameters
    ----------
    expected_error : callable
        From a privacy loss in nats to the error that its noise will cause, falling as the loss
        rises; such as `lambda epsilon: count(epsilon).expected_error()`.
    error : float
        Positive, in the units of `expected_error`.
    low, high : float
        Where to look, low < high.

    Returns
    -------
    float
        With four significant digits, rounded up; `low` where that is enough.

    Raises
    ------
    ValueError
        If the error is not reached at `high`, saying what is reached there; or if an argument
        is not positive and finite, or low is not below high.

    Examples
    --------
    >>> from server.privacy.queries import count
    >>> epsilon_for_error(lambda epsilon: count(epsilon).expected_error(), error=2.0)
    0.6932
    """
    if not callable(expected_error):
        raise ValueError(f"expected_error must be a function of epsilon; it is {expected_error!r}")
    wanted = positive("error", error)
    least, most = positive("low", low), positive("high", high)
    if not least < most:
        raise ValueError(f"low must be below high; they are {low!r} and {high!r}")

    def reach_error(epsilon: float) -> bool:
        found = expected_error(epsilon)
        if not is_number(found) or found != found:
            raise ValueError(f"expected_error must give a number; for {epsilon!r} it gave {found!r}")
        return bool(found <= wanted)

    if reach_error(least):
        return least
    if not reach_error(most):
        raise ValueError(
            f"error must be at least {expected_error(most):.4g}, what is reached with epsilon {most:g}; it is {error!r}"
        )
    # Whole numbers of the last digit, decade by decade, in order: place 0 is 1000, 9000 is 10000.
    exponent = -1
    while 10.0**exponent > least:
        exponent -= 1
    while 10.0 ** (exponent + 1) <= least:
        exponent += 1

    def at(place: int) -> float:
        decade, digits = divmod(place, 9 * 10 ** (_DIGITS - 1))
        return float(f"{digits + 10 ** (_DIGITS - 1)}e{exponent + decade - _DIGITS + 1}")

    below, above = 0, 9 * 10 ** (_DIGITS - 1)
    while at(above) < most:
        above += 9 * 10 ** (_DIGITS - 1)
    while above - below > 1:
        middle = (below + above) // 2
        epsilon = at(middle)
        if epsilon >= most or (epsilon > least and reach_error(epsilon)):
            above = middle
        else:
            below = middle
    return min(at(above), most)
