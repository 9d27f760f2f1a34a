"""How the rows of a sample were drawn, and the variance of a weighted sum that follows from it.

References
----------
Särndal, C.-E., Swensson, B. and Wretman, J. (1992). *Model Assisted Survey Sampling*. Springer. Sections 3.7, 4.5, 5.7.
Wolter, K. M. (2007). *Introduction to Variance Estimation*. Second edition, Springer. Sections 1.4, 2.5.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Groups = NDArray[np.int64]
_HARDLY = 1e-6
"""All that the distances of replicates count together; of ways in use it is 1 or more, less what was drawn of all."""


@dataclass(frozen=True, eq=False)
class Replicates:
    """Weights under which everything is estimated again: how far those estimates are apart is the variance.

    Attributes
    ----------
    count : int
        How many there are.
    make : callable
        The number of one, from 0 -> the weights of all rows, none below 0.
    factors : ndarray of float, shape (count,)
        What the square of its distance counts.
    centred : bool
        Whether distances are to the mean of all, and not to the estimate.
    degrees_of_freedom : int
    """

    count: int
    make: Callable[[int], Floats]
    factors: Floats
    centred: bool
    degrees_of_freedom: int

    @property
    def tells(self) -> bool:
        """Whether distances count: as of a census they hardly do, and tell nothing of what coins and lists do."""
        return bool(self.factors.sum() > _HARDLY)

    def vary(self, values: Floats, coefficients: Floats) -> Floats:
        """The covariance of estimates, of which `values` has those of each replicate, shape (count, q)."""
        apart = values - (values.mean(axis=0) if self.centred else coefficients)
        return np.asarray((apart * self.factors[:, None]).T @ apart)


@dataclass(frozen=True, eq=False)
class SampleDesign:
    """How the rows of a sample were drawn, and what they were calibrated to.

    Attributes
    ----------
    weights : ndarray of float, shape (n,)
        Above 0: after calibration, if there was any.
    margins : sequence of ndarray of int, each of shape (n,)
        The groups of every margin that `weights` were raked to.
    clusters : ndarray of int, shape (n,), or None
        Which rows of a stratum were drawn together.
    strata : ndarray of int, shape (n,), or None
        The groups from 0 that were drawn from apart, each with a row.
    populations : ndarray of float, shape (strata,), or None
        Of each stratum, how many clusters, or people where there are none, it was drawn from, each once at most and
        with about the same chance: a sample that is a large part of them says more. Of clusters everybody was asked.
    replicates : Replicates or None
        In place of clusters, strata and margins, which then say nothing more.
    """

    weights: Floats
    margins: Sequence[Groups] = ()
    clusters: Groups | None = None
    strata: Groups | None = None
    populations: Floats | None = None
    replicates: Replicates | None = None

    @cached_property
    def units(self) -> "Units":
        """What was drawn.

        Raises
        ------
        ValueError
            If there are more units in a stratum than it is said to have.
        """
        rows = len(self.weights)
        strata = np.zeros(rows, np.int64) if self.strata is None else self.strata
        of_row: Groups | None = None
        if self.clusters is not None:
            keys = strata * (int(self.clusters.max()) + 1) + self.clusters
            _, first, of_row = np.unique(keys, return_index=True, return_inverse=True)
            strata = strata[first]
        sizes = np.bincount(strata)
        drawn = np.zeros(len(sizes))
        if self.populations is not None:
            short = np.flatnonzero(self.populations < sizes)
            if len(self.populations) != len(sizes) or len(short):
                place = int(short[0]) if len(short) else 0
                raise ValueError(
                    f"populations must be at least the units of each stratum, {sizes.tolist()}; entry {place} is "
                    f"{float(self.populations[place])!r}"
                )
            drawn = sizes / self.populations
        return Units(of_row, strata, sizes, drawn)

    @property
    def fitted(self) -> int:
        """Groups of margins but one of each: so many numbers of the rows were fitted."""
        return sum(int(groups.max()) for groups in self.margins)


@dataclass(frozen=True, eq=False)
class Units:
    """What was drawn: clusters, or rows where there are none.

    Attributes
    ----------
    of_row : ndarray of int, shape (n,), or None
        The unit of each row; None where each is its own.
    strata : ndarray of int, shape (units,)
    sizes : ndarray of int, shape (strata,)
        Units of each stratum.
    drawn : ndarray of float, shape (strata,)
        Which part of the stratum they are; 0 where that is not known.
    """

    of_row: Groups | None
    strata: Groups
    sizes: Groups
    drawn: Floats

    @property
    def lonely(self) -> int:
        """Strata of which a single unit was drawn, where there are several."""
        return int((self.sizes == 1).sum()) if len(self.sizes) > 1 else 0

    @property
    def strata_of_rows(self) -> Groups:
        """The stratum of each row."""
        return self.strata if self.of_row is None else self.strata[self.of_row]

    def add_up(self, numbers: Floats) -> Floats:
        """The sums of each unit, shape (units, q), of numbers of each row, shape (n, q)."""
        if self.of_row is None:
            return numbers
        sums = [np.bincount(self.of_row, column, len(self.strata)) for column in numbers.T]
        return np.stack(sums, axis=1) if sums else np.zeros((len(self.strata), 0))

    def count_freedom(self, rows: NDArray[np.bool_]) -> int:
        """Units with such a row, less one for each of their strata."""
        has = self.add_up(rows[:, None].astype(np.float64))[:, 0] > 0
        return int(has.sum()) - len(np.unique(self.strata[has]))

    def vary(self, sums: Floats, counted: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """The covariance of the total of the units that are counted: as drawn, and as if from a population without end.

        A stratum of one unit is held against the mean of all, which errs on the wide side.
        """
        kept, strata = sums[counted], self.strata[counted]
        sizes = np.bincount(strata, minlength=len(self.sizes))
        totals = np.stack([np.bincount(strata, column, len(sizes)) for column in kept.T], axis=1)
        means = np.asarray(totals / np.maximum(sizes, 1)[:, None], dtype=np.float64)
        if len(kept):
            means[sizes == 1] = kept.mean(axis=0)
        apart = kept - means[strata]
        factors = np.divide(sizes, sizes - 1, out=np.ones(len(sizes)), where=sizes > 1)
        endless = (apart * factors[strata, None]).T @ apart
        part = (apart * (factors * (1 - self.drawn))[strata, None]).T @ apart
        return np.asarray(part), np.asarray(endless)
