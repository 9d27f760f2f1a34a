"""Joint tables of several questions, by the Kronecker product of their designs.

The product itself is never formed: a matrix is applied along each axis of the table, so
that ten yes/no questions cost ten 2 x 2 products instead of one 1024 x 1024.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import listed, option, probability, whole_numbers
from server.privacy.designs.design import Design, require_design
from server.privacy.estimators.association import Association, associate
from server.privacy.estimators.inverse import checked_tally, left_inverse, possible_reports
from server.privacy.estimators.limits import INTERVALS, linear_limits

MOST_CELLS = 1024
"""Cells of a joint table, of truths or of reports, that `estimate_joint` accepts."""


@dataclass(frozen=True)
class JointEstimate:
    """Estimated shares of every combination of true answers to q questions.

    Attributes
    ----------
    n : int
        Number of respondents.
    table : ndarray, shape (k1, ..., kq)
        Unbiased, unclipped shares; they sum to 1.
    standard_errors : ndarray, shape (k1, ..., kq)
        Fractions; infinite when n is 1.
    intervals : ndarray, shape (k1, ..., kq, 2)
        Lower and upper limits of each cell by itself, unclipped.
    covariance : ndarray, shape (K, K) with K = k1 * ... * kq
        Unbiased estimate of the covariance of `table.ravel()`.
    marginals : tuple of ndarray, shapes (k1,), ..., (kq,)
        Shares of each question alone; equal to those of `estimate_shares`.
    impossible : bool
        Whether some cell is outside [0, 1].
    association : Association or None
        Odds ratio, difference and phi, when there are two yes/no questions.
    confidence : float
        Of the intervals.
    interval : str
        Kind of the intervals of the cells.
    """

    n: int
    table: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    intervals: NDArray[np.float64]
    covariance: NDArray[np.float64]
    marginals: tuple[NDArray[np.float64], ...]
    impossible: bool
    association: Association | None
    confidence: float
    interval: str


def estimate_joint(
    tally: Mapping[bytes, int] | Mapping[tuple[int, ...], int] | ArrayLike,
    designs: Sequence[Design],
    confidence: float = 0.95,
    interval: str = "wilson",
) -> JointEstimate:
    """Estimate the joint table of two or more questions answered by the same people.

    Parameters
    ----------
    tally : mapping or array_like of int, shape (m1, ..., mq)
        How many respondents sent each combination of reports: a mapping from strings of q
        bytes (or tuples of q whole numbers) to counts, or the table of counts itself.
    designs : sequence of Design, length q >= 2
        In the order of the bytes. The coins of the questions must be independent.
    confidence : float
        In (0, 1), of each interval by itself.
    interval : {"wilson", "exact", "wald"}
        As in `estimate_shares`, for the cells.

    Returns
    -------
    JointEstimate

    Raises
    ------
    ValueError
        If there are fewer than two designs, one is singular, the table has more than 1024
        cells, a report is outside its design, or the counts are not non-negative whole
        numbers with a positive sum.

    Notes
    -----
    The variance of a cell is about the product of what each design alone multiplies a
    variance by: under two fair coins, 16 times the variance of one direct answer for two
    questions, 64 for three. A joint table needs many more respondents than its margins.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> tally = {b"\\x00\\x00": 630, b"\\x00\\x01": 370, b"\\x01\\x00": 330, b"\\x01\\x01": 270}
    >>> joint = estimate_joint(tally, [coin_flip(0.25), coin_flip(0.25)])
    >>> joint.table.round(4).tolist()
    [[0.6, 0.15], [0.1, 0.15]]
    >>> round(joint.association.odds_ratio.value, 3)
    6.0
    """
    designs = tuple(listed("designs", designs))
    if len(designs) < 2:
        raise ValueError(f"designs must be two or more; there are {len(designs)}")
    for number, design in enumerate(designs):
        require_design(design, f"designs[{number}]")
    truths = tuple(design.weights.shape[0] for design in designs)
    sent = tuple(design.weights.shape[1] for design in designs)
    if max(math.prod(truths), math.prod(sent)) > MOST_CELLS:
        raise ValueError(
            f"designs must give a table of at most {MOST_CELLS} cells; they give "
            f"{math.prod(truths)} of truths and {math.prod(sent)} of reports"
        )
    confidence = probability("confidence", confidence, open_interval=True)
    option("interval", interval, INTERVALS)
    inverses = [left_inverse(design, f"designs[{number}]") for number, design in enumerate(designs)]
    reports = checked_tally(_counted(tally, sent), designs, "tally")
    n = int(reports.sum())
    observed = reports / n
    table = _along_axes(inverses, observed)
    covariance = _covariance(inverses, observed, table, n)
    possible = [possible_reports(design) for design in designs]
    seen = reports[np.ix_(*possible)].ravel()
    limits = [
        linear_limits(_row(inverses, possible, cell), seen, confidence, interval)
        for cell in np.ndindex(truths)
    ]
    rounding = 1e-13 * math.prod(float(np.abs(inverse).max()) for inverse in inverses)
    return JointEstimate(
        n=n,
        table=table,
        standard_errors=np.sqrt(np.diag(covariance)).reshape(truths),
        intervals=np.array(limits).reshape(*truths, 2),
        covariance=covariance,
        marginals=tuple(
            table.sum(axis=tuple(other for other in range(len(truths)) if other != axis))
            for axis in range(len(truths))
        ),
        impossible=bool(table.min() < -rounding or table.max() > 1 + rounding),
        association=associate(table, covariance, n, confidence) if truths == (2, 2) else None,
        confidence=confidence,
        interval=interval,
    )


def _counted(
    tally: Mapping[bytes, int] | Mapping[tuple[int, ...], int] | ArrayLike, sent: tuple[int, ...]
) -> ArrayLike:
    """The tally as an array of counts."""
    if not isinstance(tally, Mapping):
        return tally
    if not tally:
        raise ValueError("tally must have a positive sum; it is empty")
    values = whole_numbers("tally", list(tally.values()))
    counts = np.zeros(sent, dtype=np.int64)
    patterns: list[object] = list(tally)  # whatever the annotation says: they may come from a file
    for pattern, count in zip(patterns, values.tolist(), strict=True):
        reports = tuple(pattern) if isinstance(pattern, Sequence) else ()
        if len(reports) != len(sent):
            raise ValueError(f"tally must have {len(sent)} reports in every pattern; one is {pattern!r}")
        for question, (report, reports_of_design) in enumerate(zip(reports, sent, strict=True)):
            if isinstance(report, bool) or not isinstance(report, int | np.integer):
                raise ValueError(f"tally must have whole numbers as reports; one pattern is {pattern!r}")
            if not 0 <= report < reports_of_design:
                raise ValueError(
                    f"tally must have reports in [0, {reports_of_design - 1}] for question {question}; "
                    f"one is {report}"
                )
        if count < 0:
            raise ValueError(f"tally must not have negative counts; {pattern!r} has {count}")
        counts[reports] = count
    return counts


def _along_axes(matrices: Sequence[NDArray[np.float64]], table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Apply one matrix along each axis: the Kronecker product times the table."""
    for axis, matrix in enumerate(matrices):
        table = np.moveaxis(np.tensordot(matrix, table, axes=(1, axis)), 0, axis)
    return table


