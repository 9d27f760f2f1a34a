"""The tilt of Chernoff's bound that refutes most, looked for among many on a geometric scale."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

TILTS = 24
"""Tilts of a scale: each round looks between the neighbours of the best one of the round before."""
LARGEST = 300.0
"""Exponent of a report under the largest tilt."""
_FEW = 1 << 11
_FIRST = np.arange(5, TILTS, 6)
_AROUND = np.array([-3, 3]), np.array([-2, -1, 1, 2])

Row = NDArray[np.float64]
_Places = NDArray[np.int64]


def find_most_refuted(refuted: Callable[[Row], Row], bottom: Row, top: Row, rounds: int, numbers: int) -> Row:
    """The most that is refuted at a tilt of some scales, of many sums at once; shape (sums,).

    Parameters
    ----------
    refuted : callable
        (tilts, shape (sums, some)) -> up to where each sum is refuted, the same shape; where nothing is, less than
        that by what the bound lacks.
    bottom, top : ndarray, shape (sums,)
        Ends of the first scales.
    rounds : int
        Scales, one inside the other.
    numbers : int
        That are computed with for one tilt of every sum. Few take longer in three steps than all tilts in one.

    Notes
    -----
    The logarithm of the bound is convex in the tilt, and so is its highest value over all true shares with a given
    sum: the tilts that refute a sum are an interval. So what is refuted rises up to one tilt and falls behind it,
    as does, where nothing is refuted, what is lacking: of 24 tilts ten have to be tried to find the best.
    """
    best, sums = np.full(len(bottom), -np.inf), np.arange(len(bottom))
    for _ in range(rounds):
        scale = np.geomspace(bottom, top, TILTS, axis=1)
        first, further = (np.arange(TILTS), ()) if numbers < _FEW else (_FIRST, _AROUND)
        place, height = _peak(np.broadcast_to(first, (len(sums), len(first))), refuted(scale[:, first]))
        for around in further:
            more = np.clip(place + around, 0, TILTS - 1)
            heights = refuted(np.take_along_axis(scale, more, axis=1))
            place, height = _peak(
                np.concatenate([place, more], axis=1), np.concatenate([height, heights], axis=1)
            )
        best = np.maximum(best, height[:, 0])
        bottom, top = (scale[sums, np.clip(place[:, 0] + step, 0, TILTS - 1)] for step in (-1, 1))
    return best


def _peak(places: _Places, heights: Row) -> tuple[_Places, Row]:
    """The highest of each row and where it is, shapes (rows, 1)."""
    highest = heights.argmax(axis=1)[:, None]
    return np.take_along_axis(places, highest, axis=1), np.take_along_axis(heights, highest, axis=1)
