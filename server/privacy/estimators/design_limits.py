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

Row = NDArray[np.float64]

_ROUNDS, _TILTS = 3, 24
"""How often the best tilt is looked for, each time among so many, closer together."""
_LARGEST = 300.0
"""Exponent of a report under the largest tilt."""
_ALIKE = 1e-9


@dataclass(frozen=True)
class _Side:
    """Parts as one side sees them: what each report adds to the sum, what each truth counts in it."""

    sizes: Row
    values: tuple[Row, ...]
    counted: tuple[Row, ...]
    matrices: tuple[Row, ...]


def design_limits(
    weights: Sequence[float],
    rows: Sequence[Row],
    matrices: Sequence[Row],
    counts: Sequence[NDArray[np.int64]],
    confidence: float,
) -> tuple[float, float]:
    """Limits for sum(weight * what the truths of a part count on average), whatever these truths are.

    Parameters
    ----------
    weights : sequence of float
        Positive.
    rows : sequence of ndarray, shapes (m1,), (m2,), ...
        Values of the reports of each part.
    matrices : sequence of ndarray, shapes (k1, m1), (k2, m2), ...
        Chances of each report, a row for each truth.
    counts : sequence of ndarray of int
        How often each report was seen, a positive sum in each part.
    confidence : float
        In (0, 1).

    Returns
    -------
    tuple of float
        Each is exceeded with probability (1 - confidence) / 2 at most. The estimate is always between them.

    Notes
    -----
    With S the estimate, Pr(S >= seen) <= exp(-tilt seen) prod(M^n) for every tilt > 0 (Chernoff), where M, the
    mean of exp(tilt weight value / n), is linear in the true shares of a part: at most the upper concave
    envelope of the truths' own M over what they count. A sum is refuted when the product stays below
    (1 - confidence) / 2 for all true shares that give this sum, at some tilt. Any tilt gives a valid limit.
    """
    sizes = np.array([float(seen.sum()) for seen in counts])
    means = [matrix @ row for matrix, row in zip(matrices, rows, strict=True)]
    room = math.log(2 / (1 - confidence))
    seen = sum(
        float(weight * (row @ own)) / size
        for weight, row, own, size in zip(weights, rows, counts, sizes.tolist(), strict=True)
    )
    found = []
    for sign in (1.0, -1.0):
        side = _Side(
            sizes,
            tuple(sign * weight * row for weight, row in zip(weights, rows, strict=True)),
            tuple(sign * weight * mean for weight, mean in zip(weights, means, strict=True)),
            tuple(matrices),
        )
        found.append(min(_lowest(side, sign * seen, room), sign * seen))
    return found[0], -found[1]


def _lowest(side: _Side, seen: float, room: float) -> float:
    """The smallest sum that is not refuted, or less."""
    least = sum(float(counted.min()) for counted in side.counted)
    spans = np.array([float(np.ptp(values)) for values in side.values])
    if spans.max() == 0:
        return least
    top = _LARGEST / float((spans / side.sizes).max())
    bottom = min(0.05 * math.sqrt(2 * room / float((spans**2 / side.sizes).sum())), top / 2)
    best = least
    for _ in range(_ROUNDS):
        tilts = np.geomspace(bottom, top, _TILTS)
        refuted = _refuted(side, tilts, tilts * seen - room)
        place = int(refuted.argmax())
        best = max(best, float(refuted[place]))
        bottom, top = float(tilts[max(place - 1, 0)]), float(tilts[min(place + 1, _TILTS - 1)])
    return best


def _refuted(side: _Side, tilts: Row, allowed: Row) -> Row:
    """For each tilt the largest sum below which all are refuted; shape (tilts,)."""
    points, heights = zip(
        *(
            _highest(counted, _log_means(values, matrix, size, tilts))
            for counted, values, matrix, size in zip(
                side.counted, side.values, side.matrices, side.sizes.tolist(), strict=True
            )
        ),
        strict=True,
    )
    if len(points) == 1:
        return _reached_alone(points[0], heights[0] - (allowed / side.sizes[0])[:, None])
    return _reached_together(points, heights, side.sizes, allowed)


def _log_means(values: Row, matrix: Row, size: float, tilts: Row) -> Row:
    """Logarithms of the truths' mean of exp(tilt value / n); shape (tilts, truths)."""
    exponents = tilts[:, None] * (values / size)
    largest = exponents.max(axis=1, keepdims=True)
    return np.asarray(largest + np.log(np.exp(exponents - largest) @ matrix.T))


def _highest(counted: Row, heights: Row) -> tuple[Row, Row]:
    """Truths that count the same are one, the highest of them."""
    order = np.argsort(counted)
    ordered = counted[order]
    starts = np.concatenate([[0], np.flatnonzero(np.diff(ordered) > _ALIKE * float(np.ptp(counted))) + 1])
    return ordered[starts], np.maximum.reduceat(heights[:, order], starts, axis=1)


