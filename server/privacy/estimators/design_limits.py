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

ROUNDS, TILTS = 3, 24
"""How often the best tilt is looked for, each time among so many, closer together."""
LARGEST = 300.0
"""Exponent of a report under the largest tilt."""
_ALIKE = 1e-9


def design_limits(
    stacks: Sequence[Mixture], sums: Sequence[Sequence[Row]], confidence: float
) -> list[tuple[float, float]]:
    """Limits for sum(weight * what the truths of a part count on average), whatever these truths are.

    Parameters
    ----------
    stacks : sequence of Mixture
        Parts that count.
    sums : sequence of sequences of ndarray, shapes (m1,), (m2,), ...
        For each sum the values of the reports, of each stack.
    confidence : float
        In (0, 1).

    Returns
    -------
    list of tuple of float
        Each is exceeded with probability (1 - confidence) / 2 at most. The estimate is always between them.

    Notes
    -----
    With S the estimate, Pr(S >= seen) <= exp(-tilt seen) prod(M^n) for every tilt > 0 (Chernoff), where M, the
    mean of exp(tilt weight value / n), is linear in the true shares of a part: at most the upper concave
    envelope of the truths' own M over what they count. A sum is refuted when the product stays below
    (1 - confidence) / 2 for all true shares that give this sum, at some tilt. Any tilt gives a valid limit.
    """
    room = math.log(2 / (1 - confidence))
    signed = [[sign * row for row in rows] for rows in sums for sign in (1.0, -1.0)]
    seen = np.array(
        [
            sum(float(each.weights @ (each.observed @ row)) for each, row in zip(stacks, rows, strict=True))
            for rows in signed
        ]
    )
    ends = np.minimum(_lowest(stacks, signed, seen, room), seen).reshape(-1, 2)
    return [(low, -high) for low, high in ends.tolist()]


def _lowest(stacks: Sequence[Mixture], sums: Sequence[Sequence[Row]], seen: Row, room: float) -> Row:
    """Of each sum the smallest that is not refuted, or less; shape (sums,)."""
    points = [[find_points(each, row) for each, row in zip(stacks, rows, strict=True)] for rows in sums]
    found = np.array(
        [
            sum(float(own[0] * each.weights.sum()) for each, (own, _) in zip(stacks, of_sum, strict=True))
            for of_sum in points
        ]
    )
    alike: dict[tuple[int, ...], list[int]] = {}
    for place, (rows, of_sum) in enumerate(zip(sums, points, strict=True)):
        if any(np.ptp(row) > 0 for row in rows):
            alike.setdefault(tuple(len(own) for own, _ in of_sum), []).append(place)
    for places in alike.values():
        some = [sums[place] for place in places], [points[place] for place in places]
        found[places] = np.maximum(found[places], _best_of_tilts(stacks, *some, seen[places], room))
    return found


def _best_of_tilts(
    stacks: Sequence[Mixture],
    sums: Sequence[Sequence[Row]],
    points: Sequence[Sequence[tuple[Row, list[NDArray[np.int64]]]]],
    seen: Row,
    room: float,
) -> Row:
    """The largest of what is refuted of each sum, at any tilt that is tried; shape (sums,)."""
    rates = np.array(
        [
            np.concatenate(
                [np.ptp(row) * each.weights / each.sizes for each, row in zip(stacks, rows, strict=True)]
            )
            for rows in sums
        ]
    )
    sizes = np.concatenate([each.sizes for each in stacks])
    top = LARGEST / rates.max(axis=1)
    bottom = np.minimum(0.05 * np.sqrt(2 * room / (rates**2 @ sizes)), top / 2)
    best, places = np.full(len(sums), -np.inf), np.arange(len(sums))
    for _ in range(ROUNDS):
        tilts = np.geomspace(bottom, top, TILTS, axis=1)
        found = _find_refuted_sums(stacks, sums, points, tilts, tilts * seen[:, None] - room)
        place = found.argmax(axis=1)
        best = np.maximum(best, found[places, place])
        bottom, top = (tilts[places, np.clip(place + step, 0, TILTS - 1)] for step in (-1, 1))
    return best


def find_points(parts: Mixture, row: Row) -> tuple[Row, list[NDArray[np.int64]]]:
    """What the truths count, rising, and which truths count it."""
    counted = parts.matrix @ row
    order = np.argsort(counted)
    ordered = counted[order]
    starts = np.flatnonzero(np.diff(ordered) > _ALIKE * float(np.ptp(counted))) + 1
    return ordered[np.concatenate([[0], starts])], np.split(order, starts)


def _find_refuted_sums(
    stacks: Sequence[Mixture],
    sums: Sequence[Sequence[Row]],
    points: Sequence[Sequence[tuple[Row, list[NDArray[np.int64]]]]],
    tilts: Row,
    allowed: Row,
) -> Row:
    """For each sum and tilt the largest sum below which all are refuted; shape (sums, tilts)."""
    several, least = [], np.zeros(len(sums))
    for number, stack in enumerate(stacks):
        of_stack = [(rows[number], *of_sum[number]) for rows, of_sum in zip(sums, points, strict=True)]
        heights = np.concatenate(
            [
                find_highest_means(
                    stack, row, truths, np.broadcast_to(own, (len(stack.sizes), TILTS))
                ).swapaxes(0, 1)
                for (row, _counted, truths), own in zip(of_stack, tilts, strict=True)
            ]
        )
        own_points = np.stack([stack.weights[:, None] * counted for _row, counted, _truths in of_stack])
        several.append(
            pieces_of(np.repeat(own_points, TILTS, axis=0), heights, stack.sizes.astype(np.float64))
        )
        least += own_points[:, :, 0].sum(axis=1)
    return find_refuted(several, np.repeat(least, TILTS), allowed.ravel()).reshape(allowed.shape)


def find_highest_means(parts: Mixture, row: Row, truths: Sequence[NDArray[np.int64]], tilts: Row) -> Row:
    """Logarithms of the mean of exp(tilt weight value / n) of truths; shape (parts, tilts, points).

    Truths that count the same are one, the highest of them. Each part has its tilts, shape (parts, tilts).
    """
    exponents = (tilts * (parts.weights / parts.sizes)[:, None])[:, :, None] * row
    largest = exponents.max(axis=2, keepdims=True)
    logs = largest + np.log(np.exp(exponents - largest) @ parts.matrix.T)
    return np.stack([logs[:, :, own].max(axis=2) for own in truths], axis=2)
