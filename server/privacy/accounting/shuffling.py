"""Shuffling: what a tally of local reports costs when nobody knows who sent which."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from server.privacy._checks import positive, probability
from server.privacy.accounting.exact_numbers import check_whole, exact_loss

_BLOCKS = 4096
_MOST_PEOPLE = 1 << 33
_SLACK = 1e-9
"""More than the relative error of `scipy.special.betainc`."""


@dataclass(frozen=True)
class Amplification:
    """Central privacy of a shuffled collection of local reports, one record replaced.

    Attributes
    ----------
    epsilon : float
        The smallest of the bounds below and of the local loss, in nats.
    delta : float
        Failure probability.
    closed_form : float or None
        The bound of theorem 3.1; None where its condition does not hold.
    numerical : float
        The bound computed from theorem 3.2.
    """

    epsilon: float
    delta: float
    closed_form: float | None
    numerical: float


def shuffle_amplification(n: int, local_epsilon: float, delta: float) -> Amplification:
    """Central privacy of the exact tally of n local reports.

    Every report of an eps0-private design is, with probability e^-eps0, a report that
    either of two given people could have sent (a clone). Among that many clones a person
    hides: the tally is no more telling than the pair (A + D, C + 1 - A - D) is about D,
    where C ~ Bin(n - 1, e^-eps0), A ~ Bin(C, 1/2) and D is the person's own coin, 1 with
    probability e^eps0 / (e^eps0 + 1) or 1 / (e^eps0 + 1). The loss of that pair is
    computed here; wherever a number is not exact it is taken on the safe side.

    Parameters
    ----------
    n : int
        Number of reports in the tally, in [1, 2**33].
    local_epsilon : float
        Privacy loss of one person's whole report, in nats, positive.
    delta : float
        In (0, 1).

    Returns
    -------
    Amplification
        Under bounded neighbours: one person's truth is replaced.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    The closed form, for eps0 <= ln(n / (16 ln(2/delta))), is
    ln(1 + (e^eps0 - 1)/(e^eps0 + 1) (8 sqrt(e^eps0 ln(4/delta)) / sqrt(n) + 8 e^eps0 / n)).

    References
    ----------
    Feldman, V., McMillan, A. and Talwar, K. (2021). Hiding among the clones. *FOCS*,
    theorems 3.1 and 3.2.

    Examples
    --------
    >>> tally = shuffle_amplification(10_000, math.log(3), 1e-6)
    >>> round(tally.closed_form, 3), round(tally.numerical, 3)
    (0.24, 0.061)
    """
    people = check_whole("n", n, high=_MOST_PEOPLE)
    exact_loss("local_epsilon", local_epsilon)
    local = positive("local_epsilon", local_epsilon)
    probability("delta", delta, open_interval=True)
    closed = _closed_form(people, local, delta)
    numerical = _numerical(people, local, delta)
    return Amplification(
        min(local, numerical, math.inf if closed is None else closed), delta, closed, numerical
    )


def _closed_form(n: int, local: float, delta: float) -> float | None:
    if local > math.log(n / (16 * (math.log(2) - math.log(delta)))):
        return None
    odds = math.exp(local)
    return math.log1p(
        math.tanh(local / 2) * (8 * math.sqrt(odds * (math.log(4) - math.log(delta)) / n) + 8 * odds / n)
    )


def _numerical(n: int, local: float, delta: float) -> float:
    """Bisection that keeps an epsilon whose failure probability is at most delta."""
    if local > 500:  # no clone in any population, and e^local near the end of floats
        return local
    starts, below = _clones(n - 1, math.exp(-local), delta)
    if _failure(0.0, local, starts, below) <= delta:
        return 0.0
    low, high = 0.0, local
    for _ in range(50):
        middle = (low + high) / 2
        if _failure(middle, local, starts, below) <= delta:
            high = middle
        else:
            low = middle
    return high


def _clones(others: int, chance: float, delta: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Blocks of the number of clones: each one's first value, and the probability to be below it.

    One more clone never hurts (it is one more fair coin on both sides), so every number in
    a block may be counted as the block's first. Numbers beyond Bernstein's bound for
    delta / 10^6 on either side go to a block that starts at 0, or to the last one.
    """
    variance = others * chance * (1 - chance)
    exponent = math.log(2e6) - math.log(delta)
    reach = exponent / 3 + math.sqrt(exponent * exponent / 9 + 2 * variance * exponent)
    low = max(0, math.floor(others * chance - reach))
    high = min(others, math.ceil(others * chance + reach))
    starts = np.unique(np.floor(np.linspace(low, high, min(_BLOCKS, high - low + 1))))
    starts = np.union1d([0.0], starts)
    below = np.zeros(starts.size)
    # Pr(Bin(m, p) < k) = I_{1-p}(m - k + 1, k)
    below[1:] = scipy.special.betainc(others - starts[1:] + 1, starts[1:], 1 - chance) * (1 + _SLACK)
    return starts, below


def _failure(epsilon: float, local: float, starts: NDArray[np.float64], below: NDArray[np.float64]) -> float:
    """An upper bound on the hockey-stick divergence, averaged over the number of clones."""
    odds, ratio = math.exp(local), math.exp(epsilon)
    truth, lie = 1 / (1 + math.exp(-local)), 1 / (1 + odds)
    # More ones than this are likelier under the first input by more than the ratio. Any other threshold gives
    # less, so where rounding leaves a doubt between two of them the larger result is right.
    gap = -math.expm1(-local)  # 1 - 1 / odds, without what subtracting would cancel
    most = np.floor((starts + 1) * (math.expm1(epsilon) + gap) / gap / (1 + ratio))
    tails = [_at_least(most + step, starts) for step in (-1, 0, 1)]
    failures = np.zeros(starts.size)
    for with_own, without in itertools.pairwise(tails):
        first, second = truth * with_own + lie * without, lie * with_own + truth * without
        failures = np.maximum(failures, first * (1 + _SLACK) - ratio * second)
    failures = np.minimum.accumulate(np.minimum(failures, 1.0))
    # The mean of a falling sequence by parts: every term is positive, so nothing cancels.
    return float(failures[-1] + np.sum((failures[:-1] - failures[1:]) * np.minimum(below[1:], 1.0)))


def _at_least(ones: NDArray[np.float64], coins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pr(Bin(coins, 1/2) >= ones)."""
    inside = (ones > 0) & (ones <= coins)
    tail = scipy.special.betainc(np.where(inside, ones, 1.0), np.where(inside, coins - ones + 1, 1.0), 0.5)
    return np.where(ones <= 0, 1.0, np.where(inside, tail, 0.0))
