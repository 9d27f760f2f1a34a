"""The likelihood of an outcome of two levels by what is known alone: a third of the work of one with other answers."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_LARGEST = 700.0
"""e to this is about the largest number."""


def evaluate_two_levels(
    counts: Floats, known: Floats, outcome: Floats, slopes: Floats
) -> tuple[float, Floats, Floats]:
    """The log-likelihood of rows, its gradient, and minus its second derivatives.

    `outcome` has the chances of each row's report under no and under yes.
    """
    # Few numbers are made twice: of many rows most of the time goes into fetching them.
    against = known @ slopes
    np.negative(against, out=against)
    np.exp(np.minimum(against, _LARGEST, out=against), out=against)
    above = 1 / (1 + against)
    below = np.multiply(against, above, out=against)
    if_no, if_yes = outcome[:, 0], outcome[:, 1]
    seen = if_no * below
    seen += if_yes * above
    first = if_yes - if_no
    first *= above
    first *= below
    first /= seen
    above -= below
    bends = np.add(first, above, out=above)
    first *= counts
    bends *= first
    return float(counts @ np.log(seen, out=seen)), first @ known, (known * bends[:, None]).T @ known
