"""People who answered within strata that count by their populations: what the scores of rows that are alike vary by.

As a `RowSample` with a stratum for each row, but a row may stand for many people, so that millions take no more room
than the rows that differ. Strata are those of the sample, so that only how people vary inside each counts; how many
answered in each, and how large its population is, are taken as known.

References
----------
Binder, D. A. (1983). On the variances of asymptotically normal estimators from complex surveys. *International
Statistical Review* 51, 279-292.
"""

from dataclasses import dataclass

import numpy as np

from server.privacy.estimators.few_units import CoefficientUnits
from server.privacy.estimators.sample_designs import Floats, Groups, SampleDesign
from server.privacy.estimators.sampled_rows import RowSample


@dataclass(frozen=True, eq=False)
class StratumSample(RowSample):
    """Rows that are alike within a stratum, each once.

    Attributes
    ----------
    people : ndarray of float, shape (alike,)
        How many each row stands for.
    """

    people: Floats

    @classmethod
    def of(cls, people: Floats, strata: Groups, shares: Floats) -> "StratumSample":
        """Of rows with so many people, each in one of the strata that have these shares of the population.

        Strata of which nobody is there count as the others do.
        """
        sizes = np.bincount(strata, people, len(shares))
        counted = np.divide(shares, sizes, out=np.zeros(len(shares)), where=sizes > 0)[strata]
        weights = counted * (people.sum() / float(counted @ people))
        places = np.arange(len(people))
        own = np.unique(strata, return_inverse=True)[1].astype(np.int64)
        return cls(places, places, SampleDesign(weights, strata=own), people)

    @property
    def counts(self) -> Floats:
        """What each row counts, with all its people: together as many as there are people."""
        return self.design.weights * self.people

    @property
    def degrees_of_freedom(self) -> int:
        """People, less one for each stratum."""
        return max(round(float(self.people.sum())) - len(self._sizes), 0)

    def spread(self, scores: Floats) -> Floats:
        """As of a `RowSample`: the covariance of the weighted sum of scores, shape (alike, p)."""
        strata, people, sizes = self._strata, self.people, self._sizes
        pulls = scores * self.design.weights[:, None]
        totals = [np.bincount(strata, people * column, len(sizes)) for column in pulls.T]
        means = np.stack(totals, axis=1) / sizes[:, None]
        means[sizes == 1] = people @ pulls / people.sum()  # held against all, which errs on the wide side
        apart = pulls - means[strata]
        factors = np.divide(sizes, sizes - 1, out=np.ones(len(sizes)), where=sizes > 1)
        return np.asarray((apart * (factors[strata] * people)[:, None]).T @ apart)

    def list_units(
        self, scores: Floats, place: int, bread: Floats, products: Floats | None = None
    ) -> CoefficientUnits:
        """As of a `RowSample`: each person is a unit, and those that are alike stand once."""
        weights, direction = self.design.weights[:, None], bread[place]
        towards = scores * (scores @ direction)[:, None]
        once = (towards if products is None else products) * weights @ bread
        twice = towards * weights**2
        size = len(bread)
        between = np.zeros((2 * size, 2 * size))
        between[:size, size:] = between[size:, :size] = np.eye(size)
        between[size:, size:] = -(scores * (self.people[:, None] * weights**2)).T @ scores
        ties = np.concatenate([twice, once], axis=1)
        sizes = np.rint(self._sizes).astype(np.int64)
        return CoefficientUnits(twice @ direction, ties, between, self._strata, sizes, self.people)

    @property
    def _strata(self) -> Groups:
        assert self.design.strata is not None
        return self.design.strata

    @property
    def _sizes(self) -> Floats:
        """People of each stratum."""
        return np.asarray(np.bincount(self._strata, self.people), dtype=np.float64)
