"""To the top of a likelihood: with a ridge or a weak prior, by steps upwards whatever the curvature.

References
----------
Greenland, S. and Mansournia, M. A. (2015). Penalization, bias reduction, and default priors in logistic and related
categorical and survival regressions. *Statistics in Medicine* 34, 3133-3143.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from server.privacy.estimators.latent_likelihood import Floats, Height, LatentData, evaluate_latent

Objective = Callable[[Floats], Height]

RIDGE = 1e-6
"""So slight a pull towards 0 that no digit that is shown changes; where the likelihood rises without end, it ends."""
_LONGEST_STEP = 4.0
_MOST_STEPS = 100
_NO_GAIN = 1e-14


def add_ridge(data: LatentData) -> Objective:
    """The likelihood, all but for rounding."""

    def evaluate(theta: Floats) -> Height:
        found = evaluate_latent(data, theta)
        return Height(
            theta,
            found.value - RIDGE / 2 * float(theta @ theta),
            found.gradient - RIDGE * theta,
            found.information + RIDGE * np.eye(theta.size),
        )

    return evaluate


def add_prior(data: LatentData) -> Objective:
    """The likelihood and a weak prior, log-F(1, 1), on each coefficient: as much as a person of known answer tells.

    A coefficient is, with 95 % of it, between ln(1/648) and ln(648). So a maximum exists whatever the reports.
    """

    def evaluate(theta: Floats) -> Height:
        found, yes = evaluate_latent(data, theta), expit(theta)
        return Height(
            theta,
            found.value + float(np.sum(theta / 2 - np.logaddexp(0, theta))),
            found.gradient + 0.5 - yes,
            found.information + np.diag(yes * (1 - yes)),
        )

    return evaluate


def climb(objective: Objective, start: Floats, free: NDArray[np.bool_] | None = None) -> Height:
    """A maximum, from `start`, over the coefficients that are `free` (all): steps upwards, whatever the curvature."""
    moving = np.ones(start.size, dtype=np.bool_) if free is None else free
    here = objective(start)
    for _ in range(_MOST_STEPS):
        values, vectors = np.linalg.eigh(here.information[np.ix_(moving, moving)])
        along = vectors.T @ here.gradient[moving]
        strides = along / np.maximum(np.abs(values), 1e-8)
        gain = float(along @ strides)
        if gain <= _NO_GAIN * (1 + abs(here.value)):
            return here
        step = np.zeros(start.size)
        step[moving] = vectors @ strides
        length = min(1.0, _LONGEST_STEP / float(np.abs(step).max()))
        following = objective(here.theta + length * step)
        while following.value < here.value + 1e-4 * length * gain and length > 1e-9:
            length /= 2
            following = objective(here.theta + length * step)
        if following.value <= here.value:
            return here
        here = following
    return here
