"""Whether an item on a list changed how people counted the others: exact tests of what no design can leave.

References
----------
Blair, G. and Imai, K. (2012). Statistical analysis of list experiments. *Political
Analysis* 20, 47-77.
Fisher, R. A. (1935). The logic of inductive inference. *JRSS* 98, 39-82.
"""

import numpy as np
import scipy
from numpy.typing import NDArray

_MOST_EXACT = 1_000_000
"""People up to whom the test counts tables one by one; beyond, a normal distribution is as good."""


def find_design_effect(without: NDArray[np.int64], with_it: NDArray[np.int64]) -> float:
    """The p value of "no share of a type of people is negative", of counts without and with the sensitive item."""
    n, m = int(without.sum()), int(with_it.sum())
    below, below_with = np.cumsum(without).tolist(), np.cumsum(with_it).tolist()
    smallest = 1.0
    for place in range(len(without) - 1):
        too_many = _more_than_chance(below_with[place], m, below[place], n)
        too_few = _more_than_chance(below[place], n, below_with[place + 1], m)
        smallest = min(smallest, too_many, too_few)
    return min(1.0, 2 * (len(without) - 1) * smallest)


def _more_than_chance(yes: int, n: int, other_yes: int, other_n: int) -> float:
    """p value of "the first share is no larger than the second", by Fisher's exact test."""
    total, of_all = yes + other_yes, n + other_n
    if of_all > _MOST_EXACT:
        together = total / of_all
        spread = together * (1 - together) * (1 / n + 1 / other_n)
        return (
            float(scipy.special.ndtr((other_yes / other_n - yes / n) / np.sqrt(spread)))
            if spread > 0
            else 1.0
        )
    drawn = np.arange(yes, min(total, n) + 1)
    logs = _log_choose(n, drawn) + _log_choose(other_n, total - drawn) - _log_choose(of_all, np.array(total))
    return min(1.0, float(np.exp(logs).sum()))


def _log_choose(n: int, some: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(
        scipy.special.gammaln(n + 1) - scipy.special.gammaln(some + 1) - scipy.special.gammaln(n - some + 1)
    )
