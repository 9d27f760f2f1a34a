"""Joint tables of several questions, by the Kronecker product of their designs.

The product itself is never formed: a matrix is applied along each axis of the table, so
that ten yes/no questions cost ten 2 x 2 products instead of one 1024 x 1024.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from server.privacy._checks import option, probability
from server.privacy.designs.design import Design
from server.privacy.estimators.association import Association, associate
from server.privacy.estimators.checked_tallies import Tally, checked_designs, checked_joint_tally
from server.privacy.estimators.inverse import left_inverse, possible_reports, standard_errors
from server.privacy.estimators.limits import INTERVALS, limits_of_means
from server.privacy.estimators.parts import Mixture
from server.privacy.estimators.together import compute
from server.privacy.estimators.weighted_limits import limits_of_sums

_TOGETHER = 64
"""Cells whose limits are computed at once; each has a value for each combination of reports."""


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
        Fractions; infinite when n is 1, or all reports say the same of a cell.
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
    tally: Tally,
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
        As in `estimate_shares`, for the cells; "exact" takes a time that grows with the cube of their number.

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
    asked = checked_designs(designs, "designs")
    confidence = probability("confidence", confidence, open_interval=True)
    option("interval", interval, INTERVALS)
    return joint_of(checked_joint_tally(tally, asked, "tally"), asked, confidence, interval)


def joint_of(
    reports: NDArray[np.int64], designs: tuple[Design, ...], confidence: float, interval: str
) -> JointEstimate:
    """The estimate from counts and designs that were checked."""
    truths = tuple(design.weights.shape[0] for design in designs)
    inverses = [left_inverse(design) for design in designs]
    n = int(reports.sum())
    observed = reports / n
    table = _along_axes(inverses, observed)
    covariance = _covariance(inverses, observed, table, n)
    possible = [possible_reports(design) for design in designs]
    seen = reports[np.ix_(*possible)].ravel()
    used = [inverse[:, sent] for inverse, sent in zip(inverses, possible, strict=True)]
    limits: list[NDArray[np.float64]] = []
    cells = np.ndindex(truths)
    while interval != "exact" and (some := list(islice(cells, _TOGETHER))):
        rows = [cell_coefficients(used, cell) for cell in some]
        limits.append(compute(limits_of_means(rows, [seen[None]] * len(rows), confidence, interval)))
    if interval == "exact":
        limits.append(exact_limits([(1.0, reports, designs)], confidence))
    rounding = rounding_errors(designs)
    return JointEstimate(
        n=n,
        table=table,
        standard_errors=standard_errors(np.diag(covariance)).reshape(truths),
        intervals=np.concatenate(limits).reshape(*truths, 2),
        covariance=covariance,
        marginals=marginals_of(table),
        impossible=bool(table.min() < -rounding or table.max() > 1 + rounding),
        association=associate(table, covariance, confidence) if truths == (2, 2) else None,
        confidence=confidence,
        interval=interval,
    )


def exact_limits(
    parts: Sequence[tuple[float, NDArray[np.int64], Sequence[Design]]], confidence: float
) -> NDArray[np.float64]:
    """Limits of every cell that cover at least as often as they say, whatever the true tables of the parts.

    What all questions of a person report is a mixture of the rows of the Kronecker product, which is formed here.

    Parameters
    ----------
    parts : sequence of (float, ndarray of int, sequence of Design)
        What each part counts, its table of reports, not empty, and its designs.
    confidence : float
        In (0, 1), of each interval by itself.

    Returns
    -------
    ndarray, shape (cells, 2)
    """
    mixtures, inverses = [], []
    for places in list_alike([used for _weight, _reports, used in parts]):
        designs = parts[places[0]][2]
        possible = [possible_reports(design) for design in designs]
        chances = [design.matrix[:, sent] for design, sent in zip(designs, possible, strict=True)]
        seen = np.stack([parts[place][1][np.ix_(*possible)].ravel() for place in places])
        mixtures.append(Mixture(seen, np.array([parts[place][0] for place in places]), product_of(chances)))
        inverses.append(
            [left_inverse(design)[:, sent] for design, sent in zip(designs, possible, strict=True)]
        )
    cells = np.ndindex(*(design.weights.shape[0] for design in parts[0][2]))
    sums = [[cell_coefficients(own, cell) for own in inverses] for cell in cells]
    return np.array(compute(limits_of_sums(mixtures, sums, confidence, "exact")))


def list_alike(designs: Sequence[Sequence[Design]]) -> list[list[int]]:
    """The places of parts under the same designs."""
    alike: dict[tuple[bytes, ...], list[int]] = {}
    for place, used in enumerate(designs):
        alike.setdefault(tuple(design.weights.tobytes() for design in used), []).append(place)
    return list(alike.values())


def rounding_errors(designs: Sequence[Design]) -> float:
    """How far a cell may be outside [0, 1] by rounding alone."""
    return 1e-13 * math.prod(float(np.abs(left_inverse(design)).max()) for design in designs)


def marginals_of(table: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """The shares of each question alone."""
    axes = range(table.ndim)
    return tuple(table.sum(axis=tuple(other for other in axes if other != axis)) for axis in axes)


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


def product_of(matrices: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The Kronecker product."""
    found = np.ones((1, 1))
    for matrix in matrices:
        found = np.asarray(np.kron(found, matrix), dtype=np.float64)
    return found


def cell_coefficients(inverses: Sequence[NDArray[np.float64]], cell: tuple[int, ...]) -> NDArray[np.float64]:
    """One row of the Kronecker product of the inverses: what each report pattern adds to this cell."""
    rows = [inverse[truth] for inverse, truth in zip(inverses, cell, strict=True)]
    return np.asarray(reduce(np.multiply.outer, rows)).ravel()