def _reached_alone(points: Row, heights: Row) -> Row:
    """Where the envelope of exp(heights) first reaches 1, for each tilt; the last point where it never does."""
    tall = np.exp(np.minimum(heights, 700.0))
    enough = tall >= 1
    first = np.where(enough, points, points[-1]).min(axis=1)
    before, after = tall[:, :, None], tall[:, None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        part = (1 - before) / (after - before)
    crosses = (before < 1) & (after >= 1) & (points[None, None, :] > points[None, :, None])
    part = np.where(crosses, part, 1.0)
    crossing = points[None, :, None] + part * (points[None, None, :] - points[None, :, None])
    return np.asarray(np.minimum(first, np.where(crosses, crossing, points[-1]).min(axis=(1, 2))))


def _reached_together(points: Sequence[Row], heights: Sequence[Row], sizes: Row, allowed: Row) -> Row:
    """The same of several parts: the smallest sum for which n log(envelope), added up, reaches what is allowed.

    The logarithms are concave, so that their largest sum for a given total is where all have the same slope.
    """

    def at(slopes: Row) -> tuple[Row, Row]:
        """The total and the sum of logarithms where every part has this slope; shapes (tilts,)."""
        total, logs = np.zeros(len(slopes)), np.zeros(len(slopes))
        for own, height, size in zip(points, heights, sizes.tolist(), strict=True):
            place, log = _touching(own, height, size, slopes)
            total, logs = total + place, logs + log
        return total, logs

    bottom, top = np.full(len(allowed), -60.0), np.full(len(allowed), 60.0)
    scale = sizes.sum() / sum(float(np.ptp(own)) for own in points)
    for _ in range(60):
        middle = (bottom + top) / 2
        enough = at(scale * np.exp(middle))[1] >= allowed
        bottom, top = np.where(enough, middle, bottom), np.where(enough, top, middle)
    # The steeper slope falls short of what is allowed, so that its total is refuted.
    return at(scale * np.exp(top))[0]


def _touching(points: Row, heights: Row, size: float, slopes: Row) -> tuple[Row, Row]:
    """Where a line of each slope touches n log(envelope) of one part: the place, and the logarithm there."""
    top = heights.max(axis=1, keepdims=True)
    tall = np.exp(heights - top)
    left, right = np.triu_indices(len(points), 0)
    width = points[right] - points[left]
    rise = np.where(width > 0, (tall[:, right] - tall[:, left]) / np.where(width > 0, width, 1), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = size / slopes[:, None] - np.where(rise != 0, tall[:, left] / rise, 0.0)
    away = np.where(rise > 0, np.clip(inside, 0, width), 0.0)
    logs = size * np.log(np.maximum(tall[:, left] + rise * away, 1e-300))
    values = logs - slopes[:, None] * (points[left] + away)
    best = values.argmax(axis=1)[:, None]
    place = np.take_along_axis(points[left] + away, best, axis=1)[:, 0]
    return place, np.take_along_axis(logs, best, axis=1)[:, 0] + size * top[:, 0]


def ratio_limits(
    positions: Row, answers: Row, matrix: Row, counts: NDArray[np.int64], confidence: float
) -> tuple[float, float]:
    """Limits for a mean on the scale [0, 1] of those who gave a number, from one part.

    Parameters
    ----------
    positions, answers : ndarray, shape (m,)
        What each report adds to the sum of numbers, and to the people who gave one.
    matrix : ndarray, shape (k, m)
        Chances of each report, a row for each truth.
    counts : ndarray of int, shape (m,)
        With a positive sum.
    confidence : float
        In (0, 1).

    Notes
    -----
    A mean mu is refuted as in `design_limits` where sum((v - mu) s), which is 0 at the true one, is. It is looked
    at 200 steps of the range, and what is accepted is widened by one of them.
    """
    n, room, steps = float(counts.sum()), math.log(2 / (1 - confidence)), 200
    means = np.linspace(0, 1, steps + 1)
    accepted = np.ones(len(means), dtype=bool)
    away = positions - means[:, None] * answers
    for values in (away, -away):
        span = np.maximum(np.ptp(values, axis=1, keepdims=True), 1e-300)
        largest = _LARGEST * n
        smallest = min(0.05 * math.sqrt(2 * room * n), largest / 2)
        tilts = np.geomspace(smallest, largest, 2 * _TILTS) / span
        exponents = tilts[:, :, None] * (values / n)[:, None, :]
        top = exponents.max(axis=2, keepdims=True)
        heights = top + np.log(np.exp(exponents - top) @ matrix.T)
        allowed = tilts * (values @ counts / n)[:, None] - room
        accepted &= ~(n * _at_zero(values @ matrix.T, heights) < allowed).any(axis=1)
    found = means[accepted]
    if not len(found):
        return 0.0, 1.0
    return max(float(found[0]) - 1 / steps, 0.0), min(float(found[-1]) + 1 / steps, 1.0)


def _at_zero(counted: Row, heights: Row) -> Row:
    """Logarithm of the envelope of exp(heights) where the truths count 0 on average.

    `counted` has the shape (means, truths), `heights` (means, tilts, truths), the result (means, tilts).
    """
    top = heights.max(axis=2, keepdims=True)
    tall = np.exp(heights - top)
    left, right = counted[:, :, None], counted[:, None, :]
    around = (left <= 1e-12) & (right >= -1e-12)
    width = np.where(around & (right - left > 1e-12), right - left, 1)
    part = np.clip(-left / width, 0, 1)[:, None]
    between = tall[:, :, :, None] * (1 - part) + tall[:, :, None, :] * part
    highest = np.where(around[:, None], between, 0).max(axis=(2, 3))
    return np.asarray(np.log(np.maximum(highest, 1e-300)) + top[:, :, 0])
