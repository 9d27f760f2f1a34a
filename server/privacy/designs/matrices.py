"""Designs from other matrices: given probabilities, and two questions at once."""

import math
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import any_array
from server.privacy.designs.design import Design, require_design
from server.privacy.designs.rounding import apportion_weights

_ENTRIES_LIMIT = 1 << 20


def custom(matrix: ArrayLike) -> Design:
    """A design from any matrix of probabilities.

    Parameters
    ----------
    matrix : array_like of float or Fraction, shape (k, m)
        Entry [x, y] is the probability that truth x sends report y; at least 2 x 2. Each
        row sums to 1 within 1e-9.

    Returns
    -------
    Design
        Each row, divided by its sum, rounded to multiples of 2**-32 by largest remainders:
        every entry is within 2**-32 of its share. A positive probability stays positive.
        Whether the shares can be estimated is for the estimators to say: a matrix with
        equal rows is a design that loses nothing and tells nothing.

    Raises
    ------
    ValueError
        If the matrix has another shape, an entry is outside [0, 1], a row does not sum to 1,
        or a report is possible for one truth and impossible for another.

    Examples
    --------
    >>> custom([[0.75, 0.25], [0.5, 0.5]]).weights.tolist()
    [[3221225472, 1073741824], [2147483648, 2147483648]]
    """
    entries = any_array("matrix", matrix)
    weights = weigh_rows(entries)
    mixed = (entries == 0).any(axis=0) & (entries > 0).any(axis=0)
    if mixed.any():
        raise ValueError(
            f"column {int(mixed.argmax())} of the matrix must be 0 for every truth or for none; "
            "otherwise its privacy loss is infinite"
        )
    return Design(weights)


def weigh_rows(matrix: ArrayLike) -> list[list[int]]:
    """Rows of probabilities as rows of weights, as `custom` makes them; a chance of 0 may stand anywhere."""
    entries: NDArray[Any] = any_array("matrix", matrix)
    fractions = entries.dtype == object and all(isinstance(entry, Rational | float) for entry in entries.flat)
    if entries.dtype.kind not in "fiu" and not fractions:
        raise ValueError(f"matrix must hold numbers in [0, 1]; its type is {entries.dtype}")
    if entries.ndim != 2 or min(entries.shape) < 2:
        raise ValueError(f"matrix must have at least 2 rows and 2 columns; its shape is {entries.shape}")
    outside = ~((entries >= 0) & (entries <= 1))
    if outside.any():
        raise ValueError(f"matrix must hold numbers in [0, 1]; one is {entries[outside][0]}")
    weights = []
    for number, row in enumerate(entries.tolist()):
        exact = [Fraction(entry) for entry in row]
        total = sum(exact, Fraction(0))
        if abs(total - 1) > Fraction(1, 10**9):
            raise ValueError(
                f"row {number} of the matrix must sum to 1 within 1e-9; it sums to {float(total)!r}"
            )
        scale = math.lcm(*(entry.denominator for entry in exact))
        weights.append(apportion_weights([int(entry * scale) for entry in exact]))
    return weights


def kronecker(a: Design, b: Design) -> Design:
    """The joint design of two questions answered with separate coins.

    Parameters
    ----------
    a, b : Design
        Shapes (k_a, m_a) and (k_b, m_b).

    Returns
    -------
    Design
        Shape (k_a k_b, m_a m_b); pairs of truths and pairs of reports are numbered with b
        varying fastest: the truth (x_a, x_b) is row x_a * k_b + x_b. Products are rounded
        to multiples of 2**-32 by largest remainders, so that its loss is the sum of the two
        losses to about one part in 2**32 times its smallest probability.

    Raises
    ------
    ValueError
        If the joint matrix would have more than 2**20 entries.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> kronecker(coin_flip(0.25), coin_flip(0.25)).matrix[1].tolist()
    [0.1875, 0.5625, 0.0625, 0.1875]
    """
    require_design(a, "a")
    require_design(b, "b")
    if a.weights.size * b.weights.size > _ENTRIES_LIMIT:
        raise ValueError(
            f"the joint design of a and b must have at most 2**20 = {_ENTRIES_LIMIT} entries; "
            f"shapes {a.weights.shape} and {b.weights.shape} make {a.weights.size * b.weights.size}"
        )
    # Python's integers: a product of two weights may need 65 bits.
    joint = np.kron(a.weights.astype(object), b.weights.astype(object)).tolist()
    return Design([apportion_weights(row) for row in joint])
