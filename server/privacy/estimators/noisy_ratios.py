"""Ratios of counts that were perturbed before they were published, with all that makes them uncertain.

Every estimate of a release is a ratio of two linear functions of noisy cells (`coefficients`). Its
interval consists of the ratios theta for which sum((numerator - theta * denominator) * cell), which is
0 but for chance at the true one, is no further from 0 than chance takes it: that of the coins and of
sampling, approximately normal, and that of the noise, whose distribution is known.

References
----------
Fieller, E. C. (1954). Some problems in interval estimation. *JRSS B* 16, 175-185.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from server.privacy._checks import (
    check_range,
    flag,
    option,
    probability,
    real_numbers,
    whole_number,
    whole_numbers,
)
from server.privacy.estimators.inverse import MOST_REPORTS
from server.privacy.estimators.limits import accepted_end
from server.privacy.estimators.residuals import Residuals
from server.privacy.estimators.together import at_once, compute

NOISES = ("laplace", "gaussian")
_LARGEST = 1e100


@dataclass(frozen=True)
class ReleasedRatio:
    """An estimate from noisy cells.

    Attributes
    ----------
    value : float or None
        Unclipped; None when the denominator is not positive.
    standard_error : float or None
        Of coins, sampling and noise together, by the delta method; None when the value is, or
        when the cells tell of fewer than two people.
    interval : tuple of float
        Lower and upper limit, unclipped; `reach`, everything it could be, when the cells do not
        show that there is anybody.
    confidence : float
        Of the interval.
    """

    value: float | None
    standard_error: float | None
    interval: tuple[float, float]
    confidence: float


def released_ratio(
    cells: ArrayLike,
    numerator: ArrayLike,
    denominator: ArrayLike,
    variances: ArrayLike,
    confidence: float = 0.95,
    *,
    total: int | None = None,
    sampled: bool = True,
    noise: str = "laplace",
    reach: tuple[float, float] = (0.0, 1.0),
) -> ReleasedRatio:
    """Estimate sum(numerator * cell) / sum(denominator * cell) from noisy cells.

    Parameters
    ----------
    cells : array_like of int, shape (m,)
        Noisy counts, as published; each person was counted in one of them at most.
    numerator, denominator : array_like of float, shape (m,)
        As from `share_coefficients` and the others.
    variances : float or array_like of float, shape (m,)
        Of the noise in each cell, not negative.
    confidence : float
        In (0, 1).
    total : int or None
        How many people the cells count together, where that is public, as it is under bounded
        neighbours; None where it is private.
    sampled : bool
        Whether cells count randomised reports of people sampled from those whom the estimate is
        about. If not, cells are exact but for the noise, and so is what the interval accounts for.
    noise : {"laplace", "gaussian"}
        Two-sided geometric, which is the discrete Laplace, or Gaussian.
    reach : tuple of float
        The least and the most that the true ratio can be.

    Returns
    -------
    ReleasedRatio

    Raises
    ------
    ValueError
        If an argument is out of its range or the lengths differ.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> from server.privacy.estimators import share_coefficients
    >>> shares = share_coefficients([coin_flip(0.25)])
    >>> yes = released_ratio([598, 403], shares.numerators[1], shares.denominator, variances=1.84)
    >>> round(yes.value, 4), round(yes.standard_error, 4), [round(limit, 4) for limit in yes.interval]
    (0.3052, 0.0311, [0.2448, 0.367])
    """
    problem = _check_cells(cells, numerator, denominator, variances, total)
    confidence = probability("confidence", confidence, open_interval=True)
    flag("sampled", sampled)
    option("noise", noise, NOISES)
    low, high = _checked_reach(reach)
    value = problem.top / problem.bottom if problem.bottom > problem.rounding else None
    if value is None or (sampled and problem.people < 2):
        return ReleasedRatio(value, None, (low, high), confidence)

    def outside(position: float) -> float:
        """Negative where the cells could have come from this ratio."""
        return problem.margin(
            problem.numerator - position * problem.denominator,
            problem.top - position * problem.bottom,
            confidence,
            sampled=sampled,
            noise=noise,
        )

    error = problem.error(value, sampled=sampled) / problem.bottom
    interval = low, high
    if problem.margin(problem.denominator, problem.bottom, confidence, sampled=sampled, noise=noise) > 0:
        step = max(error, 1e-9 * (high - low))
        contains = at_once(lambda at: -outside(at))
        interval = (
            compute(accepted_end(contains, value, -step)),
            compute(accepted_end(contains, value, step)),
        )
    return ReleasedRatio(value, error, interval, confidence)


def _check_cells(
    cells: ArrayLike, numerator: ArrayLike, denominator: ArrayLike, variances: ArrayLike, total: int | None
) -> Residuals:
    counts = whole_numbers("cells", cells)
    if counts.ndim != 1 or not counts.size:
        raise ValueError(f"cells must be one vector with an entry; their shape is {counts.shape}")
    check_range("cells", counts, -MOST_REPORTS, MOST_REPORTS)
    rows = []
    for name, values in (("numerator", numerator), ("denominator", denominator), ("variances", variances)):
        row = real_numbers(name, values, _LARGEST)
        if row.shape != counts.shape and not (name == "variances" and row.ndim == 0):
            raise ValueError(f"{name} must have shape {counts.shape}, as cells; their shape is {row.shape}")
        rows.append(np.broadcast_to(row, counts.shape))
    if rows[2].min() < 0:
        raise ValueError(f"variances must not be negative; one is {float(rows[2].min())!r}")
    if total is not None:
        whole_number("total", total, 0, MOST_REPORTS)
    table = np.stack(rows, axis=1)
    # Equal coefficients can differ by rounding: they come from inverted matrices.
    scale = np.maximum(np.abs(table).max(axis=0), 1e-300)
    _, first, group, numbers = np.unique(
        np.round(table / scale, 12), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    return Residuals(
        counts=np.asarray(np.bincount(group.ravel(), weights=counts), dtype=np.float64),
        numerator=table[first, 0],
        denominator=table[first, 1],
        variances=table[first, 2],
        numbers=numbers.astype(np.float64),
        people=float(counts.sum() if total is None else total),
        total=total,
    )


def _checked_reach(reach: tuple[float, float]) -> tuple[float, float]:
    ends = real_numbers("reach", reach, _LARGEST)
    if ends.shape != (2,) or not ends[0] < ends[1]:
        raise ValueError(f"reach must be two numbers, the lower first; it is {reach!r}")
    return float(ends[0]), float(ends[1])
