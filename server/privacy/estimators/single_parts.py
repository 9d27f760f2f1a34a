"""Exact limits for sums over a single part, of many parts at once, each by itself.

Where each report has one of two values these are Blaker's (`exact_shares`), elsewhere those of `design_limits`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators.design_limits import ROUNDS, Points, find_highest_means, find_points
from server.privacy.estimators.exact_shares import blaker_limits
from server.privacy.estimators.parts import Mixture, combine_stacks
from server.privacy.estimators.score_limits import SAME
from server.privacy.estimators.tilts import LARGEST, find_most_refuted
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
    def answer_all(cls, requests: Sequence["SinglePart"]) -> list[Row]:
        """The limits, shape (sums, 2); those under one design, of the same values, are computed at once."""
        alike: dict[tuple[bytes, bytes, float], list[int]] = {}
        for place, query in enumerate(requests):
            values = b"".join(row.tobytes() for row in query.rows)
            alike.setdefault((query.part.matrix.tobytes(), values, query.confidence), []).append(place)
        found: list[Row] = [np.empty((0, 2))] * len(requests)
        for places in alike.values():
            first = requests[places[0]]
            step = max(_AT_ONCE // (len(first.rows) * first.part.matrix.size), 1)
            for start in range(0, len(places), step):
                some = places[start : start + step]
                parts = combine_stacks([requests[place].part for place in some])
                for place, limits in zip(some, _limits(parts, first.rows, first.confidence), strict=True):
                    found[place] = limits
        return found


def is_two_valued(row: Row) -> bool:
    """Whether each report has one of two values, but for rounding."""
    bottom, top = float(row.min()), float(row.max())
    near = SAME * (top - bottom)
    return bool(np.all((row - bottom <= near) | (top - row <= near)))


def _limits(parts: Mixture, rows: Sequence[Row], confidence: float) -> Row:
    """Of each part by itself, shape (parts, rows, 2)."""
    limits = np.empty((len(parts.sizes), len(rows), 2))
    others = []
    for place, row in enumerate(rows):
        if is_two_valued(row):
            limits[:, place] = _two_valued_limits(parts, row, confidence)
        else:
            others.append(place)
    if others:
        limits[:, others] = _limits_alone(
            parts, [rows[place] for place in others], math.log(2 / (1 - confidence))
        )
    return limits


def _two_valued_limits(parts: Mixture, row: Row, confidence: float) -> Row:
    """Of each part by itself, shape (parts, 2)."""
    bottom, top = float(row.min()), float(row.max())
    shares = np.zeros((len(parts.sizes), 2))
    if top > bottom:
        yes = parts.reports[:, top - row <= SAME * (top - bottom)].sum(axis=1)
        shares = blaker_limits(yes, parts.sizes, np.full(len(yes), confidence))
    return np.asarray(parts.weights[:, None] * (bottom + (top - bottom) * shares))


def _limits_alone(parts: Mixture, rows: Sequence[Row], room: float) -> Row:
    """Of each part by itself, shape (parts, rows, 2)."""
    signed = [sign * row for row in rows for sign in (1.0, -1.0)]
    points = [find_points(parts.matrix, row) for row in signed]
    ends = np.empty((len(signed), len(parts.sizes)))
    for length in {len(counted) for counted, _ in points}:
        some = [place for place, (counted, _) in enumerate(points) if len(counted) == length]
        ends[some] = _lowest_alone(
            parts, [signed[place] for place in some], [points[place] for place in some], room
        )
    return np.stack([ends[::2], -ends[1::2]], axis=2).swapaxes(0, 1)


def _lowest_alone(parts: Mixture, rows: Sequence[Row], points: Sequence[Points], room: float) -> Row:
    """The smallest sums that are not refuted, or less; at most what was seen; shape (rows, parts)."""
    values, counted = np.stack(rows), np.stack([own for own, _truths in points])
    seen = parts.weights * (values @ parts.observed.T)
    across = (parts.weights[:, None] * counted[:, None]).reshape(-1, counted.shape[1])
    slopes, sizes = parts.weights / parts.sizes, np.tile(parts.sizes, len(rows))[:, None]
    rates = np.ptp(values, axis=1)[:, None] * slopes
    top = LARGEST / rates
    bottom = np.minimum(0.05 * np.sqrt(2 * room / (rates**2 * parts.sizes)), top / 2)

    def refute_sums(tilts: Row) -> Row:
        tried = slopes[:, None] * tilts.reshape(*seen.shape, -1)
        heights = [
            find_highest_means(parts.matrix, row, truths, own)
            for row, (_counted, truths), own in zip(rows, points, tried, strict=True)
        ]
        allowed = (tilts * seen.reshape(-1, 1) - room) / sizes
        above = np.concatenate(heights) - allowed[:, :, None]
        return _reached_alone(across, above) - np.maximum(above[:, :, 0], 0)

    numbers = len(rows) * parts.observed.size
    found = find_most_refuted(refute_sums, bottom.ravel(), top.ravel(), ROUNDS, numbers)
    return np.minimum(np.maximum(across[:, 0], found).reshape(seen.shape), seen)


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
