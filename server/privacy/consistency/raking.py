"""Iterative proportional fitting: of a table, or of the weights of rows, to margins."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import (
    check_range,
    list_entries,
    positive,
    real_numbers,
    whole_number,
    whole_numbers,
)

LARGEST = 1e150
"""Of the numbers that are made consistent: their sums and squares are still floats."""


@dataclass(frozen=True)
class FittedTable:
    """A table fitted to margins.

    Attributes
    ----------
    table : ndarray of float64
        The shape of the table given.
    rounds : int
        Passes over all margins.
    discrepancy : float
        Largest absolute difference between a margin of `table` and the one asked for.
    converged : bool
        Whether the discrepancy is within the tolerance. When not, the pattern of zeros
        allows no table with these margins (or too few rounds were given).
    """

    table: NDArray[np.float64]
    rounds: int
    discrepancy: float
    converged: bool


def fit_margins(
    table: ArrayLike,
    margins: Sequence[ArrayLike | None],
    tolerance: float = 1e-9,
    rounds: int = 10_000,
) -> FittedTable:
    """Scale a non-negative table until its sums are the given ones.

    Parameters
    ----------
    table : array_like of float, d dimensions
        Non-negative. A zero stays zero.
    margins : sequence of d array_like or None
        Sums along each axis: entry k has the length of axis k and is what the table sums
        to over all other axes; None leaves an axis free.
    tolerance : float
        Relative to the total: when to stop.
    rounds : int
        When to stop at the latest.

    Returns
    -------
    FittedTable
        Of all tables with these margins, the one of least Kullback-Leibler divergence
        from `table`: odds ratios are kept.

    Raises
    ------
    ValueError
        If a number is negative, not finite or above 1e150, a margin has the wrong length, the margins'
        totals differ (they contradict each other), or a margin above 0 belongs to cells
        that are all 0.

    Notes
    -----
    Noisy cells can be negative and noisy margins can contradict each other: adjust those
    by `least_squares_table` or `consistent_hierarchy` first.

    References
    ----------
    Deming and Stephan (1940); Csiszár, I. (1975). I-divergence geometry of probability
    distributions and minimization problems. *Ann. Probab.* 3.

    Examples
    --------
    >>> fit_margins([[1, 1], [1, 1]], [[30, 70], [40, 60]]).table.tolist()
    [[12.0, 18.0], [28.0, 42.0]]
    """
    fitted = real_numbers("table", table, LARGEST)
    if (fitted < 0).any():
        raise ValueError(f"table must not be negative; one entry is {float(fitted.min())!r}")
    targets = checked_margins(fitted, margins, positive("tolerance", tolerance))
    whole_number("rounds", rounds, 1)
    for axis, target in targets.items():
        empty = (sums_along(fitted, axis) == 0) & (target > 0)
        if empty.any():
            place = int(empty.argmax())
            raise ValueError(
                f"margins of axis {axis} must be 0 where all cells are 0; entry {place} is {target[place]!r}"
            )
    total = max(float(target.sum()) for target in targets.values())
    places = np.indices(fitted.shape).reshape(fitted.ndim, -1)
    cells, done, discrepancy = _scale_to_sums(
        fitted.ravel(),
        [(places[axis], target) for axis, target in targets.items()],
        tolerance * total,
        rounds,
    )
    return FittedTable(cells.reshape(fitted.shape), done, discrepancy, discrepancy <= tolerance * total)


@dataclass(frozen=True, eq=False)
class RakedWeights:
    """Weights of rows that were scaled to margins.

    Attributes
    ----------
    weights : ndarray of float64, shape (n,)
        With the sum of those given.
    rounds : int
        Passes over all margins.
    """

    weights: NDArray[np.float64]
    rounds: int


def rake_weights(
    weights: ArrayLike,
    margins: Sequence[tuple[ArrayLike, ArrayLike]],
    tolerance: float = 1e-9,
    rounds: int = 10_000,
) -> RakedWeights:
    """Scale the weights of rows until every group of every margin has its share of their sum.

    Parameters
    ----------
    weights : array_like of float, shape (n,)
        Above 0.
    margins : sequence of (groups, shares)
        Of each margin the group of every row, a number from 0, and what the groups' shares are to be in proportion
        to: above 0.
    tolerance : float
        Relative to the sum of the weights: when to stop.
    rounds : int
        When to give up.

    Raises
    ------
    ValueError
        If a weight or a share is not above 0, a group has no row, or the margins are not reached.

    References
    ----------
    Deming and Stephan (1940); Deville, J.-C., Särndal, C.-E. and Sautory, O. (1993). Generalized raking procedures in
    survey sampling. *JASA* 88, 1013-1020.

    Examples
    --------
    >>> rake_weights([1, 1, 1, 1], [([0, 0, 0, 1], [1, 1])]).weights.round(3).tolist()
    [0.667, 0.667, 0.667, 2.0]
    """
    scaled = _above_zero("weights", weights)
    total = float(scaled.sum())
    targets = []
    for number, entry in enumerate(list_entries("margins", margins)):
        pair = list_entries(f"margins[{number}]", entry)
        if len(pair) != 2:
            raise ValueError(f"margins[{number}] must have groups and shares; it has {len(pair)} entries")
        given, stated = pair
        shares = _above_zero(f"shares of margin {number}", stated)
        groups = whole_numbers(f"groups of margin {number}", given)
        if groups.shape != scaled.shape:
            raise ValueError(
                f"groups of margin {number} must have shape {scaled.shape}; their shape is {groups.shape}"
            )
        check_range(f"groups of margin {number}", groups, 0, len(shares) - 1)
        empty = np.bincount(groups, minlength=len(shares)) == 0
        if empty.any():
            raise ValueError(
                f"groups of margin {number} must each have a row; {int(empty.argmax())} has none"
            )
        targets.append((groups, shares / shares.sum() * total))
    whole_number("rounds", rounds, 1)
    if not targets:
        return RakedWeights(scaled, 0)
    least = positive("tolerance", tolerance) * total
    scaled, done, discrepancy = _scale_to_sums(scaled, targets, least, rounds)
    if discrepancy > least:
        raise ValueError(
            f"margins must be within reach of the rows; after {done} rounds a group is off by {discrepancy / total:.3g}"
        )
    return RakedWeights(scaled, done)


def _above_zero(name: str, values: ArrayLike) -> NDArray[np.float64]:
    read = real_numbers(name, values, LARGEST)
    if read.ndim != 1:
        raise ValueError(f"{name} must have one axis; their shape is {read.shape}")
    if (read <= 0).any():
        raise ValueError(f"{name} must be above 0; one is {float(read.min())!r}")
    return read


def _scale_to_sums(
    cells: NDArray[np.float64],
    margins: Sequence[tuple[NDArray[np.int64], NDArray[np.float64]]],
    least: float,
    rounds: int,
) -> tuple[NDArray[np.float64], int, float]:
    """Cells whose groups, margin by margin, have the sums asked for; the rounds it took; what they are off by."""

    def find_discrepancy() -> float:
        return max(
            float(np.abs(np.bincount(groups, cells, len(sums)) - sums).max()) for groups, sums in margins
        )

    done, discrepancy = 0, find_discrepancy()
    while discrepancy > least and done < rounds:
        done += 1
        for groups, sums in margins:
            now = np.bincount(groups, cells, len(sums))
            cells = cells * np.divide(sums, now, out=np.zeros_like(now), where=now > 0)[groups]
        discrepancy = find_discrepancy()
    return cells, done, discrepancy


def checked_margins(
    table: NDArray[np.float64], margins: Sequence[ArrayLike | None], tolerance: float = 1e-9
) -> dict[int, NDArray[np.float64]]:
    """Margins by axis: non-negative, of the right lengths, with one total."""
    if table.ndim == 0:
        raise ValueError(f"table must have an axis; it is {float(table)!r}")
    entries = list_entries("margins", margins)
    if len(entries) != table.ndim:
        raise ValueError(
            f"margins must have one entry per axis of the table, {table.ndim}; they have {len(entries)}"
        )
    targets = {}
    for axis, margin in enumerate(entries):
        if margin is None:
            continue
        target = real_numbers(f"margins of axis {axis}", margin, LARGEST)
        if target.shape != (table.shape[axis],):
            raise ValueError(
                f"margins of axis {axis} must have shape ({table.shape[axis]},); their shape is {target.shape}"
            )
        if (target < 0).any():
            raise ValueError(f"margins of axis {axis} must not be negative; one is {float(target.min())!r}")
        targets[axis] = target
    if not targets:
        raise ValueError(f"margins must have an entry that is not None; they are {entries!r}")
    totals = {axis: float(target.sum()) for axis, target in targets.items()}
    if max(totals.values()) - min(totals.values()) > tolerance * max(totals.values()):
        raise ValueError(f"margins must not contradict each other; their totals by axis are {totals}")
    return targets


def sums_along(table: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """The margin of an axis."""
    return np.asarray(table.sum(axis=tuple(other for other in range(table.ndim) if other != axis)))
