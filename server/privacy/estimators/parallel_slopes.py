"""Whether the slopes of an ordered outcome are the same at each of its steps: a score test.

References
----------
Boos, D. D. (1992). On generalized score tests. *The American Statistician* 46, 327-333.
"""

import numpy as np
from scipy.special import chdtrc

from server.privacy.estimators.latent_likelihood import (
    Floats,
    LatentData,
    evaluate_open,
    list_scores,
)
from server.privacy.estimators.regression import LikelihoodRatioTest
from server.privacy.estimators.regression_data import blocks
from server.privacy.estimators.sampled_ratios import compare_with_zero
from server.privacy.estimators.sampled_rows import RowSample


def compare_slopes(data: LatentData, theta: Floats, sample: RowSample | None) -> LikelihoodRatioTest | None:
    """Of a cumulative model at its maximum; None where there is one step, or many combinations, or too little told."""
    if data.model != "cumulative" or data.levels == 2 or data.columns == 1 or data.combined:
        return None
    parts = [evaluate_open(data, theta, block, scores=False) for block in blocks(len(data.counts))]
    gradient = np.sum([part.gradient for part in parts], axis=0)
    information = np.sum([part.information for part in parts], axis=0)
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
        return LikelihoodRatioTest(statistic, row, float(chdtrc(row, statistic)))
    varied = inverse @ sample.spread(list_scores(data, theta)) @ inverse
    made = compare_with_zero(moved, apart @ varied @ apart.T, sample.degrees_of_freedom)
    if made.degrees_of_freedom[0] < row or made.degrees_of_freedom[1] < 1:
        return None
    return LikelihoodRatioTest(row * made.statistic, row, made.p_value)
