"""What a randomised number goes with: a linear model, fitted by guesses that are right on average over the coins.

Each report of a number, and of an answer that may go with it, is turned into an unbiased guess; the products of a row's
guesses have the right means, too, as coins are independent, and the square of a guess of an answer is not taken: an
answer times itself is that answer. So the normal equations of least squares are right on average (Nakamura 1990), and
what they are solved by varies as their rows do, whatever the spread of the numbers (White 1980).

References
----------
Nakamura, T. (1990). Corrected score function for errors-in-variables models. *Biometrika* 77, 127-137.
White, H. (1980). A heteroskedasticity-consistent covariance matrix estimator. *Econometrica* 48, 817-838.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from server.privacy._checks import probability
from server.privacy.estimators.explained_effects import ExplainedEffect, Explanation
from server.privacy.estimators.explaining import Predictor
from server.privacy.estimators.few_units import CoefficientUnits
from server.privacy.estimators.latent_likelihood import Floats
from server.privacy.estimators.regression import LikelihoodRatioTest
from server.privacy.estimators.sample_designs import Groups
from server.privacy.estimators.sampled_ratios import compare_with_zero
from server.privacy.estimators.sampled_rows import RowSample, widen

_SURE = 3.0
"""Standard errors by which the normal equations must be away from having no solution."""
_FEW, _MUCH = 20.0, 1.1
"""Degrees of freedom below which, and factor above which, rows that happen to be alike are not taken at their word."""


@dataclass(frozen=True, eq=False)
class NumberData:
    """Rows that are alike together.

    Attributes
    ----------
    counts : ndarray, shape (n,)
        How many people, or how much weight, each row stands for.
    known : ndarray, shape (n, 1 + p)
        Ones, and the known predictors.
    tops, bottoms : ndarray, shape (n,)
        Guesses of the number, 0 of whoever gave none, and of whether one was given.
    guesses : ndarray, shape (n, q)
        Of each answer but the first of each question that is a predictor.
    question_of : ndarray of int, shape (q,)
        Which question that is an answer of.
    width : float
        Of the range of the number.
    """

    counts: Floats
    known: Floats
    tops: Floats
    bottoms: Floats
    guesses: Floats
    question_of: Groups
    width: float

    @property
    def apart(self) -> Floats:
        """1 where two answers are of different questions, else 0, shape (q, q)."""
        return np.asarray(self.question_of[:, None] != self.question_of[None], dtype=np.float64)


def explain_number(
    data: NumberData,
    predictors: Sequence[Predictor],
    confidence: float = 0.95,
    sample: RowSample | None = None,
) -> Explanation:
    """Slopes, robust intervals and Wald tests; where the equations hardly have a solution, nothing is told.

    Raises
    ------
    ValueError
        If a known predictor repeats others, or there are too few rows or clusters.
    """
    probability("confidence", confidence, open_interval=True)
    matrix = _list_products(data)
    size = len(matrix)
    freedom = int(data.counts.sum()) - size if sample is None else sample.degrees_of_freedom
    known = matrix[: data.known.shape[1], : data.known.shape[1]]
    if freedom < 1:
        raise ValueError(
            f"rows, or clusters where there are some, must be more than {size}, as there are coefficients"
        )
    if np.linalg.matrix_rank(known, hermitian=True) < len(known):
        raise ValueError("predictors must not repeat each other, nor be the same for everybody")
    found = _solve(data, matrix)
    inverse = np.linalg.pinv(matrix)
    scores = _list_scores(data, found)
    people = float(data.counts.sum())
    meat = (scores * data.counts[:, None]).T @ scores * (people / max(people - size, 1))
    alone: Floats = np.asarray(inverse @ meat @ inverse.T, dtype=np.float64)
    if sample is None:
        covariance = alone
    elif sample.replicates is None:
        covariance = inverse @ sample.spread(scores) @ inverse.T
    else:
        covariance = sample.fit_again(lambda counts: _fit_counts(data, counts), found)
    if sample is None or sample.replicates is None:
        factors, own = _judge_known(data, covariance, found, sample)
    else:
        factors, own = _judge_fits(data, sample)
    covariance = widen(covariance, alone, factors**2)
    freedoms = np.minimum(own, float(freedom))
    sure = _is_sure(data, matrix)
    reaches = scipy.special.stdtrit(freedoms, (1 + confidence) / 2)
    effects = tuple(
        tuple(
            _state(found, covariance, place, predictor.unit, float(reaches[place]), data.width, sure=sure)
            for place in predictor.columns
        )
        for predictor in predictors
    )
    every = [place for predictor in predictors for place in predictor.columns]
    return Explanation(
        n=float(data.counts.sum()),
        prior=False,
        log_likelihood=math.nan,
        effects=effects,
        tests=tuple(_test(found, covariance, list(predictor.columns), freedoms) for predictor in predictors),
        test=_test(found, covariance, every, freedoms),
        confidence=confidence,
    )


def _judge_known(
    data: NumberData, covariance: Floats, coefficients: Floats, sample: RowSample | None
) -> tuple[Floats, Floats]:
    """Of each coefficient, how many times as far it varies as rows say, and degrees of freedom.

    Where few are left, the spread of all rows is taken for theirs. Those of randomised answers hang on no rows alone,
    but may on clusters.
    """
    known, counts = data.known, data.counts
    bread: Floats = np.asarray(np.linalg.pinv((known * counts[:, None]).T @ known), dtype=np.float64)
    factors, freedoms = np.ones(len(coefficients)), np.full(len(coefficients), np.inf)
    rest = _list_scores(data, coefficients)[:, 0]
    evenly = float(counts @ rest**2 / counts.sum()) * np.diag(bread)
    for place in range(1, known.shape[1]):
        units = (
            _list_people(known, counts, place, bread)
            if sample is None
            else sample.list_units(known, place, bread)
        )
        factor, own = units.judge()
        few = own < _FEW or factor > _MUCH
        if few:
            factor = max(factor, float(evenly[place]) / max(float(covariance[place, place]), 1e-300))
        if few or sample is not None:
            factors[place], freedoms[place] = math.sqrt(factor), own
    if sample is not None:
        scores = _list_scores(data, coefficients)
        inverse: Floats = np.asarray(np.linalg.pinv(_list_products(data)), dtype=np.float64)
        for place in range(known.shape[1], len(coefficients)):
            products = -_leave(data, np.zeros(len(counts)), inverse[place])
            factor, own = sample.list_units(scores, place, inverse, products).judge()
            factors[place], freedoms[place] = math.sqrt(factor), own
    return factors, freedoms


def _judge_fits(data: NumberData, sample: RowSample) -> tuple[Floats, Floats]:
    """The same of fits to replicate weights; answers are taken as if their guesses were known."""
    every = np.concatenate([data.known, data.guesses], axis=1)
    factors, freedoms = sample.judge_fits(every)
    own, own_freedoms = sample.judge_fits(data.known)
    factors[: len(own)], freedoms[: len(own)] = own, own_freedoms
    return np.sqrt(factors), freedoms


def _list_people(known: Floats, counts: Floats, place: int, bread: Floats) -> CoefficientUnits:
    """Of people who were drawn one by one, those that are alike once."""
    moved = known @ bread[place]
    towards = known * moved[:, None]
    size = len(bread)
    between = np.zeros((2 * size, 2 * size))
    between[:size, size:] = between[size:, :size] = np.eye(size)
    between[size:, size:] = -(known * counts[:, None]).T @ known
    ties = np.concatenate([towards, towards @ bread], axis=1)
    strata, sizes = np.zeros(len(counts), np.int64), np.array([round(counts.sum())])
    return CoefficientUnits(moved**2, ties, between, strata, sizes, counts)


def _list_products(data: NumberData) -> Floats:
    """Guesses of the sums of products of predictors, over those who gave a number."""
    masses = (data.counts * data.bottoms)[:, None]
    among = data.guesses.T @ (masses * data.guesses) * data.apart
    among += np.diag((masses * data.guesses).sum(axis=0))
    across = data.known.T @ (masses * data.guesses)
    return np.block([[data.known.T @ (masses * data.known), across], [across.T, among]])


def _solve(data: NumberData, matrix: Floats) -> Floats:
    told = data.counts * data.tops
    return np.asarray(np.linalg.pinv(matrix) @ np.concatenate([data.known.T @ told, data.guesses.T @ told]))


def _fit_counts(data: NumberData, counts: Floats) -> Floats:
    own = replace(data, counts=counts)
    return _solve(own, _list_products(own))


def _list_scores(data: NumberData, coefficients: Floats) -> Floats:
    """What each row, counted once, leaves of the normal equations, shape (n, 1 + p + q)."""
    return _leave(data, data.tops, coefficients)


def _leave(data: NumberData, tops: Floats, coefficients: Floats) -> Floats:
    """Of each row, its guesses times `tops`, less its products times what is found."""
    width = data.known.shape[1]
    known, slopes = data.known @ coefficients[:width], coefficients[width:]
    rest = tops - data.bottoms * (known + data.guesses @ slopes)
    others = known[:, None] + slopes + (data.guesses * slopes) @ data.apart
    left = data.guesses * (tops[:, None] - data.bottoms[:, None] * others)
    return np.concatenate([data.known * rest[:, None], left], axis=1)


def _is_sure(data: NumberData, matrix: Floats) -> bool:
    """Whether products of guesses are surely those of predictors that differ: coins can make them seem to, or not."""
    lengths = np.sqrt(np.maximum(np.diag(matrix), 0))
    if not lengths.all():
        return False
    values, vectors = np.linalg.eigh(matrix / np.outer(lengths, lengths))
    direction = vectors[:, 0] / lengths
    rows = -(_leave(data, np.zeros(len(data.counts)), direction) @ direction)
    mean = float(data.counts @ rows) / float(data.counts.sum())
    error = math.sqrt(float(data.counts @ (rows - mean) ** 2))
    return float(values[0]) > max(_SURE * error, 1e-9)


def _state(
    coefficients: Floats,
    covariance: Floats,
    place: int,
    unit: float,
    reach: float,
    width: float,
    *,
    sure: bool,
) -> ExplainedEffect:
    value, error = float(coefficients[place]), math.sqrt(max(float(covariance[place, place]), 0.0))
    low, high = value - reach * error, value + reach * error
    tells = sure and (not low < 0 < high or high - low <= width)
    own = value / unit, error / unit
    return ExplainedEffect(*own, (low / unit, high / unit), "sandwich", tells, *own)


def _test(
    coefficients: Floats, covariance: Floats, places: list[int], freedoms: Floats
) -> LikelihoodRatioTest:
    """A Wald test; its statistic is as large as a chi-squared one of as many degrees of freedom would be."""
    freedom = float(freedoms[places].min())
    made = compare_with_zero(coefficients[places], covariance[np.ix_(places, places)], freedom)
    rank = made.degrees_of_freedom[0]
    return LikelihoodRatioTest(rank * made.statistic, rank, made.p_value)
