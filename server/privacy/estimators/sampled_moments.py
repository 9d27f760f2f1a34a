"""Means of rows that count differently, together, and what follows from them: sums, quotients and tests.

What a model of several groups leaves unknown is a function of such means, those of each group. Their covariance is by
linearisation over what was drawn, or by replicate weights (`sampled_ratios`), so that rows of one cluster which are in
several groups are in it, too. Nothing is known here of what chance did to a row: a population without end is assumed.

References
----------
Binder, D. A. (1983). On the variances of asymptotically normal estimators from complex surveys. *International
Statistical Review* 51, 279-292.
Fieller, E. C. (1954). Some problems in interval estimation. *JRSS B* 16, 175-185.
Korn, E. L. and Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of positive
counts estimated from survey data. *Survey Methodology* 24, 193-201.
"""

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from server.privacy.estimators.limits import normal_quantile
from server.privacy.estimators.sample_designs import Floats, SampleDesign
from server.privacy.estimators.sampled_ratios import WaldTest, compare_with_zero, estimate_row_ratios

_NO_LIMITS = (-math.inf, math.inf)


@dataclass(frozen=True)
class MomentEstimate:
    """A number with its standard error and interval, by Student's t; infinite where the rows do not tell."""

    value: float
    standard_error: float
    interval: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Moments:
    """Several numbers of a sample.

    Attributes
    ----------
    values : ndarray of float, shape (q,)
    covariance : ndarray of float, shape (q, q)
        Infinite where the rows do not tell.
    degrees_of_freedom : int
    """

    values: Floats
    covariance: Floats
    degrees_of_freedom: int

    @property
    def tells_spread(self) -> bool:
        """Whether the rows tell how much they vary."""
        known = bool(np.isfinite(self.values).all() and np.isfinite(self.covariance).all())
        return known and self.degrees_of_freedom >= 1

    def combine(self, factors: ArrayLike, offset: ArrayLike = 0.0) -> "Moments":
        """Sums of them, `factors` of shape (r, q), each with its number added."""
        rows = np.atleast_2d(np.asarray(factors, dtype=np.float64))
        spread = rows @ self.covariance @ rows.T if self.tells_spread else np.full((len(rows),) * 2, np.inf)
        added = np.asarray(offset, dtype=np.float64)
        return Moments(rows @ self.values + added, spread, self.degrees_of_freedom)

    def measure(self, place: int, confidence: float) -> MomentEstimate:
        """One of them."""
        value, variance = float(self.values[place]), float(self.covariance[place, place])
        if not self.tells_spread or not variance > (1e-12 * (1 + abs(value))) ** 2:
            return MomentEstimate(value, math.inf, _NO_LIMITS)
        error = math.sqrt(variance)
        reach = self._quantile(confidence) * error
        return MomentEstimate(value, error, (value - reach, value + reach))

    def measure_share(self, place: int, confidence: float) -> MomentEstimate:
        """The same of a share of rows: the exact interval of as many evenly drawn rows as vary as much."""
        estimate = self.measure(place, confidence)
        share = estimate.value
        if not (0 < share < 1 and math.isfinite(estimate.standard_error)):
            return estimate
        rows = share * (1 - share) / estimate.standard_error**2
        rows *= (normal_quantile(confidence) / self._quantile(confidence)) ** 2
        yes, tail = rows * share, (1 - confidence) / 2
        low = float(scipy.special.betaincinv(yes, rows - yes + 1, tail))
        high = float(scipy.special.betaincinv(yes + 1, rows - yes, 1 - tail))
        return MomentEstimate(share, estimate.standard_error, (low, high))

    def divide(self, top: int, bottom: int, confidence: float) -> MomentEstimate:
        """One by another: the interval is Fieller's, without ends where the second may be 0."""
        above, below = float(self.values[top]), float(self.values[bottom])
        if below == 0:
            return MomentEstimate(math.nan, math.inf, _NO_LIMITS)
        value = above / below
        if not self.tells_spread:
            return MomentEstimate(value, math.inf, _NO_LIMITS)
        places = [top, bottom]
        own = self.covariance[np.ix_(places, places)]
        slopes = np.array([1.0, -value]) / below
        error = math.sqrt(max(float(slopes @ own @ slopes), 0.0))
        means = np.array([above, below])
        (first, mixed), (_, second) = (
            np.outer(means, means) - self._quantile(confidence) ** 2 * own
        ).tolist()
        if second <= 0:
            return MomentEstimate(value, error, _NO_LIMITS)
        half = math.sqrt(max(0.0, mixed * mixed - second * first))
        return MomentEstimate(value, error, ((mixed - half) / second, (mixed + half) / second))

    def test_zero(self) -> WaldTest:
        """Whether all of them are 0."""
        return compare_with_zero(self.values, self.covariance, self.degrees_of_freedom)

    def find_below(self, place: int) -> float:
        """One-sided p value of "it is 0 or more": small where it is below; 1 where the rows do not tell."""
        variance = float(self.covariance[place, place])
        if not self.tells_spread or variance <= 0:
            return 1.0
        return float(
            scipy.special.stdtr(self.degrees_of_freedom, float(self.values[place]) / math.sqrt(variance))
        )

    def _quantile(self, confidence: float) -> float:
        return float(scipy.special.stdtrit(self.degrees_of_freedom, (1 + confidence) / 2))


def measure_means(
    values: Floats, inside: Floats, sample: SampleDesign, least: Floats | None = None
) -> Moments:
    """The means of columns, each of the rows that are inside (0 or 1), both of shape (n, q).

    `least` are variances of each row's numbers that coins add whatever is true, of the same shape: rows that happen to
    be alike do not make a result certain.
    """
    ratios = estimate_row_ratios(values * inside, inside, sample)
    covariance = ratios.covariance
    if least is not None:
        floor = sample.weights**2 @ (inside * least) / np.maximum(sample.weights @ inside, 1e-300) ** 2
        covariance = covariance + np.diag(np.maximum(floor - np.diag(covariance), 0))
    return Moments(ratios.values, covariance, int(ratios.degrees_of_freedom.min()))
