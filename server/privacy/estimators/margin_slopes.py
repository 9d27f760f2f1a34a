"""What raked margins tell of rows' numbers, taken out of these: calibrated weights make up for it.

References
----------
Deville, J.-C. and Särndal, C.-E. (1992). Calibration estimators in survey sampling. *JASA* 87, 376-382.
"""

from collections.abc import Sequence

import numpy as np

from server.privacy.estimators.sample_designs import Floats, Groups


def take_out_margins(rest: Floats, weights: Floats, margins: Sequence[Groups]) -> Floats:
    """What is left of each row's numbers, shape (n, q), once groups were given their means, all margins together."""
    if not margins:
        return rest
    sizes = [int(groups.max()) + 1 for groups in margins]
    blocks = [
        [
            np.bincount(one * width + other, weights, size * width).reshape(size, width)
            for other, width in zip(margins, sizes, strict=True)
        ]
        for one, size in zip(margins, sizes, strict=True)
    ]
    told = np.concatenate(
        [
            np.stack([np.bincount(groups, weights * column, size) for column in rest.T], axis=1)
            for groups, size in zip(margins, sizes, strict=True)
        ]
    )
    # Groups of each margin add up to the same: of all solutions it does not matter which.
    slopes = np.linalg.lstsq(np.block(blocks), told, rcond=None)[0]
    left, start = rest.copy(), 0
    for groups, size in zip(margins, sizes, strict=True):
        left -= slopes[start : start + size][groups]
        start += size
    return left
