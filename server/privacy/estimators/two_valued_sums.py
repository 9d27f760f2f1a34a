"""Guaranteed limits for sums over several parts in which each report has one of two values, of many at once.

References
----------
Chernoff, H. (1952). A measure of asymptotic efficiency for tests of a hypothesis based on the sum of
observations. *Annals of Mathematical Statistics* 23, 493-507.
Hoeffding, W. (1956). On the distribution of the number of successes in independent trials. *Annals of
Mathematical Statistics* 27, 713-721.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from server.privacy.estimators.parts import Mixture
from server.privacy.estimators.refuting import find_refuted, pieces_of
from server.privacy.estimators.score_limits import SAME
from server.privacy.estimators.tilts import LARGEST, find_most_refuted
from server.privacy.estimators.together import Request

Row = NDArray[np.float64]

_ROUNDS = 2
"""Scales of tilts, one inside the other."""


@dataclass(frozen=True, eq=False)
class TwoValuedSums(Request):
    """Sums of which guaranteed limits are asked for: each part as a share, times what all of it can add.

    Attributes
    ----------
    stacks : sequence of Mixture
        Parts that count.
    sums : sequence of sequences of ndarray, shapes (m1,), (m2,), ...
        For each sum the values of the reports, of each stack: two of them in each.
    confidence : float
        In (0, 1).
    """

    stacks: Sequence[Mixture]
    sums: Sequence[Sequence[Row]]
    confidence: float

    @classmethod
    def answer_all(cls, requests: Sequence["TwoValuedSums"]) -> list[Row]:
        """The limits, shape (sums, 2); those over as many parts are computed at once."""
        sums = [_Sum.of(each, rows) for each in requests for rows in each.sums]
        limits = np.array([[one.base, one.base] for one in sums])
        by_length: dict[tuple[int, float], list[int]] = {}
        for place, seen in enumerate(sums):
            if seen.alike:
                limits[place] += seen.total * _binomial_limits(seen)
            elif seen.total:
                by_length.setdefault((len(seen.n), seen.confidence), []).append(place)
        for (_parts, confidence), places in by_length.items():
            own = [sums[place] for place in places]
            limits[places] += _bounds(own, math.log(2 / (1 - confidence)))
        return np.split(limits, np.cumsum([len(each.sums) for each in requests])[:-1])


@dataclass(frozen=True, eq=False)
class _Sum:
    """The parts of a sum that can add to it.

    Attributes
    ----------
    base : float
        What is added by reports whatever they say.
    reach, n, shares : ndarray, shape (parts,)
        What a part can add beyond that, its reports, and the share of the reports that add it.
    """

    base: float
    reach: Row
    n: Row
    shares: Row
    confidence: float

    @classmethod
    def of(cls, request: TwoValuedSums, rows: Sequence[Row]) -> "_Sum":
        """Of what is asked, a sum."""
        stacks = request.stacks
        n = np.concatenate([each.sizes for each in stacks]).astype(np.float64)
        weights = np.concatenate([each.weights for each in stacks])
        means = np.concatenate([each.observed @ row for each, row in zip(stacks, rows, strict=True)])
        lengths = [len(each.sizes) for each in stacks]
        bottoms = np.repeat([float(row.min()) for row in rows], lengths)
        reach = weights * np.repeat([float(np.ptp(row)) for row in rows], lengths)
        some = reach > 0
        shares = (weights * (means - bottoms) / np.where(some, reach, 1)).clip(0, 1)
        return cls(float(weights @ bottoms), reach[some], n[some], shares[some], request.confidence)

    @property
    def total(self) -> float:
        """What all parts can add."""
        return float(self.reach.sum())

    @property
    def alike(self) -> bool:
        """Whether every report counts the same, and binomial limits are guaranteed."""
        rates = self.reach / self.n
        return len(rates) > 0 and float(np.ptp(rates)) <= SAME * float(rates.max()) and self.confidence >= 0.8


def _binomial_limits(seen: _Sum) -> Row:
    """Clopper and Pearson's limits, where every report counts the same.

    The parts' shares may differ: beyond 1 from its mean, the number of successes in independent trials
    has no heavier tail than the binomial one with the same mean (Hoeffding 1956, theorem 4). Nearer to
    it a binomial tail is below 0.1 only for a mean below 0.106 (or as near to n), where the probability
    of any success is at most that mean, and the other limit never fails.
    """
    yes, n, tail = round(float(seen.n @ seen.shares)), int(seen.n.sum()), (1 - seen.confidence) / 2
    low = 0.0 if yes == 0 else float(scipy.special.betaincinv(yes, n - yes + 1, tail))
    high = 1.0 if yes == n else float(scipy.special.betaincinv(yes + 1, n - yes, 1 - tail))
    return np.array([low, high])


def _bounds(sums: Sequence[_Sum], room: float) -> Row:
    """Chernoff's limits of what is beyond the base, of sums over as many parts each; shape (sums, 2)."""
    reach, n, shares = (np.stack([getattr(one, name) for one in sums]) for name in ("reach", "n", "shares"))
    total, seen = reach.sum(axis=1), (reach * shares).sum(axis=1)
    both = _lowest(np.tile(reach, (2, 1)), np.tile(n, (2, 1)), np.concatenate([seen, total - seen]), room)
    low, high = both.reshape(2, -1)
    return np.stack([low, total - high], axis=1)


def _lowest(reach: Row, n: Row, seen: Row, room: float) -> Row:
    """The smallest sums of reach * share that Chernoff's bound does not refute at e^-room; shape (sums,).

    With S = sum(reach * mean of the reports), every tilt > 0 and any shares u,
    Pr(S >= seen) <= exp(-tilt seen) prod((1 - u + u e^(tilt reach / n))^n). A sum is refuted when
    the logarithm's maximum over all shares with this sum is below -room for some tilt (`refuting`):
    any tilt gives a valid limit, and the best one is looked for.
    """
    rate = reach / n
    widest = np.sqrt(2 * room / (0.25 * (reach * rate).sum(axis=1)))

    def refute_sums(tilts: Row) -> Row:
        shape = (*tilts.shape, reach.shape[1])
        heights = np.zeros((*shape, 2))
        heights[..., 1] = tilts[:, :, None] * rate[:, None]
        ends = np.zeros_like(heights)
        ends[..., 1] = reach[:, None]
        flat = (-1, *heights.shape[2:])
        sizes = np.broadcast_to(n[:, None], shape).reshape(flat[:2])
        pieces = pieces_of(ends.reshape(flat), heights.reshape(flat), sizes)
        return find_refuted([pieces], 0.0, (tilts * seen[:, None] - room).ravel()).reshape(tilts.shape)

    top = np.maximum(LARGEST / rate.max(axis=1), widest)
    found = find_most_refuted(refute_sums, 0.2 * widest, top, _ROUNDS, reach.size)
    return np.where(seen > 0, np.maximum(found, 0.0), 0.0)
