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

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators.parts import Mixture
from server.privacy.estimators.refuting import find_refuted, pieces_of

Row = NDArray[np.float64]

_ROUNDS, _TILTS = 3, 24
"""How often the best tilt is looked for, each time among so many, closer together."""
_LARGEST = 300.0
"""Exponent of a report under the largest tilt."""
_ALIKE = 1e-9


def design_limits(stacks: Sequence[Mixture], rows: Sequence[Row], confidence: float) -> tuple[float, float]:
    """Limits for sum(weight * what the truths of a part count on average), whatever these truths are.

    Parameters
    ----------
    stacks : sequence of Mixture
        Parts that count.
    rows : sequence of ndarray, shapes (m1,), (m2,), ...
        Values of the reports, of each stack.
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
    room = math.log(2 / (1 - confidence))
    seen = sum(float(each.weights @ (each.observed @ row)) for each, row in zip(stacks, rows, strict=True))
    low, high = (
        min(_lowest(stacks, [sign * row for row in rows], sign * seen, room), sign * seen)
        for sign in (1.0, -1.0)
    )
    return low, -high


def _lowest(stacks: Sequence[Mixture], rows: Sequence[Row], seen: float, room: float) -> float:
    """The smallest sum that is not refuted, or less."""
    points = [_points(each, row) for each, row in zip(stacks, rows, strict=True)]
    least = sum(float(own[0] * each.weights.sum()) for each, (own, _) in zip(stacks, points, strict=True))
    rates = np.concatenate(
        [np.ptp(row) * each.weights / each.sizes for each, row in zip(stacks, rows, strict=True)]
    )
    if rates.max() == 0:
        return least
    sizes = np.concatenate([each.sizes for each in stacks])
    top = _LARGEST / float(rates.max())
    bottom = min(0.05 * math.sqrt(2 * room / float((rates**2 * sizes).sum())), top / 2)
    best = least
    for _ in range(_ROUNDS):
        tilts = np.geomspace(bottom, top, _TILTS)
        found = _refuted(stacks, rows, points, tilts, tilts * seen - room)
        place = int(found.argmax())
        best = max(best, float(found[place]))
        bottom, top = float(tilts[max(place - 1, 0)]), float(tilts[min(place + 1, _TILTS - 1)])
    return best


def _points(parts: Mixture, row: Row) -> tuple[Row, list[NDArray[np.int64]]]:
    """What the truths count, rising, and which truths count it."""
    counted = parts.matrix @ row
    order = np.argsort(counted)
    ordered = counted[order]
    starts = np.flatnonzero(np.diff(ordered) > _ALIKE * float(np.ptp(counted))) + 1
    return ordered[np.concatenate([[0], starts])], np.split(order, starts)


def _refuted(
    stacks: Sequence[Mixture],
    rows: Sequence[Row],
    points: Sequence[tuple[Row, list[NDArray[np.int64]]]],
    tilts: Row,
    allowed: Row,
) -> Row:
    """For each tilt the largest sum below which all are refuted; shape (tilts,)."""
    several, least = [], 0.0
    for each, row, (counted, truths) in zip(stacks, rows, points, strict=True):
        logs = _log_means(each, row, tilts)
        # Truths that count the same are one, the highest of them.
        heights = np.stack([logs[:, :, own].max(axis=2) for own in truths], axis=2)
        own_points = each.weights[:, None] * counted
        if len(stacks) == 1 and len(each.sizes) == 1:
            return _reached_alone(own_points[0], heights[:, 0] - (allowed / each.sizes[0])[:, None])
        several.append(pieces_of(own_points, heights, each.sizes.astype(np.float64)))
        least += float(own_points[:, 0].sum())
    return find_refuted(several, least, allowed)


def _log_means(parts: Mixture, row: Row, tilts: Row) -> Row:
    """Logarithms of the truths' mean of exp(tilt weight value / n); shape (tilts, parts, truths)."""
    exponents = tilts[:, None, None] * (parts.weights / parts.sizes)[:, None] * row
    largest = exponents.max(axis=2, keepdims=True)
    return np.asarray(largest + np.log(np.exp(exponents - largest) @ parts.matrix.T))


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
