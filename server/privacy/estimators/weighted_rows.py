"""Shares and means from rows that count differently: sampling weights, calibration to margins, clusters.

A report under a design becomes an unbiased guess of what is asked of its row, so that what the rows of a survey
without coins would be, their guesses are here. Their weighted mean is estimated, and its variance by linearisation:
from how much each cluster, or row, pulls it.

References
----------
Särndal, C.-E., Swensson, B. and Wretman, J. (1992). *Model Assisted Survey Sampling*. Springer. Sections 5.7, 6.6.
Deville, J.-C. and Särndal, C.-E. (1992). Calibration estimators in survey sampling. *JASA* 87, 376-382.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from server.privacy._checks import probability, whole_number
from server.privacy.designs import Design
from server.privacy.estimators.coefficients import Coefficients, share_coefficients

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WeightedPart:
    """Rows that reported under one design.

    Attributes
    ----------
    rows : ndarray of int, shape (p,)
        Which rows of all.
    reports : ndarray of int, shape (p,)
        What they reported.
    design : Design
    coefficients : Coefficients
        Of what is estimated, under that design: one numerator, and the denominator.
    """

    rows: NDArray[np.int64]
    reports: NDArray[np.integer]
    design: Design
    coefficients: Coefficients


@dataclass(frozen=True)
class WeightedEstimate:
    """A share or a mean.

    Attributes
    ----------
    value : float
        NaN where nobody is estimated to be among those whom a mean is of.
    standard_error : float
        Infinite where the rows do not tell: of one cluster, fewer than the margins fit, or alike under a design that
        has no coin for their answer.
    interval : tuple of float
        By Student's t with `degrees_of_freedom`; it may leave the possible range, as the value may.
    degrees_of_freedom : int
        Clusters with rows that were asked, or such rows where there are no clusters, less one and less one for each
        group of each margin but its first.
    design_effect : float
        The variance, over that of as many rows of the same guesses drawn evenly and one by one.
    n : int
        Rows.
    """

    value: float
    standard_error: float
    interval: tuple[float, float]
    degrees_of_freedom: int
    design_effect: float
    n: int


@dataclass(frozen=True, eq=False)
class SampleDesign:
    """How the rows of a sample were drawn, and what they were calibrated to.

    Attributes
    ----------
    weights : ndarray of float, shape (n,)
        Above 0: after calibration, if there was any.
    margins : sequence of ndarray of int, each of shape (n,)
        The groups of every margin that `weights` were raked to.
    clusters : ndarray of int, shape (n,), or None
        Which rows were drawn together.
    population : int or None
        People whom the rows were drawn from without replacement, each with the same chance or nearly so: a sample
        that is a large part of them says more. Not beside clusters or margins, nor where weights differ.
    """

    weights: Floats
    margins: Sequence[NDArray[np.int64]] = ()
    clusters: NDArray[np.int64] | None = None
    population: int | None = None


def estimate_from_rows(
    parts: Sequence[WeightedPart], sample: SampleDesign, confidence: float = 0.95
) -> WeightedEstimate:
    """A share or a mean of the population that weighted rows stand for.

    Parameters
    ----------
    parts : sequence of WeightedPart
        The rows that were asked, each in one part. The others of the sample are not of those whom the estimate is of.
    sample : SampleDesign
    confidence : float
        Of the interval.

    Raises
    ------
    ValueError
        If a population is smaller than the sample, or clusters or margins stand beside one.

    Notes
    -----
    The value is the weighted mean of guesses over the weighted mean of the denominators'. Each row's pull is what it
    would still move the value by, after what its margins tell of it was taken out (a regression on them, as calibrated
    weights make up for those). The variance is never below what the coins add whatever the answers are. Strata of the
    sample are left aside, which on average makes intervals wider. Of a population of which the part f was asked,
    drawing varies by 1 - f of that; the coins of its rows, as ever.
    """
    probability("confidence", confidence, open_interval=True)
    weights = sample.weights
    top, bottom, asked = (np.zeros(len(weights)) for _ in range(3))
    for part in parts:
        top[part.rows] = part.coefficients.numerators[0][part.reports]
        bottom[part.rows] = part.coefficients.denominator[part.reports]
        asked[part.rows] = 1
    n = sum(len(part.rows) for part in parts)
    people = float(weights @ bottom)
    if sample.population is not None:
        if sample.clusters is not None or sample.margins:
            raise ValueError("population must not be given together with clusters or margins")
        whole_number("population", sample.population, len(weights))
    # What each margin tells was fitted: its groups move nothing any more, but for one of each.
    fitted = 1 + sum(int(groups.max()) for groups in sample.margins)
    freedom = int((_add_up(asked, sample.clusters) > 0).sum()) - fitted
    if people <= 0:
        return WeightedEstimate(math.nan, math.nan, (math.nan, math.nan), max(freedom, 0), math.nan, n)
    value = float(weights @ top) / people
    if freedom < 1:
        return _make_unknown(value, n)
    rest = top - value * bottom
    pulls = weights * _take_out_margins(rest, weights, sample.margins) / people
    # Of rows that were not asked the margins still tell something; without margins they move nothing.
    counted = _add_up(np.ones(len(weights)) if sample.margins else asked, sample.clusters) > 0
    sums = _add_up(pulls, sample.clusters)[counted]
    variance = len(sums) / (len(sums) - fitted) * float(((sums - sums.mean()) ** 2).sum())
    if sample.population is not None:
        drawn = n / sample.population
        coins = min(max(_vary_by_coins(parts, value, weights) / people**2, 0.0), variance)
        variance = (1 - drawn) * variance + drawn * coins
    variance = max(variance, _vary_at_least(parts, value, weights) / people**2)
    if variance <= (1e-12 * (1 + abs(value))) ** 2:
        return _make_unknown(value, n)
    evenly = float(weights @ rest**2) * float(weights @ asked) / people**2 / n
    error = math.sqrt(variance)
    reach = float(stdtrit(freedom, (1 + confidence) / 2)) * error
    effect = variance / evenly if evenly > 0 else math.nan
    return WeightedEstimate(value, error, (value - reach, value + reach), freedom, effect, n)


def _make_unknown(value: float, n: int) -> WeightedEstimate:
    """Of rows that do not tell how much they vary."""
    return WeightedEstimate(value, math.inf, (-math.inf, math.inf), 0, math.nan, n)


def _take_out_margins(rest: Floats, weights: Floats, margins: Sequence[NDArray[np.int64]]) -> Floats:
    """What is left of each row's number once its groups were given their weighted means, all margins together."""
    if not margins:
        return rest
    sizes = [int(groups.max()) + 1 for groups in margins]
    blocks = [
        [
            np.bincount(one * width + other, weights, size * width).reshape(size, width)
            for other, width in zip(margins, sizes, strict=True)
        ]
        for one, size in zip(margins, sizes, strict=True)
    ]
    told = np.concatenate(
        [np.bincount(groups, weights * rest, size) for groups, size in zip(margins, sizes, strict=True)]
    )
    # Groups of each margin add up to the same: of all solutions it does not matter which.
    slopes = np.linalg.lstsq(np.block(blocks), told, rcond=None)[0]
    left, start = rest.copy(), 0
    for groups, size in zip(margins, sizes, strict=True):
        left -= slopes[start : start + size][groups]
        start += size
    return left