def _covariance(
    inverses: Sequence[NDArray[np.float64]],
    observed: NDArray[np.float64],
    table: NDArray[np.float64],
    n: int,
) -> NDArray[np.float64]:
    """L (diag(o) - o o^T) L^T / (n - 1), the first term along axes too: L (x) L, row pair by row pair."""
    cells = table.size
    if n == 1:
        return np.full((cells, cells), math.inf)
    pairs = [
        (inverse[:, None, :] * inverse[None, :, :]).reshape(-1, inverse.shape[1]) for inverse in inverses
    ]
    second = _along_axes(pairs, observed).reshape([size for size in table.shape for _ in range(2)])
    order = [*range(0, second.ndim, 2), *range(1, second.ndim, 2)]
    moments = second.transpose(order).reshape(cells, cells)
    covariance = (moments - np.outer(table, table)) / (n - 1)
    covariance[np.diag_indices(cells)] = np.maximum(
        np.diag(covariance), 0
    )  # rounding, when all reports are equal
    return np.asarray(covariance)


def _row(
    inverses: Sequence[NDArray[np.float64]], possible: Sequence[NDArray[np.bool_]], cell: tuple[int, ...]
) -> NDArray[np.float64]:
    """One row of the Kronecker product of the inverses: what each report pattern adds to this cell."""
    rows = [inverse[truth, used] for inverse, used, truth in zip(inverses, possible, cell, strict=True)]
    return np.asarray(reduce(np.multiply.outer, rows)).ravel()
