"""Composition at a failure probability: the theorem, the optimum, and the best of what is known."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import scipy

from server.privacy._checks import list_entries, probability, to_float
from server.privacy.accounting.distribution import ATOMS_LIMIT, randomised_response, smallest_epsilon
from server.privacy.accounting.exact_numbers import Loss, Number, check_whole, exact_loss, exact_probability
from server.privacy.accounting.gridded_losses import convolve_responses


@dataclass(frozen=True)
class Composition:
    """The smallest privacy loss that the known bounds give.

    Attributes
    ----------
    epsilon, delta : float
        The guarantee; epsilon in nats.
    method : str
        The bound that gave it: "basic", "advanced", "zcdp" or "optimal".
    candidates : dict of str to float
        Every bound that was computed, in nats.
    """

    epsilon: float
    delta: float
    method: str
    candidates: dict[str, float]


def advanced(epsilon: Number, k: int, delta_prime: float, delta: Number = 0) -> Loss:
    """The cost of k releases by the advanced composition theorem.

    eps' = sqrt(2 k ln(1/delta')) eps + k eps (e^eps - 1), with failure probability
    k delta + delta'. For few releases or a large epsilon it is worse than the sum:
    `best_composition` takes the better one.

    Parameters
    ----------
    epsilon : float, Fraction or Decimal
        Of each release, in nats, positive.
    k : int
        Number of releases, at least 1; each may depend on the results before.
    delta_prime : float
        In (0, 1).
    delta : float, Fraction or Decimal
        Of each release, in [0, 1).

    Returns
    -------
    Loss
        Its epsilon is infinite where the formula overflows; its delta is at most 1.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Dwork, Rothblum and Vadhan (2010); Dwork and Roth (2014), theorem 3.20.

    Examples
    --------
    >>> loss = advanced(1 / 801, 10_000, math.exp(-32))  # said to stay below 1
    >>> round(loss.epsilon, 5)
    1.01435
    """
    loss = to_float(exact_loss("epsilon", epsilon, zero=False))
    times = check_whole("k", k)
    delta_prime = probability("delta_prime", delta_prime, open_interval=True)
    total = times * exact_probability("delta", delta) + Fraction(delta_prime)
    return Loss(_advanced([loss], times, delta_prime), float(min(total, Fraction(1))))


def optimal(epsilon: Number, k: int, delta: float) -> Loss:
    """The exact cost of k releases of the same pure loss, at a failure probability.

    Randomised response is the worst of all epsilon-differentially private mechanisms, and
    k of them are a binomial: no bound is better for mechanisms of which only epsilon is
    known, and for repeated randomised response this is the loss itself.

    Parameters
    ----------
    epsilon : float, Fraction or Decimal
        Of each release, in nats, positive.
    k : int
        Number of releases, in [1, 2**21 - 1]; each may depend on the results before.
    delta : float
        In [0, 1).

    Returns
    -------
    Loss

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Kairouz, P., Oh, S. and Viswanath, P. (2015). The composition theorem for differential
    privacy. *ICML*, theorem 3.3.

    Examples
    --------
    >>> round(optimal(math.log(3), 100, 1e-6).epsilon, 4)  # the sum is 109.9
    94.2899
    """
    loss = to_float(exact_loss("epsilon", epsilon, zero=False))
    failure = float(exact_probability("delta", delta))
    found = _optimal([loss], check_whole("k", k, high=ATOMS_LIMIT - 1), failure)
    assert found is not None
    return Loss(found, failure)


def best_composition(epsilon: Number | Sequence[Number], k: int = 1, delta: float = 0.0) -> Composition:
    """The smallest privacy loss at a failure probability that the known bounds give.

    Parameters
    ----------
    epsilon : float, Fraction or Decimal, or a sequence of them
        Pure loss of each release, in nats, positive. A sequence is a round of releases,
        for example the questions of a survey.
    k : int
        How often the release, or the round, is repeated; at least 1.
    delta : float
        In [0, 1); 0 leaves only the sum.

    Returns
    -------
    Composition
        The bounds, any of which may be adaptive: the sum ("basic"), advanced composition,
        zero-concentrated privacy (every release is eps^2/2-zCDP), and "optimal": the
        loss of repeated randomised response, which is the worst case. It is exact where
        that takes at most 2**21 values, else an upper bound on a grid of 65,537, and left out
        for more than 2**21 releases or very many different losses. Of equal bounds the first
        one is named.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Kairouz, Oh and Viswanath (2015); Bun and Steinke (2016), proposition 1.4; Canonne,
    Kamath and Steinke (2020), proposition 7 (from zCDP to epsilon and delta).

    Examples
    --------
    >>> best = best_composition(0.1, 100, delta=1e-6)
    >>> best.method, round(best.epsilon, 2)
    ('optimal', 4.77)
    """
    single = isinstance(epsilon, int | float | Fraction | Decimal | np.number)
    given: list[object] = [epsilon] if single else list_entries("epsilon", epsilon)
    if not given:
        raise ValueError("epsilon must name at least one loss; it is empty")
    losses = [to_float(exact_loss("epsilon", value, zero=False)) for value in given]
    times = check_whole("k", k)
    failure = float(exact_probability("delta", delta))
    candidates = {
        "basic": to_float(times * sum((exact_loss("epsilon", value) for value in given), Fraction(0)))
    }
    if failure > 0:
        candidates["advanced"] = _advanced(losses, times, failure)
        candidates["zcdp"] = _zcdp(times * math.fsum(min(value, 1e100) ** 2 / 2 for value in losses), failure)
        exact = _optimal(losses, times, failure)
        if exact is not None:
            candidates["optimal"] = min(exact, candidates["basic"])
    method = min(candidates, key=lambda name: candidates[name])
    return Composition(candidates[method], failure, method, candidates)


def _advanced(losses: Sequence[float], k: int, delta_prime: float) -> float:
    """Advanced composition of a round of different losses, k times (Azuma's inequality takes each range)."""
    if max(losses) > 300:  # e^eps (and soon k eps e^eps) leaves the range of floats; the sum is far better
        return math.inf
    squares = k * math.fsum(loss * loss for loss in losses)
    return math.sqrt(-2 * math.log(delta_prime) * squares) + k * math.fsum(
        loss * math.expm1(loss) for loss in losses
    )


def _zcdp(rho: float, delta: float) -> float:
    """The smallest epsilon of rho-zCDP; every order above 1 gives a valid one."""

    def bound(logarithm: float) -> float:
        excess = math.exp(logarithm)  # the order less 1
        order = 1 + excess
        return rho * order + (-math.log(delta) - math.log(order)) / excess - math.log1p(1 / excess)

    start = 0.5 * math.log(max(-math.log(delta), 1e-9) / max(rho, 1e-300))
    found = scipy.optimize.minimize_scalar(
        bound, bounds=(start - 10, start + 10), method="bounded", options={"xatol": 1e-9}
    )
    return max(0.0, float(found.fun))


def _optimal(losses: Sequence[float], k: int, delta: float) -> float | None:
    # A smaller delta and a larger loss leave the range of floats: the largest total is right for any delta.
    if delta < 1e-290 or max(losses) > 1e6:
        return k * sum(losses)
    if len(losses) * k > ATOMS_LIMIT:
        return None
    repeated = list(losses) * k
    atoms = randomised_response(repeated) or convolve_responses(repeated, delta)
    return None if atoms is None else smallest_epsilon(*atoms, delta)
