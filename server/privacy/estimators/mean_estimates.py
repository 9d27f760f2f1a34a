"""The mean of a bounded number, from one randomised bit or from an ordered scale.

References
----------
Duchi, J. C., Jordan, M. I. and Wainwright, M. J. (2013). Local privacy and statistical
minimax rates. *FOCS*.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import option, probability, real_numbers
from server.privacy.designs import Design
from server.privacy.estimators.inverse import checked_reports, left_inverse, standard_errors
from server.privacy.estimators.late import LateInterval
from server.privacy.estimators.limits import INTERVALS
from server.privacy.estimators.parts import Stack, stack_single
from server.privacy.estimators.together import Steps
from server.privacy.estimators.weighted_limits import limits_of_sums


@dataclass(frozen=True)
class MeanEstimate(LateInterval):
    """An estimated mean.

    Attributes
    ----------
    n : int
        Number of reports.
    mean : float
        Unbiased and unclipped, in the unit of `low` and `high`.
    standard_error : float
        In the same unit; infinite when n is 1, or all reports say the same. It includes what stochastic rounding adds.
    interval : tuple of float
        Lower and upper limit, unclipped.
    impossible : bool
        Whether the mean is outside [low, high].
    confidence : float
        Of the interval.
    kind : str
        Of the interval: "wilson", "exact" or "wald".
    """

    n: int
    mean: float
    standard_error: float
    impossible: bool
    confidence: float
    kind: str


def estimate_mean(
    counts: ArrayLike,
    design: Design,
    low: float,
    high: float,
    confidence: float = 0.95,
    interval: str = "wilson",
) -> MeanEstimate:
    """Estimate the mean of a number in [low, high].

    Parameters
    ----------
    counts : array_like of int, shape (m,)
        Reports received, (low, high) for a yes/no design.
    design : Design
        Its k truths stand for k equally spaced values from low to high. Under a 2 x 2
        design a number x was first rounded to high with probability
        (x - low) / (high - low), otherwise to low; the mean is then
        low + (high - low) * share of "high" (one bit, Duchi et al. 2013). With k > 2 it is
        the mean of an ordered scale.
    low, high : float
        Finite, low < high, in the unit of the number.
    confidence : float
        In (0, 1).
    interval : {"wilson", "exact", "wald"}
        As in `estimate_shares`.

    Returns
    -------
    MeanEstimate

    Raises
    ------
    ValueError
        As `estimate_shares`, or if low and high are not finite with low < high.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> estimate = estimate_mean([600, 400], coin_flip(0.25), low=0, high=40)
    >>> round(estimate.mean, 6), round(estimate.standard_error, 6)
    (12.0, 1.239975)
    """
    bottom, top = checked_range(low, high)
    left_inverse(design)
    part = stack_single(checked_reports(counts, design), design)
    confidence = probability("confidence", confidence, open_interval=True)
    option("interval", interval, INTERVALS)
    return mean_of([part], int(part.sizes[0]), (bottom, top), confidence, interval)


def mean_of(
    stacks: Sequence[Stack], n: int, ends: tuple[float, float], confidence: float, interval: str
) -> MeanEstimate:
    """The estimate from one part or from the weighted sum of several."""
    # Estimated on the scale [0, 1] and stretched at the end, so that no unit loses digits.
    bottom, width = ends[0], ends[1] - ends[0]
    rows = [position_rows(each) for each in stacks]
    position = sum(
        float(each.weights @ each.means(row)[:, 0]) for each, row in zip(stacks, rows, strict=True)
    )
    variance = sum(
        float(each.weights**2 @ each.covariances(row)[:, 0, 0])
        for each, row in zip(stacks, rows, strict=True)
    )

    def limits() -> Steps[tuple[float, float]]:
        found = yield from limits_of_sums(stacks, [[row[0] for row in rows]], confidence, interval)
        ((below, above),) = found
        return bottom + width * below, bottom + width * above

    rounding = 1e-13 * max(float(np.abs(row).max()) for row in rows)
    return MeanEstimate(
        n=n,
        mean=bottom + width * position,
        standard_error=width * float(standard_errors(np.array(variance))),
        impossible=not -rounding <= position <= 1 + rounding,
        confidence=confidence,
        kind=interval,
        start=limits,
    )


def position_rows(parts: Stack) -> NDArray[np.float64]:
    """What a report adds to the mean on the scale [0, 1], shape (1, m)."""
    return np.asarray((np.linspace(0, 1, len(parts.inverse)) @ parts.inverse)[None, :])


def checked_range(low: float, high: float) -> tuple[float, float]:
    """The ends of a number's range, as floats.

    Raises
    ------
    ValueError
        If they are not single finite numbers with low < high and a finite width.
    """
    ends = [real_numbers("low", low), real_numbers("high", high)]
    if any(end.ndim for end in ends):
        raise ValueError(f"low and high must be single numbers; they are {low!r} and {high!r}")
    bottom, top = (float(end) for end in ends)
    if not (bottom < top and math.isfinite(top - bottom)):
        raise ValueError(f"low and high must be finite with low < high; they are {low!r} and {high!r}")
    return bottom, top
