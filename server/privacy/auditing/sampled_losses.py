"""A certified lower bound on a mechanism's privacy loss, from running it."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import probability
from server.privacy.accounting.exact_numbers import check_whole, exact_probability
from server.privacy.auditing.events import Events, candidates


@dataclass(frozen=True)
class Audit:
    """What was certified about a mechanism.

    Attributes
    ----------
    epsilon : float
        With probability at least `confidence`, the mechanism's privacy loss on these two
        inputs is not below this, in nats; 0 where nothing was shown.
    event : str
        The event that shows it.
    likelier : {"a", "b"}
        The input under which the event is likelier.
    hits : tuple of int
        How often the event happened under (a, b) in the half of the runs that certified it.
    runs : int
        Runs on each input; one half chose the event, the other certified it.
    confidence : float
    delta : float
        Failure probability that the claim allows.
    """

    epsilon: float
    event: str
    likelier: str
    hits: tuple[int, int]
    runs: int
    confidence: float
    delta: float


def audit(
    mechanism: Callable[..., Any],
    input_a: Any,
    input_b: Any,
    runs: int,
    confidence: float = 0.95,
    *,
    delta: float = 0.0,
) -> Audit:
    """Certify a lower bound on a mechanism's privacy loss.

    The mechanism is run on two neighbouring inputs. On the first half of the runs many
    events are tried, and for each direction the one is kept that promises most. On the
    second half the two probabilities of these two events are bounded (Clopper-Pearson,
    with a quarter of 1 - confidence for each of the four bounds). Under (eps, delta)
    privacy Pr_a(event) <= e^eps Pr_b(event) + delta, so eps is at least
    ln((Pr_a - delta) / Pr_b), which the bounds bound.

    Parameters
    ----------
    mechanism : callable
        `mechanism(data, runs)` returns all outputs, shape (runs,) or (runs, d); or
        `mechanism(data)` returns one, and is called once per run. An output is a number, a
        text, or a vector of numbers of one length.
    input_a, input_b : any
        Neighbouring inputs.
    runs : int
        On each input; in [2, 2**31].
    confidence : float
        In (0, 1).
    delta : float
        In [0, 1); 0 for a claim of pure differential privacy.

    Returns
    -------
    Audit
        A correct mechanism's `epsilon` stays below its claim except with probability
        1 - confidence; it is finite, and never above ln(runs).

    Raises
    ------
    ValueError
        If an argument is out of range, or the outputs are not as described.

    References
    ----------
    Ding, Z. et al. (2018). Detecting violations of differential privacy. *CCS*.
    Clopper, C. and Pearson, E. (1934). *Biometrika* 26, 404-413.

    Examples
    --------
    >>> import math
    >>> from server.privacy.designs import coin_flip, draw_coins
    >>> def report(truth, runs):
    ...     return coin_flip(0.25).report(np.full(runs, truth), draw_coins(runs))
    >>> 0.9 < audit(report, 0, 1, 50_000, confidence=1 - 1e-9).epsilon < math.log(3)
    True
    """
    if not callable(mechanism):
        raise ValueError(f"mechanism must be callable; it is {mechanism!r}")
    check_whole("runs", runs, 2, 1 << 31)
    probability("confidence", confidence, open_interval=True)
    delta = float(exact_probability("delta", delta))
    a, b = _outputs(mechanism, input_a, runs), _outputs(mechanism, input_b, runs)
    if a.shape[1:] != b.shape[1:]:
        raise ValueError(f"outputs must have one length; theirs are {a.shape[1:]} and {b.shape[1:]}")
    a, b = (sample.astype(np.result_type(a, b)) for sample in (a, b))
    error = (1 - confidence) / 4
    half = runs // 2
    chosen: dict[str, tuple[float, Events, int]] = {}
    for events in candidates(a, b):
        hits_a, hits_b = events.counts(slice(0, half))
        for likelier, more, less in (("a", hits_a, hits_b), ("b", hits_b, hits_a)):
            bounds = _bounds(more, less, half, error, delta)
            best = int(np.argmax(bounds))
            if likelier not in chosen or bounds[best] > chosen[likelier][0]:
                chosen[likelier] = (float(bounds[best]), events, best)
    found = []
    for likelier, (_, events, index) in chosen.items():
        hits_a, hits_b = events.counts(slice(half, runs))
        hits = int(hits_a[index]), int(hits_b[index])
        most, least = hits if likelier == "a" else hits[::-1]
        bound = float(_bounds(np.array([most]), np.array([least]), runs - half, error, delta)[0])
        found.append(Audit(max(0.0, bound), events.describe(index), likelier, hits, runs, confidence, delta))
    return max(found, key=lambda result: result.epsilon)


def detectable(runs: int, confidence: float = 0.95, *, delta: float = 0.0) -> float:
    """The largest loss that `audit` can certify: an event always seen on one input, and never on the other.

    Parameters
    ----------
    runs, confidence, delta
        As in `audit`.

    Returns
    -------
    float
        In nats. A loss below it may still go unseen: how much below depends on the mechanism.

    Raises
    ------
    ValueError
        As `audit`.

    Examples
    --------
    >>> round(detectable(2000, 1 - 1e-8), 3)
    3.912
    """
    check_whole("runs", runs, 2, 1 << 31)
    probability("confidence", confidence, open_interval=True)
    certifying = runs - runs // 2
    error, failure = (1 - confidence) / 4, float(exact_probability("delta", delta))
    every, none = np.array([certifying]), np.array([0])
    return max(0.0, float(_bounds(every, none, certifying, error, failure)[0]))


def _outputs(mechanism: Callable[..., Any], data: Any, runs: int) -> NDArray[np.generic]:
    made: ArrayLike = (
        mechanism(data, runs) if _takes_runs(mechanism) else [mechanism(data) for _ in range(runs)]
    )
    outputs = np.asarray(made)
    if outputs.ndim not in (1, 2) or len(outputs) != runs or outputs.dtype.kind not in "biufUS":
        raise ValueError(
            f"outputs must be {runs} numbers, texts or vectors of one length; "
            f"their shape is {outputs.shape}, their type {outputs.dtype}"
        )
    return outputs.astype(np.int64) if outputs.dtype.kind in "bu" else outputs


def _takes_runs(mechanism: Callable[..., Any]) -> bool:
    try:
        inspect.signature(mechanism).bind(None, 1)
    except (TypeError, ValueError):
        return False
    return True


def _bounds(
    more: NDArray[np.int64], less: NDArray[np.int64], n: int, error: float, delta: float
) -> NDArray[np.float64]:
    """ln((lower bound of one probability - delta) / upper bound of the other)."""
    low = np.where(more > 0, scipy.special.betaincinv(np.maximum(more, 1), n - more + 1, error), 0.0)
    high = np.where(less < n, scipy.special.betainccinv(less + 1, np.maximum(n - less, 1), error), 1.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(low - delta, 0)) - np.log(high))
