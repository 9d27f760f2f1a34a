"""Several ratios of weighted sums together: shares and means of all, or of those in groups that may be randomised too.

Each is a weighted sum of guesses over another one. A guess is a number for each report of a row, whose mean over the
coins is what the true answer would have given.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from server.privacy.estimators.margin_slopes import take_out_margins
from server.privacy.estimators.sample_designs import Floats, Groups, SampleDesign


@dataclass(frozen=True, eq=False)
class GuessedPart:
    """Rows whose reports came from the same chances.

    Attributes
    ----------
    rows, reports : ndarray of int, shape (p,)
        Which rows of all, and the report of each, or the combination of its reports.
    matrix : ndarray of float, shape (truths, reports)
        The chance of each report.
    inverse : ndarray of float, shape (truths, reports)
        For each report an unbiased guess of every truth's indicator.
    tops, bottoms : ndarray of float, shape (q, reports)
        What a report adds to the numerator and the denominator of each ratio.
    """

    rows: Groups
    reports: NDArray[np.integer]
    matrix: Floats
    inverse: Floats
    tops: Floats
    bottoms: Floats


@dataclass(frozen=True, eq=False)
class RatioEstimates:
    """Arrays have an entry for each ratio.

    Attributes
    ----------
    values : ndarray of float, shape (q,)
        NaN where nobody is estimated to be among those whom a ratio is of.
    covariance : ndarray of float, shape (q, q)
    evenly : ndarray of float, shape (q,)
        Variances of as many rows of the same guesses drawn evenly and one by one.
    degrees_of_freedom, rows : ndarray of int, shape (q,)
    """

    values: Floats
    covariance: Floats
    evenly: Floats
    degrees_of_freedom: Groups
    rows: Groups


@dataclass(frozen=True)
class WaldTest:
    """Whether some numbers are all 0.

    Attributes
    ----------
    statistic : float
        Of F.
    degrees_of_freedom : tuple of int and float
        Of its numerator and of its denominator.
    p_value : float
        NaN where the sample does not tell.
    """

    statistic: float
    degrees_of_freedom: tuple[int, float]
    p_value: float


def estimate_ratios(parts: Sequence[GuessedPart], sample: SampleDesign) -> RatioEstimates:
    """Values and their covariance, by linearisation over what was drawn, or over replicates where there are some.

    Notes
    -----
    Each row's pull is what it would still move a value by, after what its margins tell of it was taken out (a
    regression on them, as calibrated weights make up for those). Of a stratum of which the part f was drawn, drawing
    varies by 1 - f of that; the coins of its rows, as ever. No variance is below what coins add whatever the answers.
    """
    weights, width = sample.weights, len(parts[0].tops) if parts else 1
    tops, bottoms = np.zeros((len(weights), width)), np.zeros((len(weights), width))
    asked = np.zeros((len(weights), width), np.bool_)
    for part in parts:
        tops[part.rows] = part.tops[:, part.reports].T
        bottoms[part.rows] = part.bottoms[:, part.reports].T
        asked[part.rows] = (part.bottoms != 0).any(axis=1)
    return _estimate(tops, bottoms, asked, parts, sample)


def estimate_row_ratios(tops: Floats, bottoms: Floats, sample: SampleDesign) -> RatioEstimates:
    """The same of numbers of each row, shape (n, q), of which nothing is known but that they vary.

    A finite population is left aside, and so are replicates whose distances hardly count: what coins add there is not
    known.
    """
    own = sample.replicates if sample.replicates is not None and sample.replicates.tells else None
    return _estimate(tops, bottoms, bottoms != 0, (), replace(sample, populations=None, replicates=own))


def _estimate(
    tops: Floats,
    bottoms: Floats,
    eligible: NDArray[np.bool_],
    parts: Sequence[GuessedPart],
    sample: SampleDesign,
) -> RatioEstimates:
    weights = sample.weights
    people = weights @ bottoms
    people = np.where(people > 0, people, np.nan)
    values = weights @ tops / people
    rest = np.nan_to_num(tops - values * bottoms)
    covariance = (
        _vary_by_drawing(parts, sample, rest, eligible, values, people)
        if sample.replicates is None
        else _vary_by_replicates(tops, bottoms, values, sample)
    )
    floor = _vary_at_least(parts, weights, values, people)
    covariance += np.diag(np.maximum(floor - np.diag(covariance), 0))
    rows = eligible.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        evenly = (weights @ rest**2) * (weights @ eligible) / people**2 / rows
        # What coins add to rows that count the same, by Kish's design effect: alike reports tell nothing of chance.
        evenly = np.maximum(evenly, floor * (weights @ eligible) ** 2 / (weights**2 @ eligible) / rows)
    return RatioEstimates(values, covariance, evenly, _count_freedom(sample, eligible), rows)


def compare_with_zero(values: Floats, covariance: Floats, freedom: float) -> WaldTest:
    """Whether all of some numbers are 0, by an adjusted Wald test (Korn and Graubard 1990).

    References
    ----------
    Korn, E. L. and Graubard, B. I. (1990). Simultaneous testing of regression coefficients with complex survey data:
    use of Bonferroni t statistics. *The American Statistician* 44, 270-276.
    """
    if not (np.isfinite(values).all() and np.isfinite(covariance).all()):
        return WaldTest(math.nan, (len(values), 0), math.nan)
    rank = int(np.linalg.matrix_rank(covariance, hermitian=True))
    left = freedom - rank + 1
    if rank == 0 or left < 1:
        return WaldTest(math.nan, (rank, max(left, 0)), math.nan)
    squared = float(values @ np.linalg.pinv(covariance, hermitian=True) @ values)
    statistic = squared * left / (freedom * rank)
    return WaldTest(statistic, (rank, left), float(scipy.special.fdtrc(rank, left, statistic)))


def _count_freedom(sample: SampleDesign, eligible: NDArray[np.bool_]) -> Groups:
    if sample.replicates is not None:
        return np.full(eligible.shape[1], sample.replicates.degrees_of_freedom)
    found = [sample.units.count_freedom(own) - sample.fitted for own in eligible.T]
    return np.maximum(np.array(found, np.int64), 0)


def _vary_by_drawing(
    parts: Sequence[GuessedPart],
    sample: SampleDesign,
    rest: Floats,
    eligible: NDArray[np.bool_],
    values: Floats,
    people: Floats,
) -> Floats:
    units = sample.units
    pulls = sample.weights[:, None] * take_out_margins(rest, sample.weights, sample.margins) / people
    # Of units that were not asked the margins still tell something, and strata how many of them were; else they
    # move nothing.
    whole = bool(sample.margins) or sample.strata is not None
    counted = np.ones(len(units.strata), np.bool_)
    if not whole:
        counted = units.add_up(eligible.astype(np.float64)).sum(axis=1) > 0
    drawn, endless = units.vary(units.add_up(np.nan_to_num(pulls)), counted)
    free = int(counted.sum()) - len(np.unique(units.strata[counted]))
    if free <= sample.fitted:
        return np.full((len(values), len(values)), np.inf)
    factor = free / (free - sample.fitted)
    drawn, endless = factor * drawn, factor * endless
    if sample.populations is not None:
        drawn += _give_back_coins(parts, sample, values, people, endless - drawn)
    return drawn


def _vary_by_replicates(tops: Floats, bottoms: Floats, values: Floats, sample: SampleDesign) -> Floats:
    replicates = sample.replicates
    assert replicates is not None
    again = np.empty((replicates.count, len(values)))
    for number in range(replicates.count):
        weights = replicates.make(number)
        people = weights @ bottoms
        again[number] = weights @ tops / np.where(people > 0, people, np.nan)
    return replicates.vary(again, values)


def _vary_by_truth(part: GuessedPart, values: Floats, people: Floats) -> Floats:
    """The covariance of a row's guesses under each truth, shape (truths, q, q)."""
    guesses = np.nan_to_num((part.tops - values[:, None] * part.bottoms) / people[:, None])
    means = part.matrix @ guesses.T
    squares = np.einsum("xy,ay,by->xab", part.matrix, guesses, guesses)
    return np.asarray(squares - means[:, :, None] * means[:, None, :])


