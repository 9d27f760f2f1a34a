"""Average effects: how many more would say yes in truth if all were on one side of a predictor, not the other."""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators.coefficient_spread import CoefficientSpread
from server.privacy.estimators.combined_scores import list_answer_scores
from server.privacy.estimators.latent_likelihood import (
    Floats,
    LatentData,
    chances_of_answers,
    find_log_odds,
    turn_to_model,
)
from server.privacy.estimators.outcome_levels import find_chances, find_jacobian, slope_of_score


@dataclass(frozen=True, eq=False)
class EffectSetting:
    """Some columns of what is known, or of the answers' dummies, set to a number for everybody, or moved by it."""

    known: bool
    columns: tuple[int, ...]
    numbers: tuple[float, ...]
    moves: bool = False

    def apply(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """The table with these columns so."""
        made = table.copy(order="K")
        for column, number in zip(self.columns, self.numbers, strict=True):
            made[:, column] = table[:, column] + number if self.moves else number
        return made


def average_effect(
    data: LatentData,
    theta: Floats,
    spread: CoefficientSpread,
    first: EffectSetting,
    second: EffectSetting,
    score: Floats,
) -> tuple[float, float]:
    """The mean score under the second setting minus that under the first, per unit moved, and its standard error."""
    if data.combined:
        return _compare_combined(data, theta, spread, first, second, score)
    (low, low_slope), (high, high_slope) = (_mean_score(data, theta, each, score) for each in (first, second))
    width = second.numbers[0] - first.numbers[0] if second.moves else 1.0
    slope = (high_slope - low_slope) / width
    return (high - low) / width, math.sqrt(max(float(slope @ spread.drawn @ slope), 0.0))


def _mean_score(
    data: LatentData, theta: Floats, setting: EffectSetting, score: Floats
) -> tuple[float, Floats]:
    """The mean of the outcome's score, one of each level, where everybody is set so, and its gradient.

    Who answered predictors how stays as it is.
    """
    known = setting.apply(data.known) if setting.known else data.known
    dummies = data.dummies if setting.known else setting.apply(data.dummies)
    # The chances of answers are those of people as they are; only the outcome's predictors are set.
    eta, prior = (
        find_log_odds(replace(data, known=known, dummies=dummies), theta),
        chances_of_answers(data, theta),
    )
    means = find_chances(data.model, eta) @ score
    rows = (prior * means).sum(axis=1)
    masses = data.counts / data.counts.sum()
    moved = (masses[:, None] * prior)[:, :, None] * slope_of_score(data.model, eta, score)
    towards = masses[:, None] * prior * (means - rows[:, None])
    own = np.concatenate([moved.sum(axis=1).T @ known, moved.sum(axis=0).T @ dummies], axis=1)
    gradient = np.concatenate([own.ravel(), (towards[:, 1:].T @ data.known).ravel()])
    return float(masses @ rows), turn_to_model(data, theta).T @ gradient


def _compare_combined(
    data: LatentData,
    theta: Floats,
    spread: CoefficientSpread,
    first: EffectSetting,
    second: EffectSetting,
    score: Floats,
) -> tuple[float, float]:
    """The same where chances of combinations follow the slopes: what varies of them beside is added."""
    curvature = data.search.measured
    (low, low_pull, low_answers), (high, high_pull, high_answers) = (
        _mean_combined(data, theta, each, score) for each in (first, second)
    )
    width = second.numbers[0] - first.numbers[0] if second.moves else 1.0
    answers = (high_answers - low_answers) / width
    step, followed = curvature.follow(answers)
    slope = (high_pull - low_pull) / width + followed
    by_slopes = float(slope @ spread.drawn @ slope)
    if spread.spread is None or spread.scores is None:
        return (high - low) / width, math.sqrt(max(by_slopes + float((answers * step).sum()), 0.0))
    # What each row moves the effect by; as much is added as few rows or clusters add to what the slopes alone do.
    own = spread.scores @ (spread.likely @ slope)
    varied = spread.spread((own + list_answer_scores(data, curvature, step))[:, None])[0, 0]
    plain = spread.spread(own[:, None])[0, 0]
    return (high - low) / width, math.sqrt(max(float(varied) + by_slopes - float(plain), 0.0))


def _mean_combined(
    data: LatentData, theta: Floats, setting: EffectSetting, score: Floats
) -> tuple[float, Floats, Floats]:
    """The mean score, and its gradients by slopes and by the logits of combinations."""
    model, chances = data.search.model, data.search.measured.state.chances
    tally = model.tally
    known = setting.apply(tally.known) if setting.known else tally.known
    dummies = data.dummies if setting.known else setting.apply(data.dummies)
    eta = find_log_odds(replace(data, known=known, dummies=dummies), theta)
    means = find_chances(data.model, eta) @ score
    joint = (tally.masses / tally.masses.sum())[:, None] * chances
    moved = joint[:, :, None] * slope_of_score(data.model, eta, score)
    own = np.concatenate([moved.sum(axis=1).T @ known, moved.sum(axis=0).T @ dummies], axis=1)
    towards = joint * (means - (chances * means).sum(axis=1, keepdims=True))
    jacobian = find_jacobian(data.model, theta, data.levels, data.columns)
    return float((joint * means).sum()), jacobian.T @ own.ravel(), model.gather(towards.T @ tally.known)
