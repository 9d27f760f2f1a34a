"""What each row adds to a gradient where the chances of combinations of answers follow the slopes.

Their efficient scores: of a row's score by the slopes, what its score by those chances does not tell. Times the inverse
of the information of the slopes alone they are what each row moves the slopes by, as with all coefficients together.

References
----------
Bickel, P. J., Klaassen, C. A. J., Ritov, Y. and Wellner, J. A. (1993). *Efficient and Adaptive Estimation for
Semiparametric Models*. Johns Hopkins University Press. Chapter 2.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators.combined_search import CombinedCurvature
from server.privacy.estimators.combined_tally import multiply_chances, number_rows
from server.privacy.estimators.latent_likelihood import LatentData
from server.privacy.estimators.outcome_levels import find_jacobian, find_predictors, slope_levels

Floats = NDArray[np.float64]
_TOGETHER = 1 << 20
"""Rows times combinations that are written out at a time."""


def list_efficient_scores(data: LatentData, curvature: CombinedCurvature) -> Floats:
    """Of each row counted once, shape (n, slopes)."""
    follow = curvature.state.model.spread(np.moveaxis(curvature.follow_units, 0, 1))
    found = [slopes - _take(apart, known, follow) for slopes, apart, known in _look_at_rows(data, curvature)]
    return np.concatenate(found)


def list_answer_scores(data: LatentData, curvature: CombinedCurvature, towards: Floats) -> Floats:
    """Of each row its score by the logits of combinations, along a direction of shape (r, 1 + p): shape (n,)."""
    moved = curvature.state.model.spread(towards)
    found = [_take(apart, known, moved[:, None])[:, 0] for _, apart, known in _look_at_rows(data, curvature)]
    return np.concatenate(found)


def _take(apart: Floats, known: Floats, towards: Floats) -> Floats:
    """Scores by logits along directions, shape (K, d, 1 + p): shape (n, d)."""
    size, count, width = towards.shape
    moved = (apart @ towards.reshape(size, -1)).reshape(len(apart), count, width)
    return np.asarray((moved * known[:, None]).sum(axis=2))


def _look_at_rows(data: LatentData, curvature: CombinedCurvature) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Of blocks of rows: scores by slopes; how much likelier each combination is by the reports; known values."""
    state, parts = curvature.state, data.parts or (data.others,)
    model, width = state.model, data.known.shape[1]
    jacobian = find_jacobian(model.model, state.slopes, model.levels, model.columns)
    slopes = find_predictors(model.model, state.slopes, model.levels, model.columns)
    _, place = number_rows([data.known], len(data.counts))
    size = max(_TOGETHER // len(data.dummies), 1)
    for first in range(0, len(data.counts), size):
        model.on_step()
        rows = np.arange(first, min(first + size, len(data.counts)))
        known, prior = data.known[rows], state.chances[place[rows]]
        eta = (known @ slopes[:, :width].T)[:, None] + (data.dummies @ slopes[:, width:].T)[None]
        levels = slope_levels(model.model, eta, data.outcome[rows])
        after = prior * multiply_chances(parts, rows) * levels.seen
        after /= after.sum(axis=1, keepdims=True)
        moved = [after * each for each in levels.first]
        listed = [
            each for own in moved for each in (known * own.sum(axis=1, keepdims=True), own @ data.dummies)
        ]
        yield np.concatenate(listed, axis=1) @ jacobian, after - prior, known
