"""How often the intervals that reports show cover what they are of, for every kind of estimate, by enumeration.

    python -m tests.benchmarks.coverage_kinds

Every outcome that the respondents can give is weighted with its exact multinomial probability, at true shares
on a grid of all of them; nothing is simulated. The second table of coverage in docs/privacy/intervals.md is the output.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from server.privacy.designs import Design, coin_flip, k_ary, kronecker, ordinal
from server.privacy.estimators import (
    AnsweredMeanEstimate,
    JointEstimate,
    MeanEstimate,
    PooledShares,
    estimate_pooled_answered_mean,
    estimate_pooled_joint,
    estimate_pooled_mean,
    estimate_pooled_shares,
)
from server.privacy.estimators.late import LateInterval, LateIntervals, compute_limits

Row = NDArray[np.float64]
GAMMAS = (0.1, 0.25, 0.4, 0.49)
SIZES = (10, 20, 50)
EDGES = (0.01, 0.05, 0.5, 0.95, 0.99)
"""Beside the corners, true shares between two of them."""


@dataclass(frozen=True)
class Kind:
    """An estimate of one question: its design by the loss, its value for counts, its interval, what that is of."""

    name: str
    design: Callable[[float], Design]
    estimate: Callable[[Sequence[int], Design, str], Any]
    limits: Callable[[Any], Sequence[float] | Row]
    truth: Callable[[Row], float | None]
    sizes: Sequence[int] = SIZES


@dataclass(frozen=True)
class Covered:
    """The least coverage over the true shares, and the mean width over all of them."""

    least: float
    width: float


def estimate_share(counts: Sequence[int], design: Design, interval: str) -> PooledShares:
    """The shares of all answers."""
    return estimate_pooled_shares([counts], [design], None, 0.95, interval)


def estimate_mean(counts: Sequence[int], design: Design, interval: str) -> MeanEstimate:
    """The mean of a scale or of a number."""
    return estimate_pooled_mean([counts], [design], 0, 1, None, 0.95, interval)


def estimate_answered(counts: Sequence[int], design: Design, interval: str) -> AnsweredMeanEstimate:
    """The mean of those who gave a number."""
    return estimate_pooled_answered_mean([counts], [design], 0, 1, None, 0.95, interval)


def mean_answered(shares: Row) -> float | None:
    """The mean of those who gave a number, as far as anybody did."""
    gave = float(shares[:-1].sum())
    return float(np.linspace(0, 1, len(shares) - 1) @ shares[:-1]) / gave if gave > 1e-9 else None


def estimate_table(counts: Sequence[int], design: Design, interval: str) -> JointEstimate:
    """The joint table of two coin flips, whose product the design is."""
    gamma = math.sqrt(float(design.matrix[0, 0])) - 0.5
    return estimate_pooled_joint([np.reshape(counts, (2, 2))], [[coin_flip(gamma)] * 2], None, 0.95, interval)


KINDS = (
    Kind(
        "yes/no, a box, one of several by a coin each, mean of a number",
        lambda loss: coin_flip(gamma_of(loss)),
        estimate_share,
        lambda found: found.intervals[1],
        lambda shares: float(shares[1]),
    ),
    *(
        Kind(
            name,
            lambda loss, make=make: make(3, loss),
            estimate_share,
            lambda found, truth=truth: found.intervals[truth],
            lambda shares, truth=truth: float(shares[truth]),
        )
        for name, make, truth in (
            ("one of 3", k_ary, 0),
            ("scale of 3: an end", ordinal, 0),
            ("scale of 3: the middle", ordinal, 1),
        )
    ),
    Kind(
        "scale of 3: the mean",
        lambda loss: ordinal(3, loss),
        estimate_mean,
        lambda found: found.interval,
        lambda shares: float(np.linspace(0, 1, 3) @ shares),
    ),
    Kind(
        "number with “prefer not to say”: the mean",
        lambda loss: k_ary(3, loss),
        estimate_answered,
        lambda found: found.interval,
        mean_answered,
        (10,),
    ),
    Kind(
        "two yes/no questions together: a cell of their table",
        lambda loss: kronecker(coin_flip(gamma_of(loss)), coin_flip(gamma_of(loss))),
        estimate_table,
        lambda found: found.intervals[1, 1],
        lambda shares: float(shares[3]),
        (10, 20),
    ),
)
"""Every kind whose estimate comes from one part."""


def gamma_of(loss: float) -> float:
    """The coin flip of this loss."""
    return math.tanh(loss / 2) / 2


def loss_of(gamma: float) -> float:
    """The loss of this coin flip."""
    return math.log((0.5 + gamma) / (0.5 - gamma))


def true_shares(truths: int) -> list[Row]:
    """Corners, edges, the middle."""
    found = [np.eye(truths)[place] for place in range(truths)]
    for one, other in itertools.combinations(range(truths), 2):
        found += [(1 - part) * np.eye(truths)[one] + part * np.eye(truths)[other] for part in EDGES]
    return [*found, np.full(truths, 1 / truths)]


@cache
def outcomes(n: int, reports: int) -> NDArray[np.int64]:
    """All counts of n reports, a row each."""
    bars = itertools.combinations(range(n + reports - 1), reports - 1)
    ends = np.array([(-1, *each, n + reports - 1) for each in bars])
    return np.asarray(np.diff(ends, axis=1) - 1)


def coverage(kind: Kind, gamma: float, n: int, interval: str) -> Covered:
    """The exact coverage of one kind of interval."""
    design = kind.design(loss_of(gamma))
    seen = outcomes(n, design.weights.shape[1])
    found = [kind.estimate(counts.tolist(), design, interval) for counts in seen]
    compute_limits([each for each in found if isinstance(each, LateInterval | LateIntervals)])
    limits = np.array([kind.limits(each) for each in found])
    orders = gammaln(n + 1) - gammaln(seen + 1).sum(axis=1)
    covered, widths = [], []
    for shares in true_shares(len(design.weights)):
        truth = kind.truth(shares)
        if truth is None:
            continue
        chances = np.exp(orders + seen @ np.log(shares @ design.matrix))
        # A limit at an end of what is possible may miss it by rounding.
        held = (limits[:, 0] <= truth + 1e-12) & (truth - 1e-12 <= limits[:, 1])
        covered.append(float(chances @ held))
        widths.append(float(chances @ np.clip(np.diff(limits, axis=1)[:, 0], 0, 4)))
    return Covered(min(covered), sum(widths) / len(widths))


def table(sizes: Sequence[int] = SIZES, gammas: Sequence[float] = GAMMAS) -> Iterator[str]:
    """The Markdown table, line by line."""
    yield (
        "| estimate | coins as with γ | n | shown: least coverage | Wilson's or score: least coverage "
        "| width, shown / other |"
    )
    yield "|---|---:|---:|---:|---:|---:|"
    for kind in KINDS:
        for gamma in gammas:
            for n in (n for n in sizes if n in kind.sizes):
                shown, other = (coverage(kind, gamma, n, interval) for interval in ("by_size", "wilson"))
                yield (
                    f"| {kind.name} | {gamma} | {n} | {shown.least:.4f} | {other.least:.4f} "
                    f"| {shown.width / other.width:.2f} |"
                )


if __name__ == "__main__":
    for line in table():
        print(line)
