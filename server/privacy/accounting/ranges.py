"""What a privacy loss means for one person's chances."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import any_array, finite
from server.privacy.accounting.exact_numbers import exact_loss


def probability_range(p: ArrayLike, epsilon: float) -> NDArray[np.float64]:
    """How far a neighbour's data can move the probability of an event.

    If an event has probability p on one data set, then on every neighbouring one an
    epsilon-differentially private mechanism gives it a probability in
    [max(p e^-eps, 1 - e^eps (1 - p)), min(p e^eps, 1 - e^-eps (1 - p))].

    Parameters
    ----------
    p : array_like
        Probabilities in [0, 1].
    epsilon : float
        Privacy loss in nats, finite and not negative.

    Returns
    -------
    ndarray, shape (..., 2)
        Lowest and highest probability.

    Raises
    ------
    ValueError
        If p is outside [0, 1] or epsilon is negative or not finite.

    References
    ----------
    Dwork and Roth (2014), definition 2.4, applied to the event and to its complement.

    Examples
    --------
    >>> probability_range(0.5, 1).round(4).tolist()
    [0.1839, 0.8161]
    """
    given = any_array("p", p)
    if given.dtype.kind not in "iuf" or not given.size or not np.all((given >= 0) & (given <= 1)):
        raise ValueError(f"p must be one number in [0, 1] or more; it is {p!r}")
    chances = given.astype(np.float64)
    exact_loss("epsilon", epsilon)
    finite("epsilon", epsilon)
    with np.errstate(divide="ignore"):  # an impossible event stays impossible: ln 0 is meant
        more = np.exp(np.minimum(np.log(chances) + epsilon, 0))
        rest = np.exp(np.minimum(np.log1p(-chances) + epsilon, 0))
    less = math.exp(-epsilon)
    low = np.maximum(chances * less, 1 - rest)
    high = np.minimum(more, 1 - less * (1 - chances))
    return np.stack([low, high], axis=-1)
