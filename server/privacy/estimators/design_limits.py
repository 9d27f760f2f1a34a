"""Guaranteed confidence limits for a weighted sum over parts, from what their designs can send.

An estimate gives every report a value, such that the mean value of the reports of a truth is what this truth
counts: 1 or 0 for a share, its number for a mean. Under an ordered scale there are many values, far apart, and
limits that know of no more than their range are far too wide. But reports come from a design: whatever the
true shares are, the reports of a part are a mixture of its rows.

References
----------
Chernoff, H. (1952). A measure of asymptotic efficiency for tests of a hypothesis based on the sum of
observations. *Annals of Mathematical Statistics* 23, 493-507.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators.parts import Mixture
from server.privacy.estimators.refuting import Pieces, find_refuted, pieces_of
from server.privacy.estimators.tilts import LARGEST, find_most_refuted
from server.privacy.estimators.together import Request

Row = NDArray[np.float64]
Points = tuple[Row, list[NDArray[np.int64]]]
"""What the truths of a part count, rising, and which truths count it."""

ROUNDS = 3
"""Scales of tilts, one inside the other."""
_ALIKE = 1e-9


@dataclass(frozen=True, eq=False)
class SeveralParts(Request):
    """Sums of which guaranteed limits are asked for: sum(weight * what the truths of a part count on average).

    Attributes
    ----------
    stacks : sequence of Mixture
        Parts that count.
    sums : sequence of sequences of ndarray, shapes (m1,), (m2,), ...
        For each sum the values of the reports, of each stack.
    confidence : float
        In (0, 1).

    Notes
    -----
    A limit is exceeded with probability (1 - confidence) / 2 at most, whatever the truths are, and the estimate is
    always between the two. With S the estimate, Pr(S >= seen) <= exp(-tilt seen) prod(M^n) for every tilt > 0
    (Chernoff), where M, the mean of exp(tilt weight value / n), is linear in the true shares of a part: at most the
    upper concave envelope of the truths' own M over what they count. A sum is refuted when the product stays below
    (1 - confidence) / 2 for all true shares that give this sum, at some tilt. Any tilt gives a valid limit.
    """

    stacks: Sequence[Mixture]
    sums: Sequence[Sequence[Row]]
    confidence: float

    @classmethod
    def answer_all(cls, requests: Sequence["SeveralParts"]) -> list[Row]:
        """The limits, shape (sums, 2); groups of as many parts under the same designs are computed at once."""
        alike: dict[tuple[object, ...], list[int]] = {}
        for place, query in enumerate(requests):
            alike.setdefault(query._key(), []).append(place)
        found: list[Row] = [np.empty((0, 2))] * len(requests)
        for places in alike.values():
            some = _Alike.of([requests[place] for place in places])
            for place, limits in zip(places, some.limits(), strict=True):
                found[place] = limits
        return found

    def _key(self) -> tuple[object, ...]:
        stacks = tuple((each.matrix.tobytes(), each.reports.shape) for each in self.stacks)
        values = tuple(row.tobytes() for rows in self.sums for row in rows)
        return stacks, values, len(self.sums), self.confidence


@dataclass(frozen=True, eq=False)
class _Alike:
    """Groups of parts with as many parts under the same designs.

    Attributes
    ----------
    matrices : list of ndarray, shapes (k, m1), (k, m2), ...
        Of each stack.
    observed : list of ndarray, shapes (groups, parts1, m1), (groups, parts2, m2), ...
    weights, sizes : list of ndarray, shapes (groups, parts1), (groups, parts2), ...
    signed : list of lists of ndarray
        Values of the reports of each stack, for each sum and for what it is below 0.
    room : float
    """

    matrices: list[Row]
    observed: list[Row]
    weights: list[Row]
    sizes: list[Row]
    signed: list[list[Row]]
    room: float

    @classmethod
    def of(cls, groups: Sequence[SeveralParts]) -> "_Alike":
        """Of what is asked of them, the same of each."""
        stacks = list(zip(*(each.stacks for each in groups), strict=True))
        first = groups[0]
        return cls(
            [of_stack[0].matrix for of_stack in stacks],
            [np.stack([each.observed for each in of_stack]) for of_stack in stacks],
            [np.stack([each.weights for each in of_stack]) for of_stack in stacks],
            [np.stack([each.sizes for each in of_stack]).astype(np.float64) for of_stack in stacks],
            [[sign * row for row in rows] for rows in first.sums for sign in (1.0, -1.0)],
            math.log(2 / (1 - first.confidence)),
        )

    def limits(self) -> Row:
        """Of each sum of each group, shape (groups, sums, 2)."""
        points = [
            [find_points(matrix, row) for matrix, row in zip(self.matrices, rows, strict=True)]
            for rows in self.signed
        ]
        alike: dict[tuple[int, ...], list[int]] = {}
        for place, of_sum in enumerate(points):
            alike.setdefault(tuple(len(own) for own, _ in of_sum), []).append(place)
        ends = np.empty((len(self.weights[0]), len(self.signed)))
        for places in alike.values():
            ends[:, places] = self._lowest(places, [points[place] for place in places]).T
        low, high = ends[:, ::2], -ends[:, 1::2]
        return np.stack([low, high], axis=2)

    def _lowest(self, places: Sequence[int], points: Sequence[Sequence[Points]]) -> Row:
        """Of each sum the smallest that is not refuted, or less; at most what was seen; shape (sums, groups)."""
        signed = [self.signed[place] for place in places]
        least, seen = np.zeros((2, len(signed), len(self.weights[0])))
        rates, spread = np.zeros_like(least), np.zeros_like(least)
        for number, rows in enumerate(signed):
            for row, (counted, _), weights, sizes, observed in zip(
                rows, points[number], self.weights, self.sizes, self.observed, strict=True
            ):
                rate = np.ptp(row) * weights / sizes
                least[number] += counted[0] * weights.sum(axis=1)
                seen[number] += (weights * (observed @ row)).sum(axis=1)
                rates[number] = np.maximum(rates[number], rate.max(axis=1))
                spread[number] += (rate**2 * sizes).sum(axis=1)
        top = LARGEST / np.where(rates > 0, rates, 1)
        bottom = np.minimum(0.05 * np.sqrt(2 * self.room / np.where(rates > 0, spread, 1)), top / 2)

        def refute_sums(tilts: Row) -> Row:
            """Up to where each sum of each group is refuted at its tilts, shape (sums * groups, tilts)."""
            tried = tilts.reshape(*least.shape, -1)
            pieces = [
                self._pieces(stack, [rows[stack] for rows in signed], [own[stack] for own in points], tried)
                for stack in range(len(self.matrices))
            ]
            allowed = tried * seen[:, :, None] - self.room
            found = find_refuted(pieces, np.repeat(least.ravel(), tilts.shape[1]), allowed.ravel())
            return found.reshape(tilts.shape)

        numbers = len(signed) * sum(observed.size for observed in self.observed)
        found = find_most_refuted(refute_sums, bottom.ravel(), top.ravel(), ROUNDS, numbers).reshape(
            least.shape
        )
        return np.minimum(np.where(rates > 0, np.maximum(least, found), least), seen)

    def _pieces(self, stack: int, rows: Sequence[Row], points: Sequence[Points], tilts: Row) -> Pieces:
        """Of the parts of a stack; `tilts` has the shape (sums, groups, tilts), of which each is a tilt."""
        weights, sizes = self.weights[stack], self.sizes[stack]
        slopes = tilts[:, :, :, None] * (weights / sizes)[:, None]
        heights = np.stack(
            [
                find_highest_means(self.matrices[stack], row, truths, own)
                for row, (_counted, truths), own in zip(rows, points, slopes, strict=True)
            ]
        )
        counted = np.stack([own for own, _truths in points])
        across = np.broadcast_to(weights[:, None, :, None] * counted[:, None, None, None], heights.shape)
        flat = (-1, *heights.shape[3:])
        return pieces_of(
            across.reshape(flat),
            heights.reshape(flat),
            np.broadcast_to(sizes[:, None], heights.shape[:4]).reshape(flat[:2]),
        )


def find_points(matrix: Row, row: Row) -> Points:
    """What the truths count, rising, and which truths count it."""
    counted = matrix @ row
    order = np.argsort(counted)
    ordered = counted[order]
    starts = np.flatnonzero(np.diff(ordered) > _ALIKE * float(np.ptp(counted))) + 1
    return ordered[np.concatenate([[0], starts])], np.split(order, starts)


def find_highest_means(matrix: Row, row: Row, truths: Sequence[NDArray[np.int64]], slopes: Row) -> Row:
    """Logarithms of the mean of exp(slope value) of truths, shape (..., points); slopes, shape (...), are positive.

    Truths that count the same are one, the highest of them.
    """
    largest = row.max()
    means = np.exp(slopes[..., None] * (row - largest)) @ matrix.T
    highest = np.stack([means[..., own].max(axis=-1) for own in truths], axis=-1)
    return np.asarray(slopes[..., None] * largest + np.log(highest))
