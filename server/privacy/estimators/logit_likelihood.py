"""The likelihood of a logistic model seen through a yes/no design, and its maximum.

A person's truth is "yes" with probability pi = 1 / (1 + exp(-eta)), eta = z'b. Their report y
has the probability L = P[1, y] pi + P[0, y] (1 - pi), and with l = ln L

    l'  = (P[1, y] - P[0, y]) pi (1 - pi) / L,        l'' = l' ((1 - pi) - pi - l')

are its derivatives in eta. Unlike that of an ordinary logistic regression, l is not concave:
it levels off where pi nears 0 or 1, because the coins keep L away from 0. So Newton's steps
are taken along the eigenvectors of the information, upwards whatever its sign, and shortened
until the likelihood rises.
"""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from server.privacy.estimators.regression_data import Data, blocks

FLAT = 1e-13
"""Where the information about a direction, per report, falls to this, the likelihood is rising without end."""

_START_MARGIN = 0.02
_LONGEST_STEP = 8.0  # in eta, where eta itself is not larger
_SETTLED = 1e-9  # in eta
_NO_GAIN = 1e-12  # in the log-likelihood, as a fraction: rounding decides which of two points is higher
_MOST_STEPS = 200


@dataclass(frozen=True)
class LikelihoodPoint:
    """The log-likelihood at theta with its derivatives; `largest` is the largest magnitude of eta."""

    theta: NDArray[np.float64]
    largest: float
    log_likelihood: float
    gradient: NDArray[np.float64]
    information: NDArray[np.float64]


@dataclass(frozen=True)
class Maximum:
    """Where the search ended; `flat` is the direction in theta in which it found no end, if any."""

    point: LikelihoodPoint
    iterations: int
    flat: NDArray[np.float64] | None


def start(data: Data, share: float) -> NDArray[np.float64]:
    """Theta at which everybody's chance of "yes" is `share`, but within limits: beyond them nothing slopes."""
    theta = np.zeros(data.to_columns.shape[0])
    theta[0] = data.to_columns[0, 0] * float(
        scipy.special.logit(min(max(share, _START_MARGIN), 1 - _START_MARGIN))
    )
    return theta


def evaluate_likelihood(data: Data, theta: NDArray[np.float64]) -> LikelihoodPoint:
    """The log-likelihood and its first two derivatives at theta."""
    k = theta.size
    largest, log_likelihood = 0.0, 0.0
    gradient, information = np.zeros(k), np.zeros((k, k))
    for block in blocks(data.weights.size):
        columns, weights = data.columns[:, block], data.weights[block]
        eta = theta @ columns
        _, chance, slopes, curvatures = _rows(eta, data.if_yes[block], data.if_no[block])
        largest = max(largest, float(np.abs(eta).max()))
        log_likelihood += float(weights @ np.log(chance))
        gradient += columns @ (weights * slopes)
        information -= (columns * (weights * curvatures)) @ columns.T
    return LikelihoodPoint(theta, largest, log_likelihood, gradient, information)


@dataclass(frozen=True)
class Shares:
    """The mean predicted share of "yes", its gradient in theta, and its variance were theta known."""

    mean: float
    gradient: NDArray[np.float64]
    variance: float


def shares(data: Data, theta: NDArray[np.float64]) -> Shares:
    """What the model predicts for the respondents and, for the population, from them as a sample."""
    pi, gradient = np.empty(data.weights.size), np.zeros(theta.size)
    for block in blocks(pi.size):
        eta = theta @ data.columns[:, block]
        pi[block] = scipy.special.expit(eta)
        gradient += data.columns[:, block] @ (data.weights[block] * pi[block] * scipy.special.expit(-eta))
    masses = data.weights / data.total
    mean = float(np.sum(masses * pi))
    return Shares(mean, gradient / data.total, float(np.sum((masses * (pi - mean)) ** 2)))


def squared_scores(data: Data, theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum over rows of the products of the gradient of their weighted log-likelihood, shape (k, k)."""
    total = np.zeros((theta.size, theta.size))
    for block in blocks(data.weights.size):
        columns = data.columns[:, block]
        slopes = _rows(theta @ columns, data.if_yes[block], data.if_no[block])[2]
        scores = columns * (data.weights[block] * slopes)
        total += scores @ scores.T
    return total


def _rows(
    eta: NDArray[np.float64], if_yes: NDArray[np.float64], if_no: NDArray[np.float64]
) -> tuple[NDArray[np.float64], ...]:
    """pi, L, l' and l'' of every row."""
    pi, other = scipy.special.expit(eta), scipy.special.expit(-eta)
    chance = if_yes * pi + if_no * other
    slopes = (if_yes - if_no) * pi * other / chance
    return pi, chance, slopes, slopes * (other - pi - slopes)


def maximise(data: Data, theta: NDArray[np.float64], basis: NDArray[np.float64] | None = None) -> Maximum:
    """Climb from theta to a maximum of the log-likelihood.

    Parameters
    ----------
    data : Data
    theta : ndarray, shape (k,)
        The start.
    basis : ndarray, shape (k, j), optional
        Orthonormal; only theta + basis @ anything is searched.

    Returns
    -------
    Maximum
        With `flat` set if the likelihood rises without end.
    """
    basis = np.eye(theta.size) if basis is None else basis
    point = evaluate_likelihood(data, theta)
    enough = FLAT * data.total
    for iteration in range(1, _MOST_STEPS + 1):
        gradient = basis.T @ point.gradient
        values, vectors = np.linalg.eigh(basis.T @ point.information @ basis)
        along = vectors.T @ gradient
        # Upwards along every eigenvector, also where the likelihood curves upwards.
        strides = along / np.maximum(np.abs(values), enough)
        gain = float(along @ strides)
        negligible = gain <= _NO_GAIN * (data.total - point.log_likelihood)
        if negligible and abs(values[0]) <= enough:
            return Maximum(point, iteration, basis @ vectors[:, 0])
        if negligible and values[0] < 0:
            strides[0] = 1.0  # stationary, but no maximum: leave along the direction that curves upwards
        step = basis @ (vectors @ strides)
        change = max(
            float(np.abs(step @ data.columns[:, block]).max()) for block in blocks(data.weights.size)
        )
        if change <= _SETTLED:
            return Maximum(point, iteration, None)
        largest = max(_LONGEST_STEP, point.largest)
        length = min(1.0, largest / change)
        following = evaluate_likelihood(data, point.theta + length * step)
        while not negligible and following.log_likelihood < point.log_likelihood + 1e-4 * length * gain:
            length /= 2
            following = evaluate_likelihood(data, point.theta + length * step)
        point = following
    return Maximum(point, _MOST_STEPS, basis @ vectors[:, 0])
