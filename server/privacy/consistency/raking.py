"""Iterative proportional fitting of a table to margins."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import list_entries, positive, real_numbers, whole_number

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
    done, discrepancy = 0, _discrepancy(fitted, targets)
    while discrepancy > tolerance * total and done < rounds:
        done += 1
        for axis, target in targets.items():
            sums = sums_along(fitted, axis)
            factors = np.divide(target, sums, out=np.zeros_like(sums), where=sums > 0)
            fitted = fitted * _along(factors, axis, fitted.ndim)
        discrepancy = _discrepancy(fitted, targets)
    return FittedTable(fitted, done, discrepancy, discrepancy <= tolerance * total)


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


def _along(vector: NDArray[np.float64], axis: int, dimensions: int) -> NDArray[np.float64]:
    return vector.reshape([-1 if place == axis else 1 for place in range(dimensions)])


def _discrepancy(table: NDArray[np.float64], targets: dict[int, NDArray[np.float64]]) -> float:
    return max(float(np.abs(sums_along(table, axis) - target).max()) for axis, target in targets.items())
