"""Two or three randomised answers together, from rows that count differently: every combination, and two answers.

A row's reports stand together for an unbiased guess of each combination of answers, as coins are independent: the
product of its guesses. So the table is one of `sampled_ratios`, with its covariance by linearisation or replicate
weights, and what is said of two answers follows from both by the delta method.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from server.privacy.designs import Design
from server.privacy.estimators.association import Association, Measure, associate
from server.privacy.estimators.coefficients import share_coefficients
from server.privacy.estimators.sample_designs import Floats, Groups
from server.privacy.estimators.sampled_ratios import GuessedPart

SURE = 3.0
"""Standard errors that the share of a group of a randomised answer must be above 0: else it is not told of."""


@dataclass(frozen=True)
class SampledPair:
    """Of an answer to one question and one to another.

    Attributes
    ----------
    gave, others : Measure
        The share of the second answer among those who gave the first, and among the others.
    association : Association
        Their difference, the odds ratio and phi.
    degrees_of_freedom : int
        Of Student's t, by which all intervals are.
    """

    gave: Measure
    others: Measure
    association: Association
    degrees_of_freedom: int


def join_guesses(rows: Groups, reports: Sequence[Groups], designs: Sequence[Design]) -> GuessedPart:
    """Rows that reported to several questions: a ratio for each combination of answers, the last varying fastest."""
    matrix: Floats = np.ones((1, 1))
    guesses: Floats = np.ones((1, 1))
    code = np.zeros(len(rows), np.int64)
    for own, design in zip(reports, designs, strict=True):
        code = code * design.matrix.shape[1] + own
        matrix = np.asarray(np.kron(matrix, design.matrix), dtype=np.float64)
        guesses = np.asarray(np.kron(guesses, share_coefficients([design]).numerators), dtype=np.float64)
    return GuessedPart(rows, code, matrix, guesses, guesses, np.ones_like(guesses))


def measure_pair(table: Floats, covariance: Floats, freedom: int, confidence: float) -> SampledPair | None:
    """What a table of shares, (not given, given) of either answer, shape (2, 2), says of both; covariance (4, 4).

    None where either side of the first answer is less than three standard errors above nobody.
    """
    if freedom < 1:
        covariance = np.full((4, 4), math.inf)
    sides = table.sum(axis=1)
    if not np.isfinite(table).all() or not np.isfinite(covariance).all():
        return None
    of_sides = np.kron(np.eye(2), np.ones((1, 2)))
    if (sides <= SURE * np.sqrt(np.maximum(np.diag(of_sides @ covariance @ of_sides.T), 0))).any():
        return None
    quantile = float(scipy.special.stdtrit(freedom, (1 + confidence) / 2))

    def divide(side: int) -> Measure:
        share = float(table[side, 1] / sides[side])
        slope = np.zeros((2, 2))
        slope[side] = np.array([-share, 1 - share]) / sides[side]
        error = math.sqrt(max(float(slope.ravel() @ covariance @ slope.ravel()), 0.0))
        return Measure(share, error, (share - quantile * error, share + quantile * error))

    return SampledPair(divide(1), divide(0), associate(table, covariance, confidence, quantile), freedom)


def collapse_pair(shape: Sequence[int], pair: Sequence[int], chosen: Sequence[int]) -> Floats:
    """What adds a table up to (not given, given) of the chosen answers of two of its questions, shape (4, cells).

    `pair` are the places of both, the first in the rows.
    """
    places = np.indices(tuple(shape)).reshape(len(shape), -1)
    given = [(places[place] == answer).astype(np.int64) for place, answer in zip(pair, chosen, strict=True)]
    return np.asarray(np.arange(4)[:, None] == given[0] * 2 + given[1], dtype=np.float64)


def narrow_table(values: Floats, covariance: Floats, inside: Floats) -> tuple[Floats, Floats] | None:
    """The shares among those who are in some cells of a table (`inside`, 0 or 1), with their covariance.

    None where these are less than three standard errors above nobody.
    """
    total = float(inside @ values)
    if not np.isfinite(covariance).all():
        return None
    if not total > SURE * math.sqrt(max(float(inside @ covariance @ inside), 0.0)):
        return None
    shares = inside * values / total
    slopes = (np.diag(inside) - np.outer(shares, inside)) / total
    return shares, np.asarray(slopes @ covariance @ slopes.T)
