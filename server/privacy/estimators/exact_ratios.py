"""Guaranteed limits for the mean of those who gave a number, from one part, of many groups at once.

A mean is refuted as a sum is in `design_limits`, with what reports are away from it. Whether it is, is looked at for
each of many means; but most are refuted at the tilt that is likely the best, and of the others only the
outermost matter: so few are tried at every tilt.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators.parts import Mixture, combine_stacks
from server.privacy.estimators.together import Request

Row = NDArray[np.float64]
_Places = NDArray[np.int64]

_MEANS = 201
"""So many means are looked at, from one end of the range to the other."""
_TILTS = 48
_LARGEST = 300.0
"""Exponent of a report under the largest tilt."""
_AT_ONCE = 1 << 18
"""Numbers that are computed with at once: two megabytes of each."""


@dataclass(frozen=True, eq=False)
class SingleRatio(Request):
    """A part of which limits for a mean on the scale [0, 1] of those who gave a number are asked for.

    Attributes
    ----------
    part : Mixture
        Of one part.
    positions, answers : ndarray, shape (m,)
        What each report adds to the sum of numbers, and to the people who gave one.
    confidence : float
        In (0, 1).

    Notes
    -----
    A mean mu is refuted as in `design_limits` where sum((v - mu) s), which is 0 at the true one, is. It is looked
    at 200 steps of the range, and what is accepted is widened by one of them.
    """

    part: Mixture
    positions: Row
    answers: Row
    confidence: float

    @classmethod
    def answer_all(cls, requests: Sequence["SingleRatio"]) -> list[Row]:
        """The limits, shape (2,); those under one design, of the same values, are computed at once."""
        alike: dict[tuple[bytes, bytes, bytes, float], list[int]] = {}
        for place, query in enumerate(requests):
            alike.setdefault(query._key(), []).append(place)
        found = np.empty((len(requests), 2))
        for places in alike.values():
            step = max(_AT_ONCE // (_MEANS * len(requests[places[0]].part.matrix) ** 2), 1)
            for start in range(0, len(places), step):
                some = places[start : start + step]
                first = requests[some[0]]
                parts = combine_stacks([requests[place].part for place in some])
                found[some] = _Refuting.of(parts, first).limits()
        return list(found)

    def _key(self) -> tuple[bytes, bytes, bytes, float]:
        """The same for those that are computed with the same numbers."""
        rows = self.part.matrix, self.positions, self.answers
        matrix, positions, answers = (each.tobytes() for each in rows)
        return matrix, positions, answers, self.confidence


@dataclass(frozen=True, eq=False)
class _Refuting:
    """Which means some parts refute.

    Attributes
    ----------
    away : ndarray, shape (means, m)
        What each report is away from each mean.
    seen : ndarray, shape (parts, means)
        How far all reports of a part are, on average.
    scales : ndarray, shape (parts, tilts)
        The tilts, times the span of what reports are away.
    """

    parts: Mixture
    away: Row
    seen: Row
    scales: Row
    room: float

    @classmethod
    def of(cls, parts: Mixture, request: SingleRatio) -> "_Refuting":
        """Of parts, for what is asked of one of them."""
        away = request.positions - np.linspace(0, 1, _MEANS)[:, None] * request.answers
        room = math.log(2 / (1 - request.confidence))
        largest = _LARGEST * parts.sizes
        smallest = np.minimum(0.05 * np.sqrt(2 * room * parts.sizes), largest / 2)
        scales = np.geomspace(smallest, largest, _TILTS, axis=1)
        return cls(parts, away, parts.reports @ away.T / parts.sizes[:, None], scales, room)

    def limits(self) -> Row:
        """Of each part the accepted means that are farthest out, and a step more; shape (parts, 2)."""
        part, mean = (each.ravel() for each in np.indices(self.seen.shape))
        refuted = self._refute_means(part, mean, self._likeliest_tilts().ravel()).reshape(self.seen.shape)
        open_parts = np.arange(len(refuted))
        while len(open_parts):
            refuted_of_open = refuted[open_parts]
            ends = np.stack(
                [refuted_of_open.argmin(axis=1), _MEANS - 1 - refuted_of_open[:, ::-1].argmin(axis=1)]
            )
            part, mean, tilt = (
                each.ravel()
                for each in np.broadcast_arrays(
                    open_parts[None, :, None], ends[:, :, None], np.arange(_TILTS)
                )
            )
            further = self._refute_means(part, mean, tilt).reshape(2, len(open_parts), _TILTS).any(axis=2)
            for end, gone in zip(ends, np.asarray(further), strict=True):
                refuted[open_parts[gone], end[gone]] = True
            open_parts = open_parts[further.any(axis=0) & ~refuted[open_parts].all(axis=1)]
        steps = _MEANS - 1
        low = np.maximum(refuted.argmin(axis=1) - 1, 0) / steps
        high = np.minimum(_MEANS - refuted[:, ::-1].argmin(axis=1), steps) / steps
        nothing = refuted.all(axis=1)
        return np.stack([np.where(nothing, 0.0, low), np.where(nothing, 1.0, high)], axis=1)

    def _likeliest_tilts(self) -> _Places:
        """Which tilt is nearest to the best one of a normal likelihood, shape (parts, means)."""
        spread = np.maximum(self.parts.observed @ (self.away**2).T, 1e-300)
        best = self.parts.sizes[:, None] * np.abs(self.seen) / spread * self._spans
        first, last = (np.log(self.scales[:, [place]]) for place in (0, -1))
        part = (np.log(np.maximum(best, 1e-300)) - first) / (last - first)
        return np.asarray(np.rint(part.clip(0, 1) * (_TILTS - 1)), dtype=np.int64)

    @property
    def _spans(self) -> Row:
        return np.asarray(np.maximum(np.ptp(self.away, axis=1), 1e-300))

    def _refute_means(self, part: _Places, mean: _Places, tilt: _Places) -> NDArray[np.bool_]:
        """Whether parts refute means at tilts, each a number of its own; shapes (n,).

        What speaks for the other side is never refuted: there the sum is below its mean, which is 0.
        """
        n, seen = self.parts.sizes[part], self.seen[part, mean]
        tilts = self.scales[part, tilt] / self._spans[mean]
        slopes = tilts * np.where(seen > 0, 1, -1) / n
        allowed = tilts * np.abs(seen) - self.room
        found = np.zeros(len(part), dtype=bool)
        some = np.flatnonzero(allowed > 0)
        exponents = slopes[some, None] * self.away[mean[some]]
        top = exponents.max(axis=1, keepdims=True)
        heights = top + np.log(np.exp(exponents - top) @ self.parts.matrix.T)
        counted = (self.away @ self.parts.matrix.T)[mean[some]] * np.where(seen[some] > 0, 1, -1)[:, None]
        found[some] = n[some] * _at_zero(counted, heights) < allowed[some]
        return found


def _at_zero(counted: Row, heights: Row) -> Row:
    """Logarithm of the envelope of exp(heights) where the truths count 0 on average; shape (n,).

    `counted` and `heights` have the shape (n, truths).
    """
    top = heights.max(axis=1, keepdims=True)
    tall = np.exp(heights - top)
    left, right = counted[:, :, None], counted[:, None, :]
    around = (left <= 1e-12) & (right >= -1e-12)
    width = np.where(around & (right - left > 1e-12), right - left, 1)
    part = np.clip(-left / width, 0, 1)
    between = tall[:, :, None] * (1 - part) + tall[:, None, :] * part
    highest = np.where(around, between, 0).max(axis=(1, 2))
    return np.asarray(np.log(np.maximum(highest, 1e-300)) + top[:, 0])
