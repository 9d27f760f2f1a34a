"""Whole, non-negative numbers that still add up."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import real_numbers, whole_number
from server.privacy.consistency.hierarchies import checked_parents


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


def _apportion(numbers: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    nearest = _nearest_with_sum(numbers, total)
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


def _nearest_with_sum(numbers: NDArray[np.float64], total: int) -> NDArray[np.float64]:
    """Euclidean projection onto the non-negative numbers with this sum."""
    ordered = np.sort(numbers)[::-1]
    shifts = (np.cumsum(ordered) - total) / np.arange(1, ordered.size + 1)
    kept = np.flatnonzero(ordered > shifts)
    shift = shifts[kept[-1]] if kept.size else shifts[0]
    return np.asarray(np.maximum(numbers - shift, 0.0))