def _add_up(numbers: Floats, clusters: NDArray[np.int64] | None) -> Floats:
    """Those of each cluster; each by itself, where there are none."""
    return numbers if clusters is None else np.bincount(clusters, numbers).astype(np.float64)


def _vary_by_coins(parts: Sequence[WeightedPart], value: float, weights: Floats) -> float:
    """What the coins alone add to the variance of the weighted sum: of each row, an unbiased guess of its part."""
    total = 0.0
    for part in parts:
        own = _vary_by_truth(part, value) @ share_coefficients([part.design]).numerators
        total += float(weights[part.rows] ** 2 @ own[part.reports])
    return total


def _vary_at_least(parts: Sequence[WeightedPart], value: float, weights: Floats) -> float:
    """What the coins add, whatever the true answers are: rows that happen to be alike do not make a result certain."""
    return sum(
        float((weights[part.rows] ** 2).sum()) * float(_vary_by_truth(part, value).min()) for part in parts
    )


def _vary_by_truth(part: WeightedPart, value: float) -> Floats:
    """The variance of a row's guess under each truth."""
    guesses = part.coefficients.numerators[0] - value * part.coefficients.denominator
    matrix = part.design.matrix
    return np.asarray(np.maximum(matrix @ guesses**2 - (matrix @ guesses) ** 2, 0))
