"""How often combinations of many answers occur: by what each answer, and each two, have of their own.

Any chances at all would be as many unknown numbers as there are combinations. Where coins leave little known of each,
they follow chance: slopes are then too far from 0, and vary by more than their likelihood says (Neyman and Scott 1948).
A slope hangs on how often one and two answers are given, and hardly on what three have in common beyond that.

References
----------
Neyman, J. and Scott, E. L. (1948). Consistent estimates based on partially consistent observations. *Econometrica* 16,
1-32.
"""

from collections.abc import Sequence
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MOST_FREE = 64
"""Combinations up to which each has a chance of its own."""
_LARGEST_PART = 0.5
"""Of the combinations, that terms may be: of two questions all of them are pairs, and nothing is left out."""


def follows_pairs(sizes: Sequence[int]) -> bool:
    """Whether the chances of combinations follow single answers and pairs, of questions with so many answers each."""
    count = prod(sizes)
    terms = sum(size - 1 for size in sizes)
    terms += sum((one - 1) * (other - 1) for one, other in combinations(sizes, 2))
    return count > MOST_FREE and terms <= _LARGEST_PART * count


def list_pairs(dummies: Floats) -> Floats | None:
    """What the logarithm of each combination's chance is a sum of, shape (K, r); None where each has its own.

    `dummies` are 0 or 1 for each answer but the first of each question, shape (K, q), of all combinations.
    """
    width = dummies.shape[1]
    apart = dummies.T @ dummies == 0  # two answers to one question, which nobody gives both
    if not follows_pairs(_list_sizes(apart)):
        return None
    pairs = [(i, j) for i, j in combinations(range(width), 2) if not apart[i, j]]
    alone = (dummies - dummies.mean(axis=0)) / dummies.std(axis=0)
    found = np.empty((len(dummies), width + len(pairs)))
    found[:, :width] = alone
    for number, (i, j) in enumerate(pairs):
        found[:, width + number] = alone[:, i] * alone[:, j]
    return found


def _list_sizes(apart: NDArray[np.bool_]) -> list[int]:
    """Of each question how many answers it has, by which of the answers but the first nobody gives both."""
    firsts = [place for place in range(len(apart)) if not apart[place, :place].any()]
    return [2 + int(apart[place].sum()) for place in firsts]
