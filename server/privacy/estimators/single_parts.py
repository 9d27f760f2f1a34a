"""Exact limits for sums over a single part, of many parts at once, each by itself.

Where each report has one of two values these are Blaker's (`exact_shares`), elsewhere those of `design_limits`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators.design_limits import (
    LARGEST,
    ROUNDS,
    TILTS,
    find_highest_means,
    find_points,
)
from server.privacy.estimators.exact_shares import blaker_limits
from server.privacy.estimators.parts import Mixture, combine_stacks
from server.privacy.estimators.score_limits import SAME
from server.privacy.estimators.together import Request

Row = NDArray[np.float64]

_AT_ONCE = 1 << 17
"""Numbers that are computed with at once: a megabyte of each."""


@dataclass(frozen=True, eq=False)
class SinglePart(Request):
    """A part, alone in its sums, of which exact limits are asked for: those of `weighted_limits`.

    Attributes
    ----------
    part : Mixture
        Of one part.
    rows : sequence of ndarray, shape (m,)
        Values of the reports, for each sum.
    confidence : float
        In (0, 1).
    """

    part: Mixture
    rows: Sequence[Row]
    confidence: float

    @classmethod
    def answer_all(cls, asked: Sequence["SinglePart"]) -> list[Row]:
        """The limits, shape (sums, 2); those under one design, of the same values, are computed at once."""
        alike: dict[tuple[bytes, bytes, float], list[int]] = {}
        for place, query in enumerate(asked):
            values = b"".join(row.tobytes() for row in query.rows)
            alike.setdefault((query.part.matrix.tobytes(), values, query.confidence), []).append(place)
        found: list[Row] = [np.empty((0, 2))] * len(asked)
        for places in alike.values():
            first = asked[places[0]]
            step = max(_AT_ONCE // (TILTS * len(first.part.matrix) ** 2), 1)
            for start in range(0, len(places), step):
                some = places[start : start + step]
                parts = combine_stacks([asked[place].part for place in some])
                own = np.stack([_limits(parts, row, first.confidence) for row in first.rows], axis=1)
                for place, limits in zip(some, own, strict=True):
                    found[place] = limits
        return found


def is_two_valued(row: Row) -> bool:
    """Whether each report has one of two values, but for rounding."""
    bottom, top = float(row.min()), float(row.max())
    near = SAME * (top - bottom)
    return bool(np.all((row - bottom <= near) | (top - row <= near)))


def _limits(parts: Mixture, row: Row, confidence: float) -> Row:
    """Of each part by itself, shape (parts, 2)."""
    if not is_two_valued(row):
        return _limits_alone(parts, row, math.log(2 / (1 - confidence)))
    bottom, top = float(row.min()), float(row.max())
    shares = np.zeros((len(parts.sizes), 2))
    if top > bottom:
        yes = parts.reports[:, top - row <= SAME * (top - bottom)].sum(axis=1)
        shares = blaker_limits(yes, parts.sizes, np.full(len(yes), confidence))
    return np.asarray(parts.weights[:, None] * (bottom + (top - bottom) * shares))


def _limits_alone(parts: Mixture, row: Row, room: float) -> Row:
    """Of each part by itself, shape (parts, 2)."""
    seen = parts.weights * (parts.observed @ row)
    low, high = (
        np.minimum(_lowest_alone(parts, sign * row, sign * seen, room), sign * seen) for sign in (1.0, -1.0)
    )
    return np.stack([low, -high], axis=1)


def _lowest_alone(parts: Mixture, row: Row, seen: Row, room: float) -> Row:
    """As `_lowest`, of each part by itself; shape (parts,)."""
    counted, truths = find_points(parts, row)
    points = parts.weights[:, None] * counted
    rates = np.ptp(row) * parts.weights / parts.sizes
    if np.ptp(row) == 0:
        return points[:, 0]
    top = LARGEST / rates
    bottom = np.minimum(0.05 * np.sqrt(2 * room / (rates**2 * parts.sizes)), top / 2)
    best, places = points[:, 0], np.arange(len(points))
    for _ in range(ROUNDS):
        tilts = np.geomspace(bottom, top, TILTS, axis=1)
        heights = find_highest_means(parts, row, truths, tilts)
        allowed = (tilts * seen[:, None] - room) / parts.sizes[:, None]
        found = _reached_alone(points, heights - allowed[:, :, None])
        place = found.argmax(axis=1)
        best = np.maximum(best, found[places, place])
        bottom, top = (tilts[places, np.clip(place + step, 0, TILTS - 1)] for step in (-1, 1))
    return best


def _reached_alone(points: Row, heights: Row) -> Row:
    """Where envelopes of exp(heights) first reach 1, shape (parts, tilts); the last point where one never does.

    `points` has the shape (parts, points), `heights` (parts, tilts, points).
    """
    tall = np.exp(np.minimum(heights, 700.0))
    last = points[:, None, -1:]
    first = np.where(tall >= 1, points[:, None], last).min(axis=2)
    before, after = tall[:, :, :, None], tall[:, :, None, :]
    ahead = (points[:, None, :] - points[:, :, None])[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        part = (1 - before) / (after - before)
    crosses = (before < 1) & (after >= 1) & (ahead > 0)
    crossing = points[:, None, :, None] + np.where(crosses, part, 1.0) * ahead
    return np.asarray(np.minimum(first, np.where(crosses, crossing, last[..., None]).min(axis=(2, 3))))
