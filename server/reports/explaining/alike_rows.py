"""Rows that are alike counted together, and the chances of several answers at once."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_LARGEST_KEY = 1 << 62


def sum_alike(
    chances: Sequence[Floats], table: Floats | None, counts: Floats
) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """A row for all that have the same chances and known values, which one is each one's, and what it stands for."""
    keys, span = np.zeros(len(counts), dtype=np.int64), 1
    for column in np.concatenate([*chances, *([] if table is None else [table])], axis=1).T:
        # One column after the other: sorting numbers is many times faster than sorting rows.
        found, place = np.unique(column, return_inverse=True)
        if span * len(found) >= _LARGEST_KEY:
            found_keys, keys = np.unique(keys, return_inverse=True)
            span = len(found_keys)
        keys, span = keys * len(found) + place, span * len(found)
    _, first, back = np.unique(keys, return_index=True, return_inverse=True)
    return first, back, np.bincount(back, weights=counts).astype(np.float64)


def combine_chances(chances: Sequence[Floats], rows: int) -> Floats:
    """Of every combination of truths, the last varying fastest, shape (rows, combinations)."""
    found = np.ones((rows, 1))
    for own in chances:
        found = (found[:, :, None] * own[:, None, :]).reshape(rows, -1)
    return found
