"""Whole, non-negative numbers that still add up."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import real_numbers, whole_number
from server.privacy.consistency.hierarchies import checked_parents
from server.privacy.consistency.raking import checked_margins, sums_along


def round_to_integers(
    values: ArrayLike, parents: ArrayLike | None = None, total: int | None = None
) -> NDArray[np.int64]:
    """Replace numbers on a tree by whole, non-negative ones of which children sum to their parent.

    Parameters
    ----------
    values : array_like of float, shape (nodes,)
        As from `consistent_hierarchy`; at most 2**53 in magnitude.
    parents : array_like of int, shape (nodes,), or None
        Index of each node's parent, which comes before it; -1 for a root. None: the
        values are parts of one total, which is their rounded sum.
    total : int or None
        The total to reach instead, at least 0; only without parents.

    Returns
    -------
    ndarray of int64, shape (nodes,)

    Raises
    ------
    ValueError
        If a value is not finite or too large, lengths differ, a parent does not come
        before its child, the total is negative, or both parents and a total are given.

    Notes
    -----
    From the root downwards: the root is rounded, and negative ones become 0. The children
    of a node are moved to the nearest non-negative numbers that sum to it (all that stay
    above zero by the same amount), rounded down, and the units left over go to the largest
    fractions. A node is then less than 1 from those nearest numbers.

    References
    ----------
    Held, M., Wolfe, P. and Crowder, H. (1974). Validation of subgradient optimization.
    *Math. Programming* 6 (the projection); Hare-Niemeyer's largest remainders.

    Examples
    --------
    >>> round_to_integers([10.4, 7.7, 2.7], parents=[-1, 0, 0]).tolist()
    [10, 8, 2]
    >>> round_to_integers([5.5, -0.9, 5.4]).tolist()
    [5, 0, 5]
    """
    numbers = real_numbers("values", values)
    if numbers.ndim != 1:
        raise ValueError(f"values must be one vector; their shape is {numbers.shape}")
    if np.abs(numbers).max() > 2**53:
        raise ValueError(f"values must be in [-2**53, 2**53]; one is {float(np.abs(numbers).max())!r}")
    if parents is None:
        goal = max(round(float(numbers.sum())), 0) if total is None else total
        return _apportion(numbers, whole_number("total", goal, 0, 1 << 62))
    if total is not None:
        raise ValueError(f"total must be None when there are parents; it is {total!r}")
    above = checked_parents(parents)
    if above.shape != numbers.shape:
        raise ValueError(f"values must have shape {above.shape}, as parents; their shape is {numbers.shape}")
    whole = np.maximum(np.rint(numbers), 0).astype(np.int64)
    order = np.argsort(above, kind="stable")
    # Families in the order of their parents: a parent is settled before its children.
    for family in np.split(order, np.flatnonzero(np.diff(above[order])) + 1):
        if above[family[0]] >= 0:
            whole[family] = _apportion(numbers[family], int(whole[above[family[0]]]))
    return whole


def round_table(values: ArrayLike, margins: Sequence[ArrayLike]) -> NDArray[np.int64]:
    """Replace a table by a whole, non-negative one with the same whole margins.

    Parameters
    ----------
    values : array_like of float, d dimensions
        Non-negative, as from `least_squares_table`; at most 2**53.
    margins : sequence of d array_like of int
        What the values sum to along each axis.

    Returns
    -------
    ndarray of int64, the shape of the table

    Raises
    ------
    ValueError
        If a value is negative, not finite or too large, a margin is missing, not whole or of the
        wrong length, or the values do not sum to it within 0.01.

    Notes
    -----
    Values are rounded down; the units that margins lack go to the largest fractions, as far as
    every margin of a cell lacks one, and then wherever all margins lack some. A table of one or
    two variables mostly ends less than 1 from the values in every cell.

    Examples
    --------
    >>> round_table([[1.5, 2.5], [0.5, 3.5]], margins=[[4, 4], [2, 6]]).tolist()
    [[2, 2], [0, 4]]
    """
    numbers = real_numbers("values", values)
    if (numbers < 0).any() or numbers.max() > 2**53:
        wrong = numbers[(numbers < 0) | (numbers > 2**53)]
        raise ValueError(f"values must be in [0, 2**53]; one is {float(wrong[0])!r}")
    targets = checked_margins(numbers, margins)
    if len(targets) < numbers.ndim:
        raise ValueError("margins must have an entry for every axis; one is None")
    for axis, target in targets.items():
        if (target != np.rint(target)).any():
            raise ValueError(f"margins of axis {axis} must be whole numbers; they are {target.tolist()}")
        apart = np.abs(sums_along(numbers, axis) - target)
        if apart.max() > 0.01:
            raise ValueError(
                f"margins of axis {axis} must be what the values sum to within 0.01; entry "
                f"{int(apart.argmax())} is {float(apart.max()):.3g} away"
            )
    whole = np.floor(numbers + 1e-9).astype(np.int64)
    missing = [
        (target - sums_along(whole.astype(np.float64), axis)).astype(np.int64).tolist()
        for axis, target in targets.items()
    ]
    for flat in np.argsort((whole - numbers).ravel(), kind="stable").tolist():
        cell = np.unravel_index(flat, whole.shape)
        if all(lacks[place] > 0 for lacks, place in zip(missing, cell, strict=True)):
            whole[cell] += 1
            for lacks, place in zip(missing, cell, strict=True):
                lacks[place] -= 1
    while sum(missing[0]) > 0:  # all margins lack the same in total
        cell = tuple(lacks.index(max(lacks)) for lacks in missing)
        units = min(lacks[place] for lacks, place in zip(missing, cell, strict=True))
        whole[cell] += units
        for lacks, place in zip(missing, cell, strict=True):
            lacks[place] -= units
    return whole


def _apportion(numbers: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    nearest = nearest_with_sum(numbers, total)
    whole = np.floor(nearest).astype(np.int64)
    missing = total - int(whole.sum())
    order = np.argsort(whole - nearest, kind="stable")
    # Rounding in floats can leave a unit more or less than there are fractions to give it to.
    while missing > 0:
        whole[order[:missing]] += 1
        missing -= min(missing, order.size)
    while missing < 0:
        largest = int(whole.argmax())
        taken = min(-missing, int(whole[largest]))
        whole[largest] -= taken
        missing += taken
    return whole


def nearest_with_sum(numbers: NDArray[np.float64], total: int) -> NDArray[np.float64]:
    """Euclidean projection onto the non-negative numbers with this sum."""
    ordered = np.sort(numbers)[::-1]
    shifts = (np.cumsum(ordered) - total) / np.arange(1, ordered.size + 1)
    kept = np.flatnonzero(ordered > shifts)
    shift = shifts[kept[-1]] if kept.size else shifts[0]
    return np.asarray(np.maximum(numbers - shift, 0.0))
