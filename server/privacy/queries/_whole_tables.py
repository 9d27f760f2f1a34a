"""Tables of estimates made whole and non-negative."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.privacy.consistency import least_squares_table, round_table, round_to_integers
from server.privacy.consistency.whole_numbers import nearest_with_sum

_LONG = 5
"""Cells that an entry of a margin adds up, at least, if the margin is to be kept when cells below 0 are raised."""


def whole_table(best: NDArray[np.float64], total: int | None = None) -> NDArray[np.int64]:
    """The nearest table of whole numbers without negative ones that keeps the total, and long margins.

    The total is the rounded sum, or given where it is known.

    Margins whose entries add up five cells or more are kept: were they free, noise cut off at 0 in a
    sparse row would add up there. Shorter ones are not: kept, they would pass all of what is cut off
    in one cell on to a few others.
    """
    total = max(round(float(best.sum())), 0) if total is None else total
    linear = [margin_of(best, axis) for axis in range(best.ndim)]
    kept = [
        round_to_integers(margin, total=total) if best.size >= _LONG * margin.size else None
        for margin in linear
    ]
    if any(margin is not None for margin in kept):
        nearest = least_squares_table(best, kept)
    else:
        nearest = nearest_with_sum(best.ravel(), total).reshape(best.shape)
    margins = [
        round_to_integers(margin_of(nearest, axis), total=total) if margin is None else margin
        for axis, margin in enumerate(kept)
    ]
    return round_table(least_squares_table(nearest, margins), margins)


def margin_of(cells: NDArray[Any], axis: int) -> NDArray[Any]:
    """The sums along an axis."""
    return np.asarray(cells.sum(axis=tuple(other for other in range(cells.ndim) if other != axis)))
