"""Estimates from noisy cells: ratios of two sums of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators import released_ratio
from server.privacy.estimators.joint import cell_coefficients
from server.releases.noisy_cells import Counts, Noise
from server.releases.survey_shapes import Coins
from server.releases.values import Figure

Place = tuple[tuple[str, str], ...]
Row = NDArray[np.float64]


def estimate(
    statistic: str,
    place: Place,
    cells: Counts,
    numerator: Row,
    denominator: Row,
    noise: Noise,
    confidence: float,
    *,
    total: int | None,
    sampled: bool,
    reach: tuple[float, float] = (0.0, 1.0),
    variances: Sequence[float] = (),
) -> Figure:
    """A figure: sum(numerator * cells) / sum(denominator * cells), with coins, sampling and noise in its interval.

    `variances` are those of the noise where cells differ in it.
    """
    found = released_ratio(
        cells,
        numerator,
        denominator,
        list(variances) or noise.variance,
        confidence,
        total=total,
        sampled=sampled,
        noise="gaussian" if noise.kind == "gaussian" else "laplace",
        reach=reach,
    )
    return Figure(statistic, place, found.value, found.standard_error, *found.interval)


def reports(place: Place, cells: Sequence[int], noise: Noise, confidence: float) -> Figure:
    """A figure: the noisy number of reports of an answer, one for each part. Limits are told of one part."""
    error = math.sqrt(noise.variance * len(cells))
    limits = noise.limits(cells[0], confidence) if len(cells) == 1 else (None, None)
    return Figure("reports", place, sum(cells), error, *limits)


def cell_row(coins: Sequence[Coins], truths: Sequence[int]) -> Row:
    """What each combination of reports adds to the estimated number of people with these truths."""
    return cell_coefficients([one.inverse for one in coins], tuple(truths))


def margin_row(coins: Sequence[Coins], axis: int, truth: int) -> Row:
    """What each combination of reports adds to the number of people with this truth, whatever their others are."""
    rows = [one.inverse if place == axis else one.possible for place, one in enumerate(coins)]
    return cell_coefficients(rows, tuple(truth if place == axis else 0 for place in range(len(coins))))


def people_row(coins: Sequence[Coins]) -> Row:
    """What each combination of reports adds to the number of people: 1 if it can be sent."""
    return cell_coefficients([one.possible for one in coins], (0,) * len(coins))


@dataclass(frozen=True, eq=False)
class Cells:
    """Some cells of one part: their chances where all truths are equally frequent, and what they add to an estimate."""

    chances: Row
    numerator: Row
    denominator: Row

    @classmethod
    def of(cls, coins: Sequence[Coins], numerator: Row, denominator: Row) -> "Cells":
        """All combinations of reports."""
        means = [one.matrix.mean(axis=0, keepdims=True) for one in coins]
        return cls(cell_coefficients(means, (0,) * len(means)), numerator, denominator)


def expected_error(
    parts: Sequence[Cells], noise: Noise, people: int, *, sampled: bool, total: bool
) -> tuple[float, float]:
    """Standard errors of an estimate from so many people: of the noise alone, and of everything.

    Truths are taken to be equally frequent, and everybody to have answered the newest version,
    the first part; the cells of the others have noise all the same. `total`: whether the number of
    people is known, so that what all cells have in common is exact.
    """
    newest = parts[0]
    people_each = float(newest.denominator @ newest.chances)
    value = float(newest.numerator @ newest.chances) / people_each
    apart = np.concatenate([part.numerator - value * part.denominator for part in parts])
    first = newest.numerator - value * newest.denominator
    if total:
        apart = apart - apart.mean()
    noisy = noise.variance * float(apart @ apart)
    sampling = people * float(first**2 @ newest.chances) if sampled else 0.0
    whole = people * people_each
    return float(np.sqrt(noisy)) / whole, float(np.sqrt(noisy + sampling)) / whole
