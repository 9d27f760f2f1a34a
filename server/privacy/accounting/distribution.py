"""The privacy loss distribution of repeated randomised response, and the loss it allows at a delta."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

ATOMS_LIMIT = 1 << 21
"""The largest number of distinct losses that is enumerated."""


def randomised_response(losses: Sequence[float]) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """All values of the total privacy loss of independent randomised responses.

    A response of loss eps is the truth with probability e^eps / (1 + e^eps); it adds eps
    to the total when it is the truth, -eps otherwise. Equal losses are one binomial.

    Returns
    -------
    tuple of ndarray or None
        Total losses and the logarithms of their probabilities; None when there are more
        than `ATOMS_LIMIT`.
    """
    groups = Counter(losses)
    if math.prod(count + 1 for count in groups.values()) > ATOMS_LIMIT:
        return None
    totals, logarithms = np.zeros(1), np.zeros(1)
    for epsilon, count in groups.items():
        own, chances = list_totals(epsilon, count)
        totals = np.add.outer(totals, own).ravel()
        logarithms = np.add.outer(logarithms, chances).ravel()
    return totals, logarithms


def list_totals(epsilon: float, count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The totals of so many equal losses, in ascending order, and the logarithms of their probabilities."""
    truths = np.arange(count + 1, dtype=np.float64)
    chances = (
        scipy.special.gammaln(count + 1.0)
        - scipy.special.gammaln(truths + 1)
        - scipy.special.gammaln(count - truths + 1)
    )
    chances += truths * epsilon - count * (epsilon + scipy.special.log1p(math.exp(-epsilon)))
    return (2 * truths - count) * epsilon, chances


def smallest_epsilon(losses: NDArray[np.float64], logarithms: NDArray[np.float64], delta: float) -> float:
    """The smallest eps for which the hockey-stick divergence is at most delta.

    With P the distribution and Q its neighbour, Q(atom) = P(atom) e^-loss, and
    delta(eps) = sum of max(0, P(atom) - e^eps Q(atom)) is over the atoms whose loss is
    above eps. Between two neighbouring losses it is A - e^eps B, which is solved exactly.

    Parameters
    ----------
    losses : ndarray, shape (m,)
        Privacy losses ln(P/Q); may be infinite.
    logarithms : ndarray, shape (m,)
        ln P of the atoms.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Not negative; infinite if more than delta has an infinite loss.
    """
    order = np.argsort(-losses)
    losses, logarithms = losses[order], logarithms[order]
    # What gammaln loses to rounding grows with its value; P is taken that much larger.
    slack = 2.0**-46 * (1 + float(np.abs(logarithms[np.isfinite(logarithms)]).max(initial=0)))
    above = np.logaddexp.accumulate(logarithms) + slack
    below = np.logaddexp.accumulate(logarithms - losses)
    following = np.append(losses[1:], -np.inf)
    with np.errstate(invalid="ignore"):
        covered = np.exp(above) - np.exp(np.minimum(following + below, 0))
    covered[-1] = np.inf
    last = int(np.argmax(covered >= delta))
    mass = math.exp(above[last])
    if mass <= delta:
        return max(0.0, float(following[last]))
    return max(0.0, math.log(mass - delta) - float(below[last]))
