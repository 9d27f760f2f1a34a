"""The likelihood of a logistic model whose outcome, and some of whose predictors, are seen through coins.

A person's truth is "yes" with the log odds eta = (1, x)'b + d(z)'c, where x is known and z, the true answers to
other questions, is not. Given x, the answers z have the chances of a multinomial logit, with an intercept and
slopes on x for each combination but the first: without x, or where x tells one set of groups, any chances at all. With
P[y] the chances of the outcome's report under either truth and Q[z] those of the others' reports, a row has

    L = sum over z of Pr(z | x) Q[z] (P[1] expit(eta) + P[0] expit(-eta)),

a mixture, whose derivatives are those of its parts, weighted by how likely each part is now that the reports are known.
Without z it is the likelihood of `logistic_regression`.

References
----------
van den Hout, A. and van der Heijden, P. (2002). Randomized response, statistical disclosure control and
misclassification: a review. *International Statistical Review* 70, 269-288.
Greenland, S. and Mansournia, M. A. (2015). Penalization, bias reduction, and default priors in logistic and related
categorical and survival regressions. *Statistics in Medicine* 34, 3133-3143.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from server.privacy.estimators.regression_data import blocks

Floats = NDArray[np.float64]
Objective = Callable[[Floats], "Height"]

RIDGE = 1e-6
"""So slight a pull towards 0 that no digit that is shown changes; where the likelihood rises without end, it ends."""
_LONGEST_STEP = 4.0
_MOST_STEPS = 100
_NO_GAIN = 1e-14


def do_nothing() -> None:
    """Nobody waits for the work."""


@dataclass(frozen=True, eq=False)
class LatentData:
    """Rows that are alike together.

    Attributes
    ----------
    counts : ndarray, shape (n,)
        How many people, or how much weight, each row stands for.
    known : ndarray, shape (n, 1 + p)
        Ones, and the known predictors.
    outcome : ndarray, shape (n, 2)
        The chance of the outcome's report under a truth of no and of yes.
    others : ndarray, shape (n, K)
        The chance of the other reports under each combination of the answers z; ones, K = 1, without any.
    dummies : ndarray, shape (K, q)
        What each combination adds to the log odds: 0 or 1 for each answer but the first of each question.
    on_step : callable
        Called before the likelihood of each block of rows is computed; what it raises ends the work.
    """

    counts: Floats
    known: Floats
    outcome: Floats
    others: Floats
    dummies: Floats
    on_step: Callable[[], None] = do_nothing

    @property
    def slopes(self) -> int:
        """Number of coefficients of the outcome, the intercept included; those of the answers z stand behind them."""
        return int(self.known.shape[1] + self.dummies.shape[1])

    @property
    def parameters(self) -> int:
        """Number of all coefficients."""
        return int(self.slopes + (len(self.dummies) - 1) * self.known.shape[1])


@dataclass(frozen=True, eq=False)
class Height:
    """A value to be maximised at theta, its gradient, and minus its second derivatives."""

    theta: Floats
    value: float
    gradient: Floats
    information: Floats


def chances_of_answers(data: LatentData, theta: Floats) -> Floats:
    """Pr(z | x) of each row, shape (n, K)."""
    width = data.known.shape[1]
    if len(data.dummies) == 1:
        return np.ones((len(data.counts), 1))
    logits = np.zeros((len(data.counts), len(data.dummies)))
    logits[:, 1:] = data.known @ theta[data.slopes :].reshape(-1, width).T
    return np.asarray(softmax(logits, axis=1))


def log_odds(data: LatentData, theta: Floats) -> Floats:
    """Eta of each row and combination z, shape (n, K)."""
    width = data.known.shape[1]
    eta = (data.known @ theta[:width])[:, None] + (data.dummies @ theta[width : data.slopes])[None]
    return np.asarray(eta)


def evaluate_latent(data: LatentData, theta: Floats) -> Height:
    """The log-likelihood and its derivatives, of rows in blocks that stay in the processor's cache."""
    parts = [_evaluate_block(data, theta, block) for block in blocks(len(data.counts))]
    return Height(
        theta,
        sum(part.value for part in parts),
        np.sum([part.gradient for part in parts], axis=0),
        np.sum([part.information for part in parts], axis=0),
    )


def _evaluate_block(whole: LatentData, theta: Floats, block: slice) -> Height:
    whole.on_step()
    data = LatentData(
        whole.counts[block], whole.known[block], whole.outcome[block], whole.others[block], whole.dummies
    )
    counts, known, dummies = data.counts, data.known, data.dummies
    width, combinations = known.shape[1], len(dummies)
    eta, prior = log_odds(data, theta), chances_of_answers(data, theta)
    yes, no = expit(eta), expit(-eta)
    if_no, if_yes = data.outcome[:, :1], data.outcome[:, 1:]
    seen = if_no * no + if_yes * yes
    parts = prior * data.others * seen
    row = parts.sum(axis=1)
    after = parts / row[:, None]
    first = (if_yes - if_no) * yes * no / seen
    second = first * (no - yes)  # of the part itself: its second derivative over its value
    moved = after * first
    scores = np.concatenate(
        [
            known * moved.sum(axis=1, keepdims=True),
            moved @ dummies,
            ((after - prior)[:, 1:, None] * known[:, None, :]).reshape(len(counts), -1),
        ],
        axis=1,
    )
    size, slopes = data.parameters, data.slopes
    moments = np.zeros((size, size))
    curved = counts[:, None] * after * second
    moments[:width, :width] = (known * curved.sum(axis=1, keepdims=True)).T @ known
    moments[:width, width:slopes] = known.T @ curved @ dummies
    moments[width:slopes, width:slopes] = (dummies * curved.sum(axis=0)[:, None]).T @ dummies
    for c in range(1, combinations):
        own = slice(slopes + (c - 1) * width, slopes + c * width)
        towards = counts[:, None] * (moved * (np.arange(combinations) == c) - prior[:, c : c + 1] * moved)
        moments[:width, own] = (known * towards.sum(axis=1, keepdims=True)).T @ known
        moments[width:slopes, own] = dummies.T @ (towards.T @ known)
        for d in range(c, combinations):
            other = slice(slopes + (d - 1) * width, slopes + d * width)
            both = 2 * prior[:, c] * prior[:, d] - after[:, c] * prior[:, d] - prior[:, c] * after[:, d]
            both += (c == d) * (after[:, c] - prior[:, c])
            moments[own, other] = (known * (counts * both)[:, None]).T @ known
    lower = np.tril_indices(size, -1)
    moments[lower] = moments.T[lower]
    information = (scores * counts[:, None]).T @ scores - moments
    return Height(theta, float(counts @ np.log(row)), scores.T @ counts, information)


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