def _give_back_coins(
    parts: Sequence[GuessedPart], sample: SampleDesign, values: Floats, people: Floats, most: Floats
) -> Floats:
    """What the coins add in the part that was drawn: of each row, an unbiased guess; never more than was taken away."""
    drawn = sample.units.drawn[sample.units.strata_of_rows]
    total = np.zeros((len(values), len(values)))
    for part in parts:
        masses = sample.weights[part.rows] ** 2 * drawn[part.rows]
        per_report = np.bincount(part.reports, masses, part.matrix.shape[1])
        total += np.einsum("x,xab->ab", part.inverse @ per_report, _vary_by_truth(part, values, people))
    lengths, directions = np.linalg.eigh(total)
    total = (directions * np.maximum(lengths, 0)) @ directions.T
    own, limit = np.diag(total), np.maximum(np.diag(most), 0)
    scale = np.sqrt(np.divide(limit, own, out=np.ones(len(own)), where=own > limit))
    return np.asarray(total * np.outer(scale, scale))


def _vary_at_least(parts: Sequence[GuessedPart], weights: Floats, values: Floats, people: Floats) -> Floats:
    """What coins add, whatever the true answers are: rows that happen to be alike do not make a result certain."""
    total = np.zeros(len(values))
    for part in parts:
        least = np.einsum("xaa->xa", _vary_by_truth(part, values, people)).min(axis=0)
        total += float((weights[part.rows] ** 2).sum()) * np.maximum(least, 0)
    return total
