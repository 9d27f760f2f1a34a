"""How often combinations of many answers occur: by what each answer, and each two, have of their own.

Any chances at all would be as many unknown numbers as there are combinations. Where coins leave little known of each,
they follow chance: slopes are then too far from 0, and vary by more than their likelihood says (Neyman and Scott 1948).
A slope hangs on how often one and two answers are given, and hardly on what three have in common beyond that.

References
----------
Neyman, J. and Scott, E. L. (1948). Consistent estimates based on partially consistent observations. *Econometrica* 16,
1-32.
"""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MOST_FREE = 64
"""Combinations up to which each has a chance of its own."""
_LARGEST_PART = 0.5
"""Of the combinations, that terms may be: of two questions all of them are pairs, and nothing is left out."""


def list_pairs(dummies: Floats) -> Floats | None:
    """What the logarithm of each combination's chance is a sum of, shape (K, r); None where each has its own.

    `dummies` are 0 or 1 for each answer but the first of each question, shape (K, q), of all combinations.
    """
    if len(dummies) <= MOST_FREE:
        return None
    width = dummies.shape[1]
    together = dummies.T @ dummies  # 0 for two answers to one question, which nobody gives both
    pairs = [(i, j) for i, j in combinations(range(width), 2) if together[i, j]]
    if width + len(pairs) > _LARGEST_PART * len(dummies):
        return None
    alone = (dummies - dummies.mean(axis=0)) / dummies.std(axis=0)
    found = np.empty((len(dummies), width + len(pairs)))
    found[:, :width] = alone
    for number, (i, j) in enumerate(pairs):
        found[:, width + number] = alone[:, i] * alone[:, j]
    return found
