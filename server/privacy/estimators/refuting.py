"""The sums over parts that Chernoff's bound refutes, from what the reports of each part can be.

The mean of exp(tilt value / n) over the reports of a part is at most a concave envelope over what the part adds
to the sum: linear pieces, from the least that it can add up to where they stop rising. A sum is refuted where the
logarithms of the envelopes, times the parts' sizes, add up to less than is allowed, however it is made up. As
they are concave, their largest sum for a given total is where all have one slope: along a piece, the logarithm is
linear in the logarithm of one over that slope.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.float64]

_ROUNDING = 1e-15
"""By how much, as a fraction, what is refuted is less than what was found."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """Rising pieces of the envelopes of some parts, for each of some tilts.

    Attributes
    ----------
    sizes : ndarray, shape (tilts, pieces)
        Reports of the part.
    starts : ndarray, shape (tilts, pieces)
        Logarithm of one over the slope at which a piece begins.
    spans : ndarray, shape (tilts, pieces)
        How much the logarithm of the envelope rises along it; 0 for pieces that are none.
    widths : ndarray, shape (tilts, pieces)
        What it adds to the sum.
    heights : ndarray, shape (tilts,)
        Where nothing has risen, the sum of the logarithms times sizes.
    """

    sizes: Row
    starts: Row
    spans: Row
    widths: Row
    heights: Row


def pieces_of(points: Row, heights: Row, sizes: Row) -> Pieces:
    """The envelopes over some points, for parts under one design.

    Parameters
    ----------
    points : ndarray, shape (parts, points) or (tilts, parts, points)
        What a part can add to the sum, rising; of several sums at once those that each tilt is tried for.
    heights : ndarray, shape (tilts, parts, points)
        Logarithms.
    sizes : ndarray, shape (parts,) or (tilts, parts)
    """
    points, sizes = np.broadcast_to(points, heights.shape), np.broadcast_to(sizes, heights.shape[:2])
    tilts, parts, last = len(heights), heights.shape[1], heights.shape[2] - 1
    here = np.zeros((tilts, parts), dtype=np.int64)
    found = np.zeros((3, last, tilts, parts))
    for piece in range(last):
        # A piece more begins at a point further on: those before it are over.
        height, place = (
            np.take_along_axis(of, here[:, :, None], axis=2) if piece else of[:, :, :1]
            for of in (heights, points)
        )
        rise = heights[:, :, piece + 1 :] - height
        rises = (rise > 0) & (np.arange(piece + 1, last + 1) > here[:, :, None])
        rise = np.where(rises, rise, 1.0)
        width = np.where(rises, points[:, :, piece + 1 :] - place, 1.0)
        # Of the slope beside the envelope's height: ln((e^rise - 1) / width), of a rise of hundreds too.
        slopes = np.where(rises, rise + np.log(-np.expm1(-rise) / width), -np.inf)
        steepest = slopes.argmax(axis=2)[:, :, None]
        some = rises.any(axis=2)
        slope, up, wide = (
            np.take_along_axis(of, steepest, axis=2)[:, :, 0] if last - piece > 1 else of[:, :, 0]
            for of in (slopes, rise, width)
        )
        found[0, piece] = np.where(some, -np.where(some, slope, 0) - np.log(sizes), 0)
        found[1, piece] = np.where(some, up, 0)
        found[2, piece] = np.where(some, wide, 0)
        here = np.where(some, steepest[:, :, 0] + piece + 1, here)
    starts, spans, widths = found.transpose(0, 2, 1, 3).reshape(3, tilts, last * parts)
    first = np.einsum("ij,ij->i", heights[:, :, 0], sizes)
    return Pieces(np.tile(sizes, (1, last)), starts, spans, widths, first)


def find_refuted(several: list[Pieces], least: float | Row, allowed: Row) -> Row:
    """For each tilt the largest sum below which all are refuted, or slightly less; shape (tilts,).

    Where none is, it is less than `least` by as much as the logarithms are too large.

    Parameters
    ----------
    several : list of Pieces
        Of all parts.
    least : float or ndarray, shape (tilts,)
        What the parts add to the sum at least.
    allowed : ndarray, shape (tilts,)
        What the logarithms times sizes may add up to.
    """
    sizes, starts, spans, widths = (
        np.concatenate([getattr(pieces, name) for pieces in several], axis=1)
        for name in ("sizes", "starts", "spans", "widths")
    )
    room = allowed - sum(pieces.heights for pieces in several)
    level = _level(starts, spans, sizes, room)
    risen = np.clip((level - _ROUNDING * (1 + np.abs(level)))[:, None] - starts, 0, spans)
    parts = np.exp(risen - spans) * -np.expm1(-risen) / np.where(spans > 0, -np.expm1(-spans), 1)
    return np.asarray(least + (widths * parts).sum(axis=1) + np.minimum(room, 0))


def _level(starts: Row, spans: Row, sizes: Row, room: Row) -> Row:
    """Where sum(size * clip(level - start, 0, span)), which is linear in pieces, is the room; shape (tilts,).

    Newton's steps inside brackets: from the right piece, one step ends.
    """
    low, high = starts.min(axis=1), (starts + spans).max(axis=1)
    most = np.einsum("ij,ij->i", spans, sizes)
    low, high = np.where(room >= most, high, low), np.where(room <= 0, low, high)
    level = np.clip(starts.mean(axis=1), low, high)
    left = np.flatnonzero(low < high)
    starts, spans, sizes = starts[left], spans[left], sizes[left]
    for _ in range(200):
        if not len(left):
            break
        here = level[left]
        away = here[:, None] - starts
        excess = np.einsum("ij,ij->i", np.clip(away, 0, spans), sizes) - room[left]
        slope = np.where((away > 0) & (away < spans), sizes, 0).sum(axis=1)
        bottom, top = np.where(excess <= 0, here, low[left]), np.where(excess > 0, here, high[left])
        low[left], high[left] = bottom, top
        near = _ROUNDING * (1 + np.abs(here))
        goes_on = (top - bottom > near) & (np.abs(excess) > near * slope)
        step = here - excess / np.where(slope > 0, slope, 1)
        inside = (slope > 0) & (bottom < step) & (step < top)
        level[left] = np.where(goes_on, np.where(inside, step, (bottom + top) / 2), here)
        left, starts, spans, sizes = (of[goes_on] for of in (left, starts, spans, sizes))
    return np.asarray(level)
