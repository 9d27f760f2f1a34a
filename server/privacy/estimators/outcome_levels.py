"""How the levels of a true outcome follow from linear predictors: in an order, or each against the first.

There are M linear predictors of J = M + 1 levels. `cumulative`: the log odds of the m-th level or a higher one, all
with the same slopes (proportional odds; McCullagh 1980), and with distances of intercepts that are above 0: exp(gap).
`multinomial`: the log odds of the m-th level against the first, each with its own slopes. Of two levels both are the
logistic model. `apart` is as `cumulative`, with slopes of their own at each step: what the others are tested against.

References
----------
McCullagh, P. (1980). Regression models for ordinal data. *JRSS B* 42, 109-142.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]
OutcomeModel = Literal["cumulative", "multinomial", "apart"]


@dataclass(frozen=True, eq=False)
class LevelSlopes:
    """Derivatives of the chance of the outcome's report by the linear predictors, over that chance.

    Attributes
    ----------
    seen : ndarray, shape (n, K)
        That chance.
    first : tuple of ndarray, each of shape (n, K)
        By each linear predictor.
    second : callable
        Two numbers of linear predictors -> the second derivative over the chance, shape (n, K); None where it is 0.
    """

    seen: Floats
    first: tuple[Floats, ...]
    second: Callable[[int, int], Floats | None]


def count_outcome_parameters(model: OutcomeModel, levels: int, columns: int) -> int:
    """Coefficients, where each linear predictor has so many columns."""
    return columns + levels - 2 if model == "cumulative" else columns * (levels - 1)


def find_predictors(model: OutcomeModel, theta: Floats, levels: int, columns: int) -> Floats:
    """The coefficients of every linear predictor, shape (M, columns)."""
    if model != "cumulative":
        return theta[: columns * (levels - 1)].reshape(levels - 1, columns)
    found = np.tile(theta[:columns], (levels - 1, 1))
    found[1:, 0] -= np.cumsum(np.exp(theta[columns : columns + levels - 2]))
    return found


def find_jacobian(model: OutcomeModel, theta: Floats, levels: int, columns: int) -> Floats:
    """Derivatives of these coefficients, one predictor after the other, by those of the model."""
    if model != "cumulative":
        return np.eye(columns * (levels - 1))
    found = np.zeros((levels - 1, columns, columns + levels - 2))
    found[:, np.arange(columns), np.arange(columns)] = 1
    for gap, size in enumerate(np.exp(theta[columns : columns + levels - 2])):
        found[gap + 1 :, 0, columns + gap] = -size
    return found.reshape((levels - 1) * columns, -1)


def add_curvature(
    model: OutcomeModel, theta: Floats, gradient: Floats, information: Floats, levels: int, columns: int
) -> None:
    """What the exponentials of gaps add to minus the second derivatives; `gradient` is by intercepts, shape (M,)."""
    if model == "cumulative":
        for gap in range(levels - 2):
            place = columns + gap
            information[place, place] += float(np.exp(theta[place])) * float(gradient[gap + 1 :].sum())


def find_chances(model: OutcomeModel, predictors: Floats) -> Floats:
    """Of each level, shape (..., J), of linear predictors of shape (..., M)."""
    if model == "multinomial":
        first = np.zeros((*predictors.shape[:-1], 1))
        return np.asarray(scipy.special.softmax(np.concatenate([first, predictors], axis=-1), axis=-1))
    above = scipy.special.expit(predictors)
    ends = np.ones((*predictors.shape[:-1], 1))
    return np.asarray(np.concatenate([ends, above], axis=-1) - np.concatenate([above, 0 * ends], axis=-1))


def share_sides(predictors: Floats) -> tuple[Floats, Floats]:
    """expit of the predictors and of their opposites, each to its last digits, from one exponential."""
    small = np.exp(-np.abs(predictors))
    large_share = 1 / (1 + small)
    small_share = small * large_share
    up = predictors >= 0
    return np.where(up, large_share, small_share), np.where(up, small_share, large_share)


def slope_of_score(model: OutcomeModel, predictors: Floats, score: Floats) -> Floats:
    """Derivatives of the mean of a score of levels by the linear predictors, shape (..., M)."""
    if model != "multinomial":
        above, below = share_sides(predictors)
        return np.asarray(above * below * np.diff(score))
    chances = find_chances(model, predictors)
    return np.asarray(chances[..., 1:] * (score[1:] - (chances @ score)[..., None]))


def slope_levels(model: OutcomeModel, predictors: Floats, outcome: Floats) -> LevelSlopes:
    """Of linear predictors, shape (n, K, M), and the chances of the outcome's report under each level, shape (n, J)."""
    if model != "multinomial":
        steps = np.diff(outcome, axis=1)[:, None, :]
        above, below = share_sides(predictors)
        if predictors.shape[2] == 1:  # as exact where a "yes" is all but certain
            seen = (outcome[:, :1, None] * below + outcome[:, 1:, None] * above)[:, :, 0]
        else:
            seen = outcome[:, :1] + (above * steps).sum(axis=2)
        slopes = steps * above * below / seen[:, :, None]

        def bend(number: int, other: int) -> Floats | None:
            if number != other:
                return None
            return np.asarray(slopes[:, :, number] * (below - above)[:, :, number])

        return LevelSlopes(seen, tuple(np.moveaxis(slopes, 2, 0)), bend)
    chances = find_chances(model, predictors)
    seen = (chances * outcome[:, None, :]).sum(axis=2)
    after = chances[:, :, 1:] * outcome[:, None, 1:] / seen[:, :, None]
    prior = chances[:, :, 1:]
    moved = after - prior

    def cross(number: int, other: int) -> Floats:
        a, b, p, q = after[:, :, number], after[:, :, other], prior[:, :, number], prior[:, :, other]
        same = (a - p) if number == other else 0.0
        return np.asarray(same - a * b + p * q + moved[:, :, number] * moved[:, :, other])

    return LevelSlopes(seen, tuple(np.moveaxis(moved, 2, 0)), cross)
