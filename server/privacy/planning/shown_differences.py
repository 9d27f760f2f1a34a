"""What a comparison that was made could have shown: from its own interval and error, whatever was compared."""

import scipy

from server.privacy._checks import probability


def chance_to_show(difference: float, reach: float, standard_error: float) -> float:
    """Chance that an interval of this reach leaves out 0, if the two numbers differ by this.

    Parameters
    ----------
    difference : float
        The true one, on either side.
    reach : float
        From the estimate to the end of the interval that is nearer to 0, above 0.
    standard_error : float
        Of the estimated difference, above 0, in the same unit.

    Returns
    -------
    float
        A probability, by the normal distribution.

    Examples
    --------
    Under `coin_flip(0.25)`, 2,000 people in each group, shares of 0.1 and 0.2: nearly `power_two_samples`.

    >>> error = (4 * (0.3 * 0.7 + 0.35 * 0.65) / 2000) ** 0.5
    >>> round(chance_to_show(0.1, 1.959964 * error, error), 3)
    0.922
    """
    signal, critical = abs(difference) / standard_error, reach / standard_error
    return float(scipy.special.ndtr(signal - critical) + scipy.special.ndtr(-signal - critical))


def least_shown(reach: float, standard_error: float, power: float = 0.8) -> float:
    """The difference that an interval of this reach shows with this chance; parameters as in `chance_to_show`.

    The other side of 0, on which it would be shown by mistake, is left out: it is below the error of the interval.

    Examples
    --------
    >>> round(least_shown(0.04, 0.02), 4)
    0.0568
    """
    return (
        reach + float(scipy.special.ndtri(probability("power", power, open_interval=True))) * standard_error
    )
