"""A tally of several randomised answers at once, without a table of every report under every combination of answers.

The chance of a combination of reports under a combination of answers is a product of one factor for each question. The
questions are divided into two halves: with the chances A of reports of the first half and B of the second, the chances
of all reports together are A W B' where W are the chances of all answers, one half by the other. Of twelve questions
with two answers that is two products with 64 by 64 numbers instead of one with 4,096 by 4,096.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
_TOGETHER = 1 << 18
"""Known values times reports of the outcome times combinations in one sheet: with more none is faster."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """Rows of the same coins: a table of reports for each of the known values that they have.

    Attributes
    ----------
    places : ndarray, shape (H,)
        Which of the known values, each once.
    outcome : ndarray, shape (R, J)
        The chance of each report of the outcome under each true level.
    first, second : ndarray, shapes (U, K1) and (V, K2)
        The chance of each combination of reports of either half under each combination of answers.
    counts : ndarray, shape (H, R, U, V)
    """

    places: Places
    outcome: Floats
    first: Floats
    second: Floats
    counts: Floats

    def see(self, masses: Floats) -> Floats:
        """What is reported where answers have these masses, shape (H, R, K) -> (H, R, U, V)."""
        (h, r, _), (left, right) = masses.shape, (self.first.shape[1], self.second.shape[1])
        halved = (masses.reshape(-1, right) @ self.second.T).reshape(h, r, left, -1)
        return np.asarray(self.first @ halved if left > 1 else self.first[:, 0, None] * halved)

    def look_back(self, weights: Floats) -> Floats:
        """The sum over reports of their weight times their chance under each combination: (H, R, U, V) -> (H, R, K)."""
        return _look_back(weights, self.first, self.second)

    def look_back_squared(self, weights: Floats) -> Floats:
        """The same with the squares of chances."""
        return _look_back(weights, self.first**2, self.second**2)


def _look_back(weights: Floats, first: Floats, second: Floats) -> Floats:
    h, r, left, right = weights.shape
    halved = (weights.reshape(-1, right) @ second).reshape(h, r, left, -1)
    return np.asarray(first.T @ halved if left > 1 else first[0, :, None] * halved).reshape(h, r, -1)


@dataclass(frozen=True, eq=False)
class CombinedTally:
    """All rows: `known` has the known values that there are, shape (H, 1 + p), `masses` how many people each has."""

    known: Floats
    masses: Floats
    sheets: tuple[Sheet, ...]


def make_tally(counts: Floats, known: Floats, outcome: Floats, parts: Sequence[Floats]) -> CombinedTally:
    """Of rows; `parts` has the chance of a row's report of each question under each answer, shapes (n, Kk)."""
    half = _find_half([part.shape[1] for part in parts])
    n = len(counts)
    values, place = number_rows([known], n)
    sheets: list[Sheet] = []
    reports, of_outcome = number_rows([outcome], n)
    (left, of_left), (right, of_right) = number_rows(parts[:half], n), number_rows(parts[half:], n)
    firsts, seconds = multiply_chances(parts[:half], left), multiply_chances(parts[half:], right)
    for own in _divide_by_coins(of_outcome, of_left, of_right):
        used = [np.unique(ids[own], return_inverse=True) for ids in (place, of_outcome, of_left, of_right)]
        table = np.zeros(tuple(len(found) for found, _ in used))
        np.add.at(table, tuple(back for _, back in used), counts[own])
        places, said, left_rows, right_rows = (found for found, _ in used)
        chances = outcome[reports[said]], firsts[left_rows], seconds[right_rows]
        step = max(_TOGETHER // (len(said) * firsts.shape[1] * seconds.shape[1]), 1)
        sheets += [
            Sheet(places[first : first + step], *chances, table[first : first + step])
            for first in range(0, len(places), step)
        ]
    masses = np.bincount(place, weights=counts).astype(np.float64)
    return CombinedTally(known[values], masses, tuple(sheets))


def _find_half(sizes: Sequence[int]) -> int:
    """How many questions are in the first half, so that the larger half is as small as it can be."""
    return min(
        range(len(sizes) + 1), key=lambda cut: max(int(np.prod(sizes[:cut])), int(np.prod(sizes[cut:])))
    )


def number_rows(parts: Sequence[Floats], rows: int) -> tuple[Places, Places]:
    """Where each different row stands first, and the number of each row among them."""
    keys = np.zeros(rows, dtype=np.int64)
    for part in parts:
        for column in part.T:
            found, number = np.unique(column, return_inverse=True)
            _, keys = np.unique(keys * len(found) + number, return_inverse=True)
    _, first, back = np.unique(keys, return_index=True, return_inverse=True)
    return first, back


def multiply_chances(parts: Sequence[Floats], rows: Places) -> Floats:
    """Of every combination of answers, the last varying fastest."""
    found = np.ones((len(rows), 1))
    for part in parts:
        found = (found[:, :, None] * part[rows][:, None, :]).reshape(len(rows), -1)
    return found


def _divide_by_coins(outcome: Places, left: Places, right: Places) -> list[Places]:
    """Rows apart that share no chances: of versions with other coins, whose reports together are nobody's."""
    starts = np.cumsum([0, outcome.max() + 1, left.max() + 1])
    ends = starts[-1] + right.max() + 1
    of_left = left + starts[1]
    tied = np.concatenate([outcome, right + starts[2]]), np.concatenate([of_left, of_left])
    _, group = scipy.sparse.csgraph.connected_components(
        scipy.sparse.coo_array((np.ones(2 * len(outcome)), tied), shape=(ends, ends)), directed=False
    )
    own = group[of_left]
    return [np.flatnonzero(own == each) for each in np.unique(own)]
