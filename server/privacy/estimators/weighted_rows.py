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
import scipy
from numpy.typing import NDArray

from server.privacy._checks import probability
from server.privacy.designs import Design
from server.privacy.estimators.coefficients import Coefficients, share_coefficients
from server.privacy.estimators.sample_designs import SampleDesign
from server.privacy.estimators.sampled_ratios import GuessedPart, RatioEstimates, estimate_ratios


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
        Clusters with rows that were asked, or such rows where there are no clusters, less one for each of their strata
        and one for each group of each margin but its first; of replicate weights, those that these have.
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

    @property
    def effective_n(self) -> float:
        """Rows drawn evenly and one by one that would say as much."""
        return self.n / self.design_effect


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
        If a stratum has more units in the sample than it is said to have.
    """
    probability("confidence", confidence, open_interval=True)
    return pick_estimate(estimate_ratios([_guess(part) for part in parts], sample), 0, confidence)


def pick_estimate(estimates: RatioEstimates, place: int, confidence: float) -> WeightedEstimate:
    """One of several ratios."""
    value, n = float(estimates.values[place]), int(estimates.rows[place])
    variance, freedom = float(estimates.covariance[place, place]), int(estimates.degrees_of_freedom[place])
    return _state(value, variance, freedom, float(estimates.evenly[place]), n, confidence)


def pick_difference(
    estimates: RatioEstimates, first: int, second: int, confidence: float
) -> WeightedEstimate:
    """The second of several ratios less the first; its design effect is as of two groups without a person in both."""
    covariance, places = estimates.covariance, [first, second]
    with np.errstate(invalid="ignore"):  # where the rows do not tell how much they vary, it is none
        variance = float(np.diag(covariance)[places].sum() - 2 * covariance[first, second])
    return _state(
        float(estimates.values[second] - estimates.values[first]),
        variance,
        int(estimates.degrees_of_freedom[places].min()),
        float(estimates.evenly[places].sum()),
        int(estimates.rows[places].sum()),
        confidence,
    )


@dataclass(frozen=True)
class WeightedOddsRatio:
    """The odds of one share over those of another.

    Attributes
    ----------
    value : float
    log_error : float
        Standard error of its logarithm, by the delta method.
    interval : tuple of float
        Of the logarithm by Student's t with `degrees_of_freedom`, as a ratio.
    degrees_of_freedom : int
    """

    value: float
    log_error: float
    interval: tuple[float, float]
    degrees_of_freedom: int


def pick_odds_ratio(
    ratios: RatioEstimates, first: int, second: int, confidence: float
) -> WeightedOddsRatio | None:
    """The odds of the second of several shares over those of the first.

    None where a share is not between 0 and 1, or the rows do not tell how much they vary.
    """
    places = [first, second]
    shares, covariance = ratios.values[places], ratios.covariance[np.ix_(places, places)]
    freedom = int(ratios.degrees_of_freedom[places].min())
    if not ((shares > 0) & (shares < 1)).all() or not np.isfinite(covariance).all() or freedom < 1:
        return None
    slope = np.array([-1.0, 1.0]) / (shares * (1 - shares))
    low, high = np.log(shares / (1 - shares)).tolist()
    error = math.sqrt(max(float(slope @ covariance @ slope), 0.0))
    reach = float(scipy.special.stdtrit(freedom, (1 + confidence) / 2)) * error
    with np.errstate(over="ignore"):
        value, *ends = np.exp([high - low, high - low - reach, high - low + reach]).tolist()
    return WeightedOddsRatio(value, error, (ends[0], ends[1]), freedom)


def _state(
    value: float, variance: float, freedom: int, evenly: float, n: int, confidence: float
) -> WeightedEstimate:
    if math.isnan(value):
        return WeightedEstimate(value, math.nan, (math.nan, math.nan), freedom, math.nan, n)
    if freedom < 1 or not (1e-12 * (1 + abs(value))) ** 2 < variance < math.inf:
        # The rows do not tell how much they vary.
        return WeightedEstimate(value, math.inf, (-math.inf, math.inf), 0, math.nan, n)
    error = math.sqrt(variance)
    reach = float(scipy.special.stdtrit(freedom, (1 + confidence) / 2)) * error
    effect = variance / evenly if evenly > 0 else math.nan
    return WeightedEstimate(value, error, (value - reach, value + reach), freedom, effect, n)


def _guess(part: WeightedPart) -> GuessedPart:
    return GuessedPart(
        part.rows,
        part.reports,
        part.design.matrix,
        share_coefficients([part.design]).numerators,
        part.coefficients.numerators[:1],
        part.coefficients.denominator[None],
    )
