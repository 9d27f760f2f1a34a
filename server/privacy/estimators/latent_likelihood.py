"""The likelihood of a logistic model whose outcome, and some of whose predictors, are seen through coins.

A person's truth is "yes" with the log odds eta = (1, x)'b + d(z)'c, where x is known and z, the true answers to
other questions, is not. Given x, the answers z have the chances of a multinomial logit, with an intercept and
slopes on x for each combination but the first: without x, or where x tells one set of groups, any chances at all. With
P[y] the chances of the outcome's report under either truth and Q[z] those of the others' reports, a row has

    L = sum over z of Pr(z | x) Q[z] (P[1] expit(eta) + P[0] expit(-eta)),

a mixture, whose derivatives are those of its parts, weighted by how likely each part is now that the reports are known.
Without z it is the likelihood of `logistic_regression`. An outcome of several levels has a linear predictor for each
but the first (`outcome_levels`), and in place of the last factor the sum over levels of P times their chances.

References
----------
van den Hout, A. and van der Heijden, P. (2002). Randomized response, statistical disclosure control and
misclassification: a review. *International Statistical Review* 70, 269-288.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from server.privacy.estimators.answer_pairs import list_pairs
from server.privacy.estimators.combined_likelihood import CombinedModel
from server.privacy.estimators.combined_search import CombinedSearch
from server.privacy.estimators.combined_tally import make_tally, number_rows
from server.privacy.estimators.outcome_levels import (
    OutcomeModel,
    add_curvature,
    count_outcome_parameters,
    find_jacobian,
    find_predictors,
    slope_levels,
)
from server.privacy.estimators.regression_data import blocks
from server.privacy.estimators.two_level_likelihood import evaluate_two_levels

Floats = NDArray[np.float64]
MOST_WRITTEN_OUT, MOST_TOGETHER = 64, 80
"""Combinations of answers, and coefficients in all, up to which every combination of every row can be written out."""
MOST_CELLS = 1 << 17
"""Combinations of answers times those of known values, where they are not."""
_FEW_VALUES = 128
"""Of known values, with which writing out takes longer, or neither takes half a second."""


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
    outcome : ndarray, shape (n, J)
        The chance of the outcome's report under each true level: of no and of yes, or of more.
    others : ndarray, shape (n, K)
        The chance of the other reports under each combination of the answers z; ones, K = 1, without any. Empty,
        shape (n, 0), where these are `combined`, and `parts` are there.
    dummies : ndarray, shape (K, q)
        What each combination adds to the log odds: 0 or 1 for each answer but the first of each question.
    on_step : callable
        Called before the likelihood of each block of rows is computed; what it raises ends the work.
    model : {"cumulative", "multinomial"}
        Whether the levels stand in an order.
    parts : tuple of ndarray, each of shape (n, Kk)
        The chance of each other report alone under each answer; their products are `others`.
    written_out : bool
        Whether every combination of every row is written out wherever it can be.
    """

    counts: Floats
    known: Floats
    outcome: Floats
    others: Floats
    dummies: Floats
    on_step: Callable[[], None] = do_nothing
    model: OutcomeModel = "cumulative"
    parts: tuple[Floats, ...] = ()
    written_out: bool = False

    @property
    def levels(self) -> int:
        """Of the outcome."""
        return int(self.outcome.shape[1])

    @property
    def columns(self) -> int:
        """Of a linear predictor: the intercept, what is known, and dummies of answers."""
        return int(self.known.shape[1] + self.dummies.shape[1])

    @property
    def slopes(self) -> int:
        """Number of coefficients of the outcome, intercepts included; those of the answers z stand behind them."""
        return count_outcome_parameters(self.model, self.levels, self.columns)

    @cached_property
    def combined(self) -> bool:
        """Whether the chances of combinations follow the slopes, and none is written out for each row.

        So it is where there are too many, and where that is less work: but of many known values beside few answers.
        """
        size = len(self.dummies)
        if size == 1:
            return False
        together = self.slopes + (size - 1) * self.known.shape[1]
        if size > MOST_WRITTEN_OUT or together > MOST_TOGETHER:
            return True
        return not self.written_out and self.values <= min(max(_FEW_VALUES, size**2), MOST_CELLS // size)

    @cached_property
    def values(self) -> int:
        """How many combinations of known values there are."""
        return len(number_rows([self.known], len(self.known))[0])

    @property
    def parameters(self) -> int:
        """Number of all coefficients that a search moves."""
        if self.combined:
            return self.slopes
        return int(self.slopes + (len(self.dummies) - 1) * self.known.shape[1])

    @cached_property
    def search(self) -> CombinedSearch:
        """The way to the top where chances of combinations follow the slopes; it remembers where it was."""
        tally = make_tally(self.counts, self.known, self.outcome, self.parts or (self.others,))
        terms = list_pairs(self.dummies)
        return CombinedSearch(
            CombinedModel(tally, self.dummies, self.levels, self.model, self.on_step, terms=terms)
        )


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
    return np.asarray(scipy.special.softmax(logits, axis=1))


def find_log_odds(data: LatentData, theta: Floats) -> Floats:
    """The linear predictors of each row and combination z, shape (n, K, M)."""
    width = data.known.shape[1]
    slopes = find_predictors(data.model, theta, data.levels, data.columns)
    eta = (data.known @ slopes[:, :width].T)[:, None, :]
    return np.asarray(eta + (data.dummies @ slopes[:, width:].T)[None])


@dataclass(frozen=True, eq=False)
class OpenHeight:
    """As a `Height`, where every linear predictor has slopes of its own; `scores` are those of each row."""

    value: float
    gradient: Floats
    information: Floats
    scores: Floats


def evaluate_latent(data: LatentData, theta: Floats) -> Height:
    """The log-likelihood and its derivatives, of rows in blocks that stay in the processor's cache."""
    # Few columns and no other answer: larger blocks, as most of the time would go into beginning with each.
    columns = max(data.known.shape[1], 4 * len(data.dummies) * (data.levels - 1))
    rows = blocks(len(data.counts), columns)
    alone = data.levels == 2 and len(data.dummies) == 1
    parts = [
        _evaluate_alone(data, theta, block) if alone else evaluate_open(data, theta, block, scores=False)
        for block in rows
    ]
    value, gradient = sum(part.value for part in parts), np.sum([part.gradient for part in parts], axis=0)
    information = np.sum([part.information for part in parts], axis=0)
    if data.levels == 2:
        return Height(theta, value, gradient, information)
    turn = turn_to_model(data, theta)
    closed = turn.T @ information @ turn
    intercepts = gradient[: (data.levels - 1) * data.columns].reshape(data.levels - 1, -1)[:, 0]
    add_curvature(data.model, theta, intercepts, closed, data.levels, data.columns)
    return Height(theta, value, turn.T @ gradient, closed)


def _evaluate_alone(data: LatentData, theta: Floats, block: slice) -> OpenHeight:
    """Of two levels and no other answer, where nothing else is to be added up."""
    data.on_step()
    found = evaluate_two_levels(data.counts[block], data.known[block], data.outcome[block], theta)
    return OpenHeight(*found, np.zeros((0, 0)))


def turn_to_model(data: LatentData, theta: Floats) -> Floats:
    """Derivatives of the coefficients of all linear predictors, and those of z, by the coefficients of the model."""
    jacobian = find_jacobian(data.model, theta, data.levels, data.columns)
    rest = data.parameters - data.slopes
    found = np.zeros((jacobian.shape[0] + rest, jacobian.shape[1] + rest))
    found[: jacobian.shape[0], : jacobian.shape[1]] = jacobian
    found[jacobian.shape[0] :, jacobian.shape[1] :] = np.eye(rest)
    return found


def list_scores(data: LatentData, theta: Floats) -> Floats:
    """What each row, counted once, adds to the gradient where every linear predictor has slopes of its own."""
    found = [evaluate_open(data, theta, block, scores=True).scores for block in blocks(len(data.counts))]
    return np.concatenate(found)


@lru_cache(maxsize=16)
def _list_lower(size: int) -> tuple[NDArray[np.intp], ...]:
    """The places below the diagonal: to list them takes longer than to fill them."""
    return np.tril_indices(size, -1)


def evaluate_open(whole: LatentData, theta: Floats, block: slice, *, scores: bool) -> OpenHeight:
    """Of a block of rows."""
    whole.on_step()
    data = replace(
        whole,
        counts=whole.counts[block],
        known=whole.known[block],
        outcome=whole.outcome[block],
        others=whole.others[block],
    )
    counts, known, dummies = data.counts, data.known, data.dummies
    width, columns, combinations = known.shape[1], data.columns, len(dummies)
    predictors, prior = find_log_odds(data, theta), chances_of_answers(data, theta)
    slopes = slope_levels(data.model, predictors, data.outcome)
    parts = prior * data.others * slopes.seen
    row = parts.sum(axis=1)
    after = parts / row[:, None]
    moved = [after * first for first in slopes.first]
    listed: list[Floats] = []
    for own in moved:
        listed += [known * own.sum(axis=1, keepdims=True), own @ dummies]
    listed.append(((after - prior)[:, 1:, None] * known[:, None, :]).reshape(len(counts), -1))
    made = np.concatenate(listed, axis=1)
    start = columns * len(moved)
    moments = np.zeros((made.shape[1], made.shape[1]))
    for m in range(len(moved)):
        for other in range(m, len(moved)):
            second = slopes.second(m, other)
            if second is None:
                continue
            curved = counts[:, None] * after * second
            at, to = m * columns, other * columns
            moments[at : at + width, to : to + width] = (known * curved.sum(axis=1, keepdims=True)).T @ known
            across = known.T @ curved @ dummies
            moments[at : at + width, to + width : to + columns] = across
            moments[at + width : at + columns, to : to + width] = across.T
            inner = (dummies * curved.sum(axis=0)[:, None]).T @ dummies
            moments[at + width : at + columns, to + width : to + columns] = inner
    for c in range(1, combinations):
        own = slice(start + (c - 1) * width, start + c * width)
        for m, first in enumerate(moved):
            towards = counts[:, None] * (first * (np.arange(combinations) == c) - prior[:, c : c + 1] * first)
            at = m * columns
            moments[at : at + width, own] = (known * towards.sum(axis=1, keepdims=True)).T @ known
            moments[at + width : at + columns, own] = dummies.T @ (towards.T @ known)
        for d in range(c, combinations):
            beside = slice(start + (d - 1) * width, start + d * width)
            both = 2 * prior[:, c] * prior[:, d] - after[:, c] * prior[:, d] - prior[:, c] * after[:, d]
            both += (c == d) * (after[:, c] - prior[:, c])
            moments[own, beside] = (known * (counts * both)[:, None]).T @ known
    lower = _list_lower(made.shape[1])
    moments[lower] = moments.T[lower]
    information = (made * counts[:, None]).T @ made - moments
    return OpenHeight(
        float(counts @ np.log(row)), made.T @ counts, information, made if scores else np.zeros((0, 0))
    )
