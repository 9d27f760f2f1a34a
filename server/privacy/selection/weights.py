"""Estimates in whole numbers, for selections: counts of reports with one whole weight for each report.

Where answers were randomised, the counts of reports do not say which answer is the most common, or
which shares exceed a threshold; estimates do. An estimate is a weighted sum of counts. Its weights are
rounded to whole numbers here, before any data are seen, so that the sums are exact and so is the most
by which one person changes them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import option, probability, real_numbers
from server.privacy.selection.choice import NEIGHBOURS

_STEPS = 1 << 20
"""Of the largest weight. Sums over 2**33 people are still exact as floats."""


@dataclass(frozen=True)
class WholeWeights:
    """Weights of counts of reports, for `exponential_mechanism` or `sparse_vector`.

    Attributes
    ----------
    weights : ndarray of int64, shape (options, cells) or (cells,)
        `weights @ counts` are the utilities or the answer.
    sensitivity : float
        What the mechanism is to be given as the sensitivity of them.
    unit : float
        What one step of them is worth, in people.
    """

    weights: NDArray[np.int64]
    sensitivity: float
    unit: float


def estimate_utilities(numerators: ArrayLike, neighbours: str = "unbounded") -> WholeWeights:
    """Utilities for "which answer is estimated to be the most common?", by the exponential mechanism.

    Parameters
    ----------
    numerators : array_like of float, shape (options, cells)
        What each report adds to the estimated number of people with each answer: those of
        `share_coefficients`; the identity, where counts are exact.
    neighbours : {"unbounded", "bounded"}

    Returns
    -------
    WholeWeights
        Its `sensitivity` goes with `monotone=False`, whatever the neighbours.

    Raises
    ------
    ValueError
        If the numerators are not two rows or more of finite numbers, or all alike.

    Notes
    -----
    The mechanism looks at differences of utilities alone. If one person changes them by d, its
    loss is at most its rate times max(d) - min(d): a change that all options share costs
    nothing. So the sensitivity is half of the largest such range, over the columns of one person
    added, or over all differences of two columns where one is replaced.

    Examples
    --------
    >>> estimate_utilities([[1, 0], [0, 1]]).sensitivity * estimate_utilities([[1, 0], [0, 1]]).unit
    0.5
    >>> from server.privacy.designs import k_ary
    >>> from server.privacy.estimators import share_coefficients
    >>> found = estimate_utilities(share_coefficients([k_ary(3, 1.0)]).numerators)
    >>> round(found.sensitivity * found.unit, 3)
    1.373
    """
    option("neighbours", neighbours, NEIGHBOURS)
    rows = real_numbers("numerators", numerators, 1e100)
    if rows.ndim != 2 or len(rows) < 2:
        raise ValueError(
            f"numerators must have a row for each option, two or more; their shape is {rows.shape}"
        )
    # A change of all options' weights alike changes no difference; about 0 they are the smallest.
    rows = rows - (rows.max(axis=0) + rows.min(axis=0)) / 2
    unit = float(np.abs(rows).max()) / _STEPS
    if not unit:
        raise ValueError("numerators must tell options apart; all rows are equal")
    weights = np.rint(rows / unit).astype(np.int64)
    columns = np.unique(np.column_stack([weights, np.zeros(len(weights), dtype=np.int64)]), axis=1)
    if neighbours == "unbounded":
        largest = int(np.ptp(columns, axis=0).max())
    else:
        largest = max(int(np.ptp(columns - column[:, None], axis=0).max()) for column in columns.T)
    return WholeWeights(weights, largest / 2, unit)


def excess_weights(
    numerator: ArrayLike, denominator: ArrayLike, share: float, neighbours: str = "unbounded"
) -> WholeWeights:
    """The query "do more than this share of people have it?" without their number, for `sparse_vector`.

    Parameters
    ----------
    numerator, denominator : array_like of float, shape (cells,)
        What each report adds to the estimated number of people who have it, and to that of all
        people: those of `share_coefficients`; 0 and 1, and ones, where counts are exact.
    share : float
        In (0, 1).
    neighbours : {"unbounded", "bounded"}

    Returns
    -------
    WholeWeights
        `weights @ counts` is to be compared with 0. The sensitivity is 2**20 for every question,
        so that questions under different designs can be asked together.

    Raises
    ------
    ValueError
        If an argument is out of its range, the lengths differ, or no report counts.

    Notes
    -----
    The sum of (numerator - share * denominator) * count is the estimated number of people by which
    those who have it exceed that share of all. Comparing a count with share * n instead would need
    n, which is private under unbounded neighbours.

    Examples
    --------
    >>> found = excess_weights([0, 1], [1, 1], share=0.25)
    >>> (found.weights * found.unit).round(4).tolist(), found.sensitivity * found.unit
    ([-0.25, 0.75], 0.75)
    """
    option("neighbours", neighbours, NEIGHBOURS)
    limit = probability("share", share, open_interval=True)
    over, under = real_numbers("numerator", numerator, 1e100), real_numbers("denominator", denominator, 1e100)
    if over.ndim != 1 or under.shape != over.shape:
        raise ValueError(
            "numerator and denominator must be two vectors of one length; "
            f"their shapes are {over.shape} and {under.shape}"
        )
    row = over - limit * under
    # One person added changes the sum by a weight; one replaced by a difference of two, of which one may be 0.
    most = float(np.abs(row).max() if neighbours == "unbounded" else max(row.max(), 0) - min(row.min(), 0))
    if not most:
        raise ValueError("numerator must differ from share * denominator in a report; it does in none")
    # Towards 0, so that rounding makes no change larger.
    return WholeWeights(np.trunc(row / most * _STEPS).astype(np.int64), float(_STEPS), most / _STEPS)
