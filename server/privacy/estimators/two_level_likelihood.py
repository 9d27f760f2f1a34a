"""The likelihood of an outcome of two levels by what is known alone: a third of the work of one with other answers."""

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators.outcome_levels import share_sides

Floats = NDArray[np.float64]


def evaluate_two_levels(
    counts: Floats, known: Floats, outcome: Floats, slopes: Floats
) -> tuple[float, Floats, Floats]:
    """The log-likelihood of rows, its gradient, and minus its second derivatives.

    `outcome` has the chances of each row's report under no and under yes.
    """
    above, below = share_sides(known @ slopes)
    if_no, if_yes = outcome[:, 0], outcome[:, 1]
    seen = if_no * below + if_yes * above
    first = (if_yes - if_no) * (above * below) / seen
    pulls = counts * first
    bends = pulls * (first - (below - above))
    return float(counts @ np.log(seen)), pulls @ known, (known * bends[:, None]).T @ known
