"""Whether the slopes of an ordered outcome are the same at each of its steps: a score test.

References
----------
Boos, D. D. (1992). On generalized score tests. *The American Statistician* 46, 327-333.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy

from server.privacy.estimators.combined_likelihood import CombinedState
from server.privacy.estimators.combined_scores import list_efficient_scores
from server.privacy.estimators.combined_search import NO_GAIN, CombinedCurvature, Summit
from server.privacy.estimators.latent_likelihood import (
    Floats,
    LatentData,
    evaluate_open,
    list_scores,
)
from server.privacy.estimators.outcome_levels import find_predictors
from server.privacy.estimators.regression import LikelihoodRatioTest
from server.privacy.estimators.regression_data import blocks
from server.privacy.estimators.sampled_ratios import compare_with_zero
from server.privacy.estimators.sampled_rows import RowSample


@dataclass(frozen=True, eq=False)
class _FreeSteps:
    """Where each step has slopes of its own: the gradient, its curvature, and scores of rows, when asked for."""

    gradient: Floats
    information: Floats
    list_scores: Callable[[], Floats]


def compare_slopes(data: LatentData, theta: Floats, sample: RowSample | None) -> LikelihoodRatioTest | None:
    """Of a cumulative model at its maximum; None where there is one step, or too little told."""
    if data.model != "cumulative" or data.levels == 2 or data.columns == 1:
        return None
    made = _combine_steps(data, theta) if data.combined else _write_steps(data, theta)
    gradient, information = made.gradient, made.information
    lengths, directions = np.linalg.eigh(information)
    if lengths[0] <= 1e-6 * lengths[-1]:
        return None
    inverse = (directions / lengths) @ directions.T
    steps, columns = data.levels - 1, data.columns
    apart = np.zeros(((steps - 1) * (columns - 1), len(gradient)))
    row = 0
    for step in range(1, steps):
        for column in range(1, columns):
            apart[row, column], apart[row, step * columns + column] = -1, 1
            row += 1
    moved = apart @ inverse @ gradient
    if sample is None:
        statistic = float(moved @ np.linalg.solve(apart @ inverse @ apart.T, moved))
        return LikelihoodRatioTest(statistic, row, float(scipy.special.chdtrc(row, statistic)))
    varied = inverse @ sample.spread(made.list_scores()) @ inverse
    test = compare_with_zero(moved, apart @ varied @ apart.T, sample.degrees_of_freedom)
    if test.degrees_of_freedom[0] < row or test.degrees_of_freedom[1] < 1:
        return None
    return LikelihoodRatioTest(row * test.statistic, row, test.p_value)


def _write_steps(data: LatentData, theta: Floats) -> _FreeSteps:
    parts = [evaluate_open(data, theta, block, scores=False) for block in blocks(len(data.counts))]
    gradient = np.sum([part.gradient for part in parts], axis=0)
    information = np.sum([part.information for part in parts], axis=0)
    return _FreeSteps(gradient, information, lambda: list_scores(data, theta))


def _combine_steps(data: LatentData, theta: Floats) -> _FreeSteps:
    """The same where the chances of combinations follow the slopes."""
    nothing = np.zeros_like(theta)
    held = np.zeros(len(theta), dtype=np.bool_)
    logits = data.search.climb(lambda _: (0.0, nothing, nothing), theta, held, NO_GAIN).state.logits
    slopes = find_predictors(data.model, theta, data.levels, data.columns).ravel()
    state = CombinedState(replace(data.search.model, model="apart"), slopes, logits)
    curvature = CombinedCurvature(Summit(state, state.value, state.gradient), np.zeros_like(slopes))
    return _FreeSteps(state.gradient, curvature.information, lambda: list_efficient_scores(data, curvature))
