"""Confidence limits for a weighted sum over independent parts, such as strata that count by their population.

Adding the limits of the parts (`limits.added_limits`) is close to normal theory, and misses where parts
are small: of six strata of 10 under a coin flip with gamma 0.49, a true share of 0.01 is covered 88.6 times
in 100 instead of 95. "exact" never covers less than it says, whatever the parts' true shares: of a single part
in which each report has one of two values these are Blaker's limits, elsewhere Chernoff's bound gives them.

References
----------
Chernoff, H. (1952). A measure of asymptotic efficiency for tests of a hypothesis based on the sum of
observations. *Annals of Mathematical Statistics* 23, 493-507.
Hoeffding, W. (1956). On the distribution of the number of successes in independent trials. *Annals of
Mathematical Statistics* 27, 713-721.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from server.privacy.estimators.design_limits import design_limits
from server.privacy.estimators.limits import added_limits, limits_of_means, linear_limits
from server.privacy.estimators.score_limits import SAME
from server.privacy.estimators.together import Steps, compute

SMALL = 100
"""Fewer reports than this in some part that counts, and "by_size" is "exact"."""
POOLED_INTERVALS = ("wilson", "exact", "by_size")
"""Kinds of interval that estimates from several parts offer."""

Row = NDArray[np.float64]


def chosen_interval(interval: str, sizes: Sequence[int]) -> str:
    """What "by_size" stands for: "exact" where a part that counts is small.

    Parameters
    ----------
    interval : {"wilson", "exact", "by_size"}
    sizes : sequence of int
        Reports of each part.
    """
    if interval != "by_size":
        return interval
    return "exact" if min(sizes) < SMALL else "wilson"


def weighted_limits(
    weights: Sequence[float],
    rows: Sequence[Row],
    counts: Sequence[NDArray[np.int64]],
    confidence: float,
    interval: str,
    matrices: Sequence[Row] | None = None,
) -> tuple[float, float]:
    """Limits for sum(weight * mean of row[report]) over the parts.

    Parameters
    ----------
    weights : sequence of float
        Positive.
    rows : sequence of ndarray, shapes (m1,), (m2,), ...
        Values of the reports of each part, all of them possible.
    counts : sequence of ndarray of int
        How often each report was seen, a positive sum in each part.
    confidence : float
        In (0, 1).
    interval : {"wilson", "exact", "wald"}
        Of one part as `limits.linear_limits`; of several the parts' own limits added, or "exact":
        limits that the true sum exceeds on either side with probability (1 - confidence) / 2 at most.
    matrices : sequence of ndarray, shapes (k1, m1), (k2, m2), ..., or None
        Chances of each report, a row for each truth: where reports have more than two values, exact limits
        are far narrower with them (`design_limits`).

    Returns
    -------
    tuple of float
    """
    return compute(limits_of_sums(weights, [rows], counts, confidence, interval, matrices))[0]


def limits_of_sums(
    weights: Sequence[float],
    sums: Sequence[Sequence[Row]],
    counts: Sequence[NDArray[np.int64]],
    confidence: float,
    interval: str,
    matrices: Sequence[NDArray[np.float64]] | None = None,
) -> Steps[list[tuple[float, float]]]:
    """As `weighted_limits`, of several sums: the rows of each."""
    if interval == "exact" and (len(weights) > 1 or matrices is not None):
        return [_exact_of(weights, rows, counts, confidence, matrices) for rows in sums]
    together = [row for rows in sums for row in rows]
    found = yield from limits_of_means(together, list(counts) * len(sums), confidence, interval)
    observed = [seen / seen.sum() for seen in counts]
    size = len(weights)
    return [
        added_limits(
            weights,
            [float(row @ share) for row, share in zip(rows, observed, strict=True)],
            found[place * size : (place + 1) * size],
        )
        for place, rows in enumerate(sums)
    ]


def _exact_of(
    weights: Sequence[float],
    rows: Sequence[Row],
    counts: Sequence[NDArray[np.int64]],
    confidence: float,
    matrices: Sequence[NDArray[np.float64]] | None,
) -> tuple[float, float]:
    if matrices is not None and not all(_two_valued(row) for row in rows):
        return design_limits(weights, rows, matrices, counts, confidence)
    if len(weights) > 1:
        return _exact(weights, rows, counts, confidence)
    each = [linear_limits(rows[0], counts[0], confidence, "exact")]
    return added_limits(weights, [float(rows[0] @ (counts[0] / counts[0].sum()))], each)


def _two_valued(row: Row) -> bool:
    bottom, top = float(row.min()), float(row.max())
    near = SAME * (top - bottom)
    return bool(np.all((row - bottom <= near) | (top - row <= near)))


def _exact(
    weights: Sequence[float],
    rows: Sequence[Row],
    counts: Sequence[NDArray[np.int64]],
    confidence: float,
) -> tuple[float, float]:
    """Each part as a number in [0, 1] per report, times a reach: what all of it can add to the sum."""
    w, n = np.array(weights), np.array([float(seen.sum()) for seen in counts])
    bottoms = np.array([float(row.min()) for row in rows])
    reach = w * np.array([float(np.ptp(row)) for row in rows])
    base = float(w @ bottoms)
    some = reach > 0
    if not some.any():
        return base, base
    means = np.array([float(row @ (seen / seen.sum())) for row, seen in zip(rows, counts, strict=True)])
    places = np.where(some, w * (means - bottoms) / np.where(some, reach, 1), 0)[some].clip(0, 1)
    n, reach = n[some], reach[some]
    alike = float(np.ptp(reach / n)) <= SAME * float((reach / n).max())
    if alike and confidence >= 0.8 and all(_two_valued(row) for row in rows):
        return _binomial(base, float(reach.sum()), round(float(n @ places)), int(n.sum()), confidence)
    room = math.log(2 / (1 - confidence))
    total = float(reach.sum())
    low = _lowest(reach, n, float(reach @ places), room)
    high = total - _lowest(reach, n, total - float(reach @ places), room)
    return base + low, base + high


def _binomial(base: float, total: float, yes: int, n: int, confidence: float) -> tuple[float, float]:
    """Clopper and Pearson's limits, where every report counts the same.

    The parts' shares may differ: beyond 1 from its mean, the number of successes in independent trials
    has no heavier tail than the binomial one with the same mean (Hoeffding 1956, theorem 4). Nearer to
    it a binomial tail is below 0.1 only for a mean below 0.106 (or as near to n), where the probability
    of any success is at most that mean, and the other limit never fails.
    """
    tail = (1 - confidence) / 2
    low = 0.0 if yes == 0 else float(betaincinv(yes, n - yes + 1, tail))
    high = 1.0 if yes == n else float(betaincinv(yes + 1, n - yes, 1 - tail))
    return base + total * low, base + total * high


def _lowest(reach: Row, n: Row, seen: float, room: float) -> float:
    """The smallest sum of reach * share that Chernoff's bound does not refute at e^-room.

    With S = sum(reach * mean of the reports), every tilt > 0 and any shares u,
    Pr(S >= seen) <= exp(-tilt seen) prod((1 - u + u e^(tilt reach / n))^n): reports in [0, 1] instead
    of {0, 1} only lower it (convexity). The logarithm is concave in u, so that its maximum over all
    shares with a given sum is where n c / (1 + u c) is proportional to the reach, c = e^(...) - 1,
    unless a share is 0 or 1. A sum is refuted when that maximum is below -room for some tilt: any
    tilt gives a valid limit, and the best one is looked for.
    """
    if seen <= 0:
        return 0.0
    rate = reach / n
    widest = math.sqrt(2 * room / (0.25 * float(reach @ rate)))
    low, high = 0.2 * widest, max(300 / float(rate.max()), widest)
    best = 0.0
    for _ in range(2):
        tilts = np.geomspace(low, high, 24)
        found = _refuted(reach, n, seen, room, tilts)
        place = int(found.argmax())
        best = max(best, float(found[place]))
        low, high = float(tilts[max(place - 1, 0)]), float(tilts[min(place + 1, 23)])
    return best


def _refuted(reach: Row, n: Row, seen: float, room: float, tilts: Row) -> Row:
    """For each tilt the largest sum that it refutes, or slightly less; shape (tilts,)."""
    gain = np.expm1(np.minimum(tilts[:, None] * reach / n, 700))
    allowed = tilts * seen - room
    below, above = (1 / gain * (reach / n)).min(axis=1), ((1 + 1 / gain) * (reach / n)).max(axis=1)

    def shares(level: Row) -> Row:
        return np.asarray(np.clip(level[:, None] / (reach / n) - 1 / gain, 0, 1))

    for _ in range(45):
        level = (below + above) / 2
        fits = (n * np.log1p(shares(level) * gain)).sum(axis=1) <= allowed
        below, above = np.where(fits, level, below), np.where(fits, above, level)
    return np.where(allowed > 0, shares(below) @ reach, 0.0)
