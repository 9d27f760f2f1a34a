"""Computations that ask for limits step by step, done side by side: each step asks for all limits at once.

What is computed of one group is written once, as a generator that yields what it needs limits of (a `Request`,
such as `Means`) and is sent these. One group is the case of a single generator; hundreds take few steps more.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators.score_limits import score_limits

T = TypeVar("T")


class Request(ABC):
    """What a computation needs limits of."""

    @classmethod
    @abstractmethod
    def answer_all(cls, requests: Sequence[Any]) -> list[NDArray[np.float64]]:
        """The limits that requests of this class ask for, of all computations at once."""


@dataclass(frozen=True, eq=False)
class Means(Request):
    """Means of which limits are asked for.

    Attributes
    ----------
    values : sequence of ndarray, shapes (m1,), (m2,), ...
        What each possible report adds to a mean.
    counts : sequence of ndarray of int, shapes (parts1, m1), (parts2, m2), ...
        How often each report was seen in each of the parts that these values are for, a positive sum.
    z : float
        Limits are so many standard errors away (`score_limits`).
    """

    values: Sequence[NDArray[np.float64]]
    counts: Sequence[NDArray[np.int64]]
    z: float

    @classmethod
    def answer_all(cls, requests: Sequence["Means"]) -> list[NDArray[np.float64]]:
        """The limits of the means, part by part, shape (means, 2)."""
        return _limits(requests)


_AT_ONCE = 1 << 17
"""Values that are computed with at once: a few megabytes."""

Steps = Generator[Request, NDArray[np.float64], T]
"""Is sent the limits that it asks for, and returns its result."""


def compute(steps: Steps[T]) -> T:
    """Do one computation."""
    return compute_together([steps])[0]


def compute_together(several: Iterable[Steps[T]]) -> list[T]:
    """Do several computations side by side; their results in the same order."""
    running = list(several)
    results: dict[int, T] = {}
    sent: dict[int, NDArray[np.float64] | None] = dict.fromkeys(range(len(running)))
    while sent:
        asked: dict[type[Request], dict[int, Request]] = {}
        for place, limits in sent.items():
            try:
                request = next(running[place]) if limits is None else running[place].send(limits)
                asked.setdefault(type(request), {})[place] = request
            except StopIteration as finished:
                results[place] = finished.value
        sent = {
            place: limits
            for kind, requests in asked.items()
            for place, limits in zip(requests, kind.answer_all(list(requests.values())), strict=True)
        }
    return [results[place] for place in range(len(running))]


def at_once(function: Callable[[float], float]) -> Callable[[float], Steps[float]]:
    """A function that asks for no limits, as one that does."""

    def steps(position: float) -> Steps[float]:
        yield from ()
        return function(position)

    return steps


def find_root(
    function: Callable[[float], Steps[float]], low: float, high: float, values: tuple[float, float]
) -> Steps[float]:
    """Where a function passes 0 between two positions at which its values have different signs.

    Chandrupatla's method: inverse quadratic interpolation where that is safe, else halving.

    References
    ----------
    Chandrupatla, T. R. (1997). A new hybrid quadratic/bisection algorithm for finding the zero of a
    nonlinear function without using derivatives. *Advances in Engineering Software* 28, 145-149.
    """
    b, a, (b_value, a_value) = low, high, values
    c, c_value, part = a, a_value, 0.5
    for _ in range(200):
        best, least = (a, a_value) if abs(a_value) < abs(b_value) else (b, b_value)
        tolerance = 1e-13 * abs(best) + 1e-300
        if least == 0 or abs(b - a) <= 2 * tolerance:
            return best
        near = tolerance / abs(b - a)
        position = a + min(max(part, near), 1 - near) * (b - a)
        value = yield from function(position)
        if (value > 0) == (a_value > 0):
            c, c_value = a, a_value
        else:
            c, c_value, b, b_value = b, b_value, a, a_value
        a, a_value = position, value
        part = 0.5
        if c_value not in (a_value, b_value) and a_value != b_value:
            across, up = (a - b) / (c - b), (a_value - b_value) / (c_value - b_value)
            if up * up < across and (1 - up) ** 2 < 1 - across:
                part = a_value / (b_value - a_value) * c_value / (b_value - c_value)
                part += (c - a) / (b - a) * a_value / (c_value - a_value) * b_value / (c_value - b_value)
    return a


def _limits(requests: Sequence[Means]) -> list[NDArray[np.float64]]:
    """Of each of them; means with as many reports each are computed at once."""
    blocks = [
        (values, counts, each.z)
        for each in requests
        for values, counts in zip(each.values, each.counts, strict=True)
    ]
    starts = np.cumsum([0, *(len(counts) for _values, counts, _z in blocks)])
    found = np.empty((int(starts[-1]), 2))
    widths = np.array([len(values) for values, _counts, _z in blocks])
    for width in np.unique(widths).tolist():
        alike = np.flatnonzero(widths == width).tolist()
        places = np.concatenate([np.arange(starts[place], starts[place + 1]) for place in alike])
        lengths = [len(blocks[place][1]) for place in alike]
        values = np.repeat(np.stack([blocks[place][0] for place in alike]), lengths, axis=0)
        counts = np.concatenate([blocks[place][1] for place in alike])
        z = np.repeat([blocks[place][2] for place in alike], lengths)
        step = max(_AT_ONCE // width, 1)
        for start in range(0, len(places), step):
            some = slice(start, start + step)
            found[places[some]] = score_limits(values[some], counts[some], z[some])
    ends = np.cumsum([0, *(sum(len(counts) for counts in each.counts) for each in requests)]).tolist()
    return [found[first:last] for first, last in pairwise(ends)]
