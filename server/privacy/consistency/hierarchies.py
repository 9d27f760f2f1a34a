"""Noisy counts on every node of a tree, made to add up."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import any_array, real_numbers, whole_numbers
from server.privacy.consistency.raking import LARGEST


@dataclass(frozen=True)
class ConsistentHierarchy:
    """The best linear estimate of a tree of counts.

    Attributes
    ----------
    values : ndarray of float64, shape (nodes,)
        Children sum to their parent. May be negative: see `round_to_integers`.
    variances : ndarray of float64, shape (nodes,)
        Of `values`, if the variances given were right.
    """

    values: NDArray[np.float64]
    variances: NDArray[np.float64]


def consistent_hierarchy(
    noisy: ArrayLike, parents: ArrayLike, variances: ArrayLike | None = None
) -> ConsistentHierarchy:
    """Weighted least squares on a tree of any shape, in two passes over its nodes.

    Parameters
    ----------
    noisy : array_like of float, shape (nodes,)
        A noisy count for every node, with independent noise.
    parents : array_like of int, shape (nodes,)
        Index of each node's parent, which comes before it; -1 for a root. Several roots
        are several trees.
    variances : array_like of float, shape (nodes,), or None
        Of the noise, above 0; infinite for an inner node that was not counted. None is
        all equal.

    Returns
    -------
    ConsistentHierarchy

    Raises
    ------
    ValueError
        If lengths differ, a count is not finite or beyond 1e150, a parent does not come before
        its child, a variance is not positive, or a leaf's is infinite.

    Notes
    -----
    Upwards, a node's own count and the sum of its children's estimates are averaged, each
    weighted by its inverse variance. Downwards, what the children lack is shared out in
    proportion to their variances. On a uniform tree with equal variances these are the
    two passes of Hay et al.

    References
    ----------
    Hay et al. (2010), theorem 3.

    Examples
    --------
    >>> consistent_hierarchy([10.0, 7.0, 6.0], [-1, 0, 0]).values.round(6).tolist()
    [11.0, 6.0, 5.0]
    """
    own, above = real_numbers("noisy", noisy, LARGEST), checked_parents(parents)
    if own.shape != above.shape:
        raise ValueError(f"noisy must have shape {above.shape}, as parents; their shape is {own.shape}")
    spread = _checked_variances(variances, above)
    estimates, squares = own.copy(), spread.copy()
    levels = levels_of(above)
    sums, spreads = np.zeros(own.size), np.zeros(own.size)
    for nodes in reversed(levels):
        inner = nodes[spreads[nodes] > 0]
        # The share of the own count; 0 where it has infinite variance.
        trust = 1 / (1 + spread[inner] / spreads[inner])
        estimates[inner] = trust * own[inner] + (1 - trust) * sums[inner]
        squares[inner] = (1 - trust) * spreads[inner]
        if above[nodes[0]] >= 0:
            np.add.at(sums, above[nodes], estimates[nodes])
            np.add.at(spreads, above[nodes], squares[nodes])
    values, variance = estimates.copy(), squares.copy()
    for nodes in levels[1:]:
        parent = above[nodes]
        share = squares[nodes] / spreads[parent]
        values[nodes] = estimates[nodes] + share * (values[parent] - sums[parent])
        variance[nodes] = squares[nodes] * (1 - share) + share**2 * variance[parent]
    return ConsistentHierarchy(values, variance)


def checked_parents(parents: ArrayLike) -> NDArray[np.int64]:
    """Parents that come before their children; this excludes cycles."""
    above = whole_numbers("parents", parents)
    if above.ndim != 1 or above.size == 0:
        raise ValueError(f"parents must be one vector with an entry; their shape is {above.shape}")
    wrong = (above < -1) | (above >= np.arange(above.size))
    if wrong.any():
        node = int(wrong.argmax())
        raise ValueError(
            f"parents must come before their children, in [-1, {node - 1}] for node {node}; "
            f"it is {int(above[node])}"
        )
    return above


def levels_of(above: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Nodes by their distance from a root."""
    depths = np.zeros(above.size, dtype=np.int64)
    for node, parent in enumerate(above.tolist()):
        if parent >= 0:
            depths[node] = depths[parent] + 1
    order = np.argsort(depths, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(depths[order])) + 1)


def _checked_variances(variances: ArrayLike | None, above: NDArray[np.int64]) -> NDArray[np.float64]:
    if variances is None:
        return np.ones(above.size)
    spread = any_array("variances", variances)
    if spread.dtype.kind not in "iuf" or spread.shape != above.shape:
        raise ValueError(f"variances must be numbers of shape {above.shape}; they are {variances!r}")
    spread = spread.astype(np.float64)
    inside = (spread >= 1 / LARGEST) & ((spread <= LARGEST) | np.isinf(spread))
    if not inside.all():
        raise ValueError(
            f"variances must be in [1e-150, 1e150], or infinite; one is {float(spread[~inside][0])!r}"
        )
    leaves = np.ones(above.size, dtype=bool)
    leaves[above[above >= 0]] = False
    if np.isinf(spread[leaves]).any():
        raise ValueError("variances must be finite for a leaf; one is inf")
    return spread
