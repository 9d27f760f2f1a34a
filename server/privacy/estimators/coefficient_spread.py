"""How much the coefficients of a model vary: by its likelihood, or by how the rows were drawn that it was fitted to."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from server.privacy.estimators.climbing import Objective, climb
from server.privacy.estimators.combined_scores import list_efficient_scores
from server.privacy.estimators.latent_likelihood import (
    Floats,
    Height,
    LatentData,
    list_scores,
    turn_to_model,
)
from server.privacy.estimators.limits import normal_quantile
from server.privacy.estimators.regression import LikelihoodRatioTest
from server.privacy.estimators.sampled_rows import RowSample, widen


@dataclass(frozen=True, eq=False)
class CoefficientSpread:
    """`likely` is the covariance that the likelihood gives, `drawn` that of how rows were drawn: the same without it.

    `freedom` are the degrees of freedom of the latter, of each coefficient; None where it is the former. `spread` is
    the covariance of the weighted sum of scores of rows, and `scores` are those by the coefficients.
    """

    likely: Floats
    drawn: Floats
    freedom: Floats | None
    confidence: float
    spread: Callable[[Floats], Floats] | None = None
    scores: Floats | None = None

    def find_quantile(self, place: int) -> float:
        """Of an interval of a coefficient."""
        if self.freedom is None:
            return normal_quantile(self.confidence)
        return float(scipy.special.stdtrit(self.freedom[place], (1 + self.confidence) / 2))

    def error(self, place: int) -> float:
        """The standard error of a coefficient."""
        return math.sqrt(max(float(self.drawn[place, place]), 0.0))

    def inflate(self, place: int) -> float:
        """How many times as far a coefficient varies as its likelihood says."""
        own = float(self.likely[place, place])
        return self.error(place) / math.sqrt(own) if self.freedom is not None and own > 0 else 1.0

    def weigh(self, statistic: float, columns: Sequence[int]) -> LikelihoodRatioTest:
        """A test of some coefficients, of twice what leaving them out loses."""
        width = len(columns)
        if self.freedom is None:
            return LikelihoodRatioTest(statistic, width, float(scipy.special.chdtrc(width, statistic)))
        block = np.ix_(list(columns), list(columns))
        lengths, directions = np.linalg.eigh(self.likely[block])
        root = (directions / np.sqrt(np.maximum(lengths, 1e-300))) @ directions.T
        parts = np.maximum(np.linalg.eigvalsh(root @ self.drawn[block] @ root), 0)
        total = float(parts.sum())
        if total <= 0:
            return LikelihoodRatioTest(0.0, width, 1.0)
        free = total**2 / float(parts @ parts)
        return LikelihoodRatioTest(
            statistic * width / total,
            width,
            float(scipy.special.fdtrc(free, self.freedom[list(columns)].min(), statistic / total)),
        )


def measure_spread(
    data: LatentData,
    add: Callable[[LatentData], Objective],
    top: Height,
    confidence: float,
    sample: RowSample | None,
) -> CoefficientSpread:
    """At the maximum of what `add` makes of the likelihood.

    Raises
    ------
    ValueError
        If a sample has too few clusters or rows.
    """
    likely = np.asarray(np.linalg.pinv(top.information, hermitian=True), dtype=np.float64)
    if sample is None:
        return CoefficientSpread(likely, likely, None, confidence)
    freedom = sample.degrees_of_freedom
    if freedom < 1:
        raise ValueError("clusters, or rows where there are none, must be more than one in some stratum")
    found = np.full(len(likely), float(freedom))
    factors = np.ones(len(likely))
    if data.combined:
        scores = list_efficient_scores(data, data.search.measured)
    else:
        scores = list_scores(data, top.theta) @ turn_to_model(data, top.theta)
    if sample.replicates is None:
        drawn = likely @ sample.spread(scores) @ likely
        for place in range(data.slopes):
            factors[place], own = sample.list_units(scores, place, likely).judge()
            found[place] = min(own, freedom)
    else:
        drawn = sample.fit_again(
            lambda counts: climb(add(replace(data, counts=counts)), top.theta).theta, top.theta
        )
        of_all, freedoms = sample.judge_fits(scores)
        factors[: data.slopes] = of_all[: data.slopes]
        found[: data.slopes] = np.minimum(freedoms, freedom)[: data.slopes]
    drawn = widen(drawn, likely, factors)
    return CoefficientSpread(likely, drawn, found, confidence, sample.spread, scores)
