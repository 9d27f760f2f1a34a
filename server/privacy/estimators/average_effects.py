"""Average effects: how many more would say yes in truth if all were on one side of a predictor, not the other."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from server.privacy.estimators.latent_likelihood import Floats, LatentData, chances_of_answers


@dataclass(frozen=True, eq=False)
class EffectSetting:
    """Some columns of what is known, or of the answers' dummies, set to a number for everybody, or moved by it."""

    known: bool
    columns: tuple[int, ...]
    numbers: tuple[float, ...]
    moves: bool = False

    def apply(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """The table with these columns so."""
        made = table.copy()
        for column, number in zip(self.columns, self.numbers, strict=True):
            made[:, column] = table[:, column] + number if self.moves else number
        return made


def average_effect(
    data: LatentData, theta: Floats, covariance: Floats, first: EffectSetting, second: EffectSetting
) -> tuple[float, float]:
    """The mean share under the second setting minus that under the first, per unit moved, and its standard error."""
    (low, low_slope), (high, high_slope) = (_mean_share(data, theta, each) for each in (first, second))
    width = second.numbers[0] - first.numbers[0] if second.moves else 1.0
    slope = (high_slope - low_slope) / width
    return (high - low) / width, math.sqrt(max(float(slope @ covariance @ slope), 0.0))


def _mean_share(data: LatentData, theta: Floats, setting: EffectSetting) -> tuple[float, Floats]:
    """The mean share of yes where everybody is set so, and its gradient. Who answered predictors how stays as it is."""
    known = setting.apply(data.known) if setting.known else data.known
    dummies = data.dummies if setting.known else setting.apply(data.dummies)
    width, slopes = known.shape[1], data.slopes
    eta = (known @ theta[:width])[:, None] + (dummies @ theta[width:slopes])[None]
    yes, prior = expit(eta), chances_of_answers(data, theta)
    shares = (prior * yes).sum(axis=1)
    masses = data.counts / data.counts.sum()
    moved = masses[:, None] * prior * yes * expit(-eta)
    towards = masses[:, None] * prior * (yes - shares[:, None])
    gradient = np.concatenate(
        [moved.sum(axis=1) @ known, moved.sum(axis=0) @ dummies, (towards[:, 1:].T @ data.known).ravel()]
    )
    return float(masses @ shares), gradient
