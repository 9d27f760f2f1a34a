"""Weighted sums of noisy cells whose expectation is 0 at the true ratio, and how far from it chance takes them.

References
----------
Wilson, E. B. (1927). Probable inference, the law of succession, and statistical
inference. *JASA* 22, 209-212.
Owen, A. B. (2001). *Empirical Likelihood*. Chapman & Hall, chapter 2.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from server.privacy._sums import compute_excess, laplace_scales

_EXACT_STEP = 0.5
"""Of the widest cell. Geometric noise is Laplace noise less the fractions of a step, and half a step makes up for
them: for a single cell Pr(|k| > h) = 2 a**(h + 1) / (1 + a) <= a**(h + 1/2)."""
_SAMPLED_STEP = 0.25
"""Of the widest cell. Without it Wilson's interval for 100 reports covers down to 93.3 % where it says 95 %."""


@dataclass(frozen=True)
class Residuals:
    """Cells with the same coefficients and noise added up, with how many they are."""

    counts: NDArray[np.float64]
    numerator: NDArray[np.float64]
    denominator: NDArray[np.float64]
    variances: NDArray[np.float64]
    numbers: NDArray[np.float64]
    people: float
    total: int | None

    @cached_property
    def scales(self) -> NDArray[np.float64]:
        """Of Laplace noise with the variances."""
        return laplace_scales(self.variances)

    def centre(self, residual: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same but for a multiple of the number of people, where that is known: with the least noise."""
        spread = self.variances * self.numbers
        if self.total is None or not spread.any():
            return residual
        return np.asarray(residual - float(spread @ residual) / float(spread.sum()))

    def apply(self, residual: NDArray[np.float64]) -> float:
        """The sum of residuals, exact where it is a multiple of a known number of people."""
        centred = self.centre(residual)
        known = 0.0 if self.total is None else float((residual - centred)[0]) * self.total
        return float(centred @ self.counts) + known

    @cached_property
    def top(self) -> float:
        return self.apply(self.numerator)

    @cached_property
    def bottom(self) -> float:
        return self.apply(self.denominator)

    @property
    def rounding(self) -> float:
        """Of the denominator."""
        return 1e-13 * float(np.abs(self.denominator) @ np.abs(self.counts))

    def error(self, value: float, *, sampled: bool) -> float:
        """Standard deviation of the sum of residuals."""
        residual = self.numerator - value * self.denominator
        chance = sampling_variance(residual, self.counts, self.people) if sampled else 0.0
        noise = float(self.centre(residual) ** 2 @ (self.variances * self.numbers))
        return math.sqrt(chance * self.people / max(self.people - 1, 1) + noise)

    def margin(
        self, residual: NDArray[np.float64], distance: float, confidence: float, *, sampled: bool, noise: str
    ) -> float:
        """How sure it is, beyond the confidence, that the sum of residuals is so far from 0 by more than chance."""
        centred = np.abs(self.centre(residual))
        normal = sampling_variance(residual, self.counts, self.people) if sampled else 0.0
        # Counts are whole: their sums step over the normal and the Laplace quantiles.
        far = abs(distance) - (_SAMPLED_STEP if sampled else _EXACT_STEP) * float(centred.max())
        if far <= 0:
            return -confidence
        if noise == "gaussian":
            normal += float(centred**2 @ (self.variances * self.numbers))
            return compute_excess(far, np.zeros(1), np.zeros(1), normal, confidence)
        return compute_excess(far, centred * self.scales, self.numbers, normal, confidence)


def sampling_variance(residual: NDArray[np.float64], counts: NDArray[np.float64], people: float) -> float:
    """Variance of a sum of residuals of so many people, each drawn at random, whose expectation is 0.

    That of the likeliest distribution of reports for which it is 0 (the score; Owen 2001): chances
    proportional to count / (1 + tilt * residual). Where no such distribution has only reports that
    were seen, the rest is on the unseen one with the residual furthest on the other side. With two
    different residuals the counts do not matter.
    """
    lowest, highest = float(residual.min()), float(residual.max())
    if people <= 0 or lowest >= 0 or highest <= 0:
        return 0.0
    seen = np.maximum(counts, 0.0)
    if residual.size == 2 or not seen.any():
        return -lowest * highest * people
    seen = seen * (people / seen.sum())
    mean = float(seen @ residual)
    if abs(mean) <= 1e-12 * float(seen @ np.abs(residual)):  # 0 but for rounding
        return float(seen @ residual**2)
    end = lowest if mean > 0 else highest

    def expect_at(part: float) -> float:
        """The expectation where the tilt is this part of all that leaves chances positive."""
        return float((seen * residual) @ (1 / (1 - part * residual / end)))

    most = 1 - 1e-12
    if (expect_at(most) > 0) == (mean > 0):
        return abs(end * mean)
    part = float(scipy.optimize.brentq(expect_at, 0.0, most, xtol=1e-14))
    return float((seen * residual**2) @ (1 / (1 - part * residual / end)))
