"""The nearest table with given margins and no negative cell."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import flag, real_numbers
from server.privacy.consistency.raking import LARGEST, checked_margins

_WIDEST = 1e6
"""Ratio of variances up to which the equations below are solved to eight digits."""


def least_squares_table(
    table: ArrayLike,
    margins: Sequence[ArrayLike | None],
    variances: ArrayLike | None = None,
    non_negative: bool = True,
) -> NDArray[np.float64]:
    """Move a noisy table as little as possible until its sums are the given ones.

    Parameters
    ----------
    table : array_like of float, d dimensions
        Noisy cells; negative ones are welcome.
    margins : sequence of d array_like or None
        As in `fit_margins`: non-negative, with one total.
    variances : array_like of float, the shape of the table, or None
        Of the noise in each cell, above 0 and within a factor of a million of one another: a
        cell is moved in proportion. None is all equal.
    non_negative : bool
        Whether cells must not be negative.

    Returns
    -------
    ndarray of float64, the shape of the table
        The minimiser of sum((x - table)**2 / variances) under the constraints. It is unique.

    Raises
    ------
    ValueError
        If a number is not finite or beyond 1e150, a margin negative or of the wrong length,
        variances not positive or too far apart, or the margins' totals differ.

    Notes
    -----
    By duality x = max(0, table + variances * (sum of one multiplier per margin entry)).
    The multipliers maximise a concave, piecewise quadratic function with as many unknowns
    as there are margin entries; Newton's method with step halving reaches the piece that
    holds the maximum in finitely many steps.

    References
    ----------
    Qi, H. and Sun, D. (2006). A quadratically convergent Newton method for computing the
    nearest correlation matrix. *SIAM J. Matrix Anal. Appl.* 28 (the same dual method).

    Examples
    --------
    >>> least_squares_table([[12.0, -3.0], [5.0, 6.0]], [[10, 10], [14, 6]]).round(6).tolist()
    [[10.0, 0.0], [4.0, 6.0]]
    """
    noisy = real_numbers("table", table, LARGEST)
    targets = checked_margins(noisy, margins)
    spread = np.ones(noisy.shape) if variances is None else real_numbers("variances", variances)
    if spread.shape != noisy.shape:
        raise ValueError(f"variances must have shape {noisy.shape}; their shape is {spread.shape}")
    if (spread <= 0).any():
        raise ValueError(f"variances must be positive; one is {float(spread.min())!r}")
    if spread.min() < spread.max() / _WIDEST:
        raise ValueError(
            f"variances must be within a factor of {_WIDEST:g} of one another; "
            f"they go from {float(spread.min())!r} to {float(spread.max())!r}"
        )
    sums = np.concatenate([_indicator(noisy.shape, axis) for axis in targets])
    # One total for all, so that rounding in it leaves no contradiction.
    total = next(iter(targets.values())).sum()
    wanted = np.concatenate([t * (total / t.sum()) if t.sum() else t for t in targets.values()])
    # In units of the largest number involved, so that one tolerance suits all tables.
    unit = max(float(np.abs(noisy).max()), float(wanted.max()), 1e-300)
    weights = (spread / spread.max()).ravel()
    y, b = noisy.ravel() / unit, wanted / unit
    multipliers = np.zeros(len(b))
    free = np.ones(y.size, dtype=bool)
    if not flag("non_negative", non_negative):
        multipliers = _solve(sums, weights, free, b - sums @ y)
        return np.asarray((y + weights * (sums.T @ multipliers)).reshape(noisy.shape) * unit)
    return np.asarray(_newton(sums, weights, y, b).reshape(noisy.shape) * unit)


def _newton(
    sums: NDArray[np.float64], weights: NDArray[np.float64], y: NDArray[np.float64], b: NDArray[np.float64]
) -> NDArray[np.float64]:
    def cells(multipliers: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.maximum(y + weights * (sums.T @ multipliers), 0.0)

    def dual(multipliers: NDArray[np.float64], x: NDArray[np.float64]) -> float:
        return float(b @ multipliers - (x * x / weights).sum() / 2)

    def swept(multipliers: NDArray[np.float64]) -> NDArray[np.float64]:
        """One margin entry after the other closed exactly, which never goes down either."""
        better = multipliers.copy()
        for entry, row in enumerate(sums > 0):
            others = y[row] + weights[row] * (sums[:, row].T @ better - better[entry])
            better[entry] = _level(others, weights[row], float(b[entry]))
        return better

    multipliers = swept(np.zeros(len(b)))
    x = cells(multipliers)
    value = dual(multipliers, x)
    for _ in range(500):
        gap = b - sums @ x
        if np.abs(gap).max() <= 1e-13:
            break
        # Cells at zero do not answer to a multiplier; a little of each keeps the system solvable.
        direction = _solve(sums, np.where(x > 0, weights, 1e-9 * weights), np.ones(x.size, dtype=bool), gap)
        slope, size = float(gap @ direction), 1.0
        while size > 1e-12:
            trial = multipliers + size * direction
            moved = cells(trial)
            if (reached := dual(trial, moved)) >= value + 1e-4 * size * slope - 1e-15 * abs(value):
                break
            size /= 2
        else:  # Newton's direction is of no use where cells at zero are far from leaving it
            trial = swept(multipliers)
            moved = cells(trial)
            reached = dual(trial, moved)
        multipliers, x, value = trial, moved, reached
    if np.abs(b - sums @ x).max() > 1e-7:  # not seen in any test; better said than passed on
        raise ValueError("variances must be nearer to one another for these margins to be reached")
    return x


def _level(y: NDArray[np.float64], weights: NDArray[np.float64], total: float) -> float:
    """The multiplier at which the sum of max(0, y + weights * multiplier) is the total."""
    leaves = -y / weights  # where a cell leaves zero
    order = np.argsort(leaves)
    levels = (total - np.cumsum(y[order])) / np.cumsum(weights[order])
    reached = np.flatnonzero(levels >= leaves[order])
    return float(levels[reached[-1]]) if reached.size else float(leaves[order[0]])


def _solve(
    sums: NDArray[np.float64],
    weights: NDArray[np.float64],
    free: NDArray[np.bool_],
    gap: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Multipliers that close the gap; of least length, because margins share their total."""
    system = (sums[:, free] * weights[free]) @ sums[:, free].T
    return np.asarray(np.linalg.lstsq(system, gap, rcond=1e-15)[0])


def _indicator(shape: tuple[int, ...], axis: int) -> NDArray[np.float64]:
    """Rows that sum a flattened table along one axis, shape (length of axis, cells)."""
    places = np.indices(shape)[axis].ravel()
    return np.asarray(np.arange(shape[axis])[:, None] == places, dtype=np.float64)
