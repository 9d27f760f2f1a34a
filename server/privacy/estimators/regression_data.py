"""Reports and covariates for a regression: checked, and in orthonormal coordinates."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import any_array, check_range, real_numbers, whole_numbers
from server.privacy.designs import Design

COLLINEAR = 1e-10
"""A column is a combination of others when no more than this fraction of its length is left without them."""

SMALLEST, LARGEST = 1e-100, 1e100
"""Magnitudes within which squares and their sums are floats."""

_BLOCK, _LARGEST_BLOCK = 4096, 16384
_MOST_PRODUCTS = 1 << 18


@dataclass(frozen=True)
class Data:
    """Reports with covariates, in coordinates in which the columns are orthonormal.

    Attributes
    ----------
    columns : ndarray, shape (k, n)
        An orthonormal basis (under the weights) of the columns (1, covariates), one per row.
    to_columns : ndarray, shape (k, k)
        Upper triangular: theta = to_columns @ coefficients, eta = columns.T @ theta.
    reports : ndarray of int, shape (n,)
    if_yes, if_no : ndarray, shape (n,)
        The chance of the report that came, for either truth.
    weights : ndarray, shape (n,)
    """

    columns: NDArray[np.float64]
    to_columns: NDArray[np.float64]
    reports: NDArray[np.int64]
    if_yes: NDArray[np.float64]
    if_no: NDArray[np.float64]
    weights: NDArray[np.float64]

    @property
    def total(self) -> float:
        return float(self.weights.sum())


def blocks(n: int, columns: int = 8) -> Iterator[slice]:
    """Rows in blocks that stay in the processor's cache, and that BLAS does not divide among threads.

    It does so where the products of so many columns with each other are more than 2**18.
    """
    size = min(max(_MOST_PRODUCTS // columns**2, _BLOCK), _LARGEST_BLOCK)
    return (slice(first, first + size) for first in range(0, n, size))


def prepare(reports: ArrayLike, covariates: ArrayLike, design: Design, weights: ArrayLike | None) -> Data:
    """Check reports, covariates and weights, and make `Data` of them; raises as `logistic_regression`."""
    answers = whole_numbers("reports", reports)
    if answers.ndim != 1 or answers.size == 0:
        raise ValueError(f"reports must have shape (n,) with n at least 1; their shape is {answers.shape}")
    check_range("reports", answers, 0, 1)
    table = _table(covariates, answers.size)
    masses = _masses(weights, answers.size)
    used = masses > 0
    if not used.all():
        answers, table, masses = answers[used], table[:, used], masses[used]
    k, n = table.shape
    if n < k:
        raise ValueError(
            f"reports must be at least {k}, the number of coefficients; {n} have a positive weight"
        )
    scales = np.exp2(-np.frexp(np.abs(table).max(axis=1))[1])  # powers of two: nothing is rounded
    table *= scales[:, None]
    roots = np.sqrt(masses / masses.sum())
    triangle = np.zeros((0, k))
    for block in blocks(n):
        rows = np.concatenate([triangle, (table[:, block] * roots[block]).T])
        triangle = np.asarray(np.linalg.qr(rows, mode="r"), dtype=np.float64)
    lengths = np.sqrt(np.sum(triangle**2, axis=0))
    dependent = np.abs(np.diag(triangle)) <= COLLINEAR * lengths
    if dependent.any():
        raise ValueError(
            f"covariates must not repeat each other or the intercept; column {int(dependent.argmax()) - 1} is a "
            f"linear combination of the intercept and the columns before it on the {n} rows with a positive weight"
        )
    for block in blocks(n):
        table[:, block] = scipy.linalg.solve_triangular(triangle, table[:, block], trans="T")
    if_no, if_yes = design.matrix[:, answers]
    return Data(table, triangle / scales, answers, if_yes, if_no, masses)


def _table(covariates: ArrayLike, n: int) -> NDArray[np.float64]:
    """The intercept and the covariates, shape (p + 1, n)."""
    given = any_array("covariates", covariates)
    if given.ndim not in (1, 2) or given.shape[0] != n:
        raise ValueError(
            f"covariates must have shape ({n}, p) or ({n},), as there are {n} reports; "
            f"their shape is {given.shape}"
        )
    given = given.reshape(n, -1) if given.size else given.reshape(n, 0)
    table = np.ones((given.shape[1] + 1, n))
    if given.size:
        table[1:] = real_numbers("covariates", given.astype(np.int8) if given.dtype == np.bool_ else given).T
    largest = np.abs(table).max(axis=1)
    outside = (largest > LARGEST) | ((largest < SMALLEST) & (largest > 0))
    if outside.any():
        raise ValueError(
            f"covariates must have magnitudes of at most {LARGEST:g}, and not all below {SMALLEST:g}; "
            f"the largest in column {int(outside.argmax()) - 1} is {float(largest[outside][0])!r}"
        )
    return table


def _masses(weights: ArrayLike | None, n: int) -> NDArray[np.float64]:
    if weights is None:
        return np.ones(n)
    masses = real_numbers("weights", weights)
    if masses.shape != (n,):
        raise ValueError(
            f"weights must have shape ({n},), as there are {n} reports; their shape is {masses.shape}"
        )
    outside = (masses != 0) & ((masses < SMALLEST) | (masses > LARGEST))
    if outside.any():
        raise ValueError(
            f"weights must be 0 or in [{SMALLEST:g}, {LARGEST:g}]; one is {float(masses[outside][0])!r}"
        )
    if not masses.any():
        raise ValueError("weights must have a positive sum; they are all 0")
    return masses
