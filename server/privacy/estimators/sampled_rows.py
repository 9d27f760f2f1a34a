"""How the people behind rows that are alike were drawn: what their scores, or fits to replicates, vary by.

References
----------
Binder, D. A. (1983). On the variances of asymptotically normal estimators from complex surveys. *International
Statistical Review* 51, 279-292.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators.few_units import CoefficientUnits
from server.privacy.estimators.margin_slopes import take_out_margins
from server.privacy.estimators.replicate_freedom import judge_replicates
from server.privacy.estimators.sample_designs import Floats, Groups, Replicates, SampleDesign

_NOTHING = 1e-20
"""Part of a variance that is nothing but rounding."""


@dataclass(frozen=True, eq=False)
class RowSample:
    """Of each person that is used, the row of the sample, and which of the rows that are alike stands for it.

    A finite population is left aside: what goes with what is said of people like these, not of these alone. So are
    replicates whose distances hardly count, as of a census: they tell nothing of what coins do.
    """

    rows: Groups
    alike: Groups
    design: SampleDesign

    @cached_property
    def replicates(self) -> Replicates | None:
        """Those that tell how much anything varies."""
        own = self.design.replicates
        return own if own is not None and own.tells else None

    @cached_property
    def degrees_of_freedom(self) -> int:
        """Of a variance, without those that a model takes."""
        design = self.design
        if self.replicates is not None:
            return self.replicates.degrees_of_freedom
        asked = np.zeros(len(design.weights), np.bool_)
        asked[self.rows] = True
        return max(design.units.count_freedom(asked) - design.fitted, 0)

    def count_alike(self, weights: Floats) -> Floats:
        """What each of the rows that are alike counts: all together as many as there are people."""
        own = weights[self.rows]
        return np.bincount(self.alike, own * (len(own) / own.sum())).astype(np.float64)

    def spread(self, scores: Floats) -> Floats:
        """The covariance of the weighted sum of scores, one of each of the rows that are alike, shape (alike, p)."""
        design = self.design
        if self.replicates is not None:
            return self.fit_again(
                lambda counts: scores.T @ counts, scores.T @ self.count_alike(design.weights)
            )
        units, counted = design.units, self._counted
        pulls = take_out_margins(self._place(scores), design.weights, design.margins)
        _, endless = units.vary(units.add_up(pulls * self._scaled[:, None]), counted)
        free = int(counted.sum()) - len(np.unique(units.strata[counted]))
        return endless * (free / max(free - design.fitted, 1))

    def list_units(
        self, scores: Floats, place: int, bread: Floats, products: Floats | None = None
    ) -> CoefficientUnits:
        """What each unit tells of a coefficient, by the scores of rows; `bread` turns their sum into coefficients.

        `products` are of each row what `bread` was made from, times the coefficient's line of it, shape (alike, p); the
        products of scores unless given.
        """
        units, scaled = self.design.units, self._scaled
        direction = bread[place]
        towards = self._place(scores * (scores @ direction)[:, None])
        moved = towards if products is None else self._place(products)
        once = units.add_up(moved * scaled[:, None]) @ bread
        twice = units.add_up(towards * (scaled**2)[:, None])
        squares = np.bincount(self.alike, scaled[self.rows] ** 2, len(scores))
        size, counted = len(bread), self._counted
        between = np.zeros((2 * size, 2 * size))
        between[:size, size:] = between[size:, :size] = np.eye(size)
        between[size:, size:] = -(scores * squares[:, None]).T @ scores
        sizes = np.bincount(units.strata[counted], minlength=len(units.sizes))
        ties = np.concatenate([twice, once], axis=1)[counted]
        shares = (twice @ direction)[counted]
        return CoefficientUnits(
            shares, ties, between, units.strata[counted], sizes, np.ones(int(counted.sum()))
        )

    def judge_fits(self, table: Floats) -> tuple[Floats, Floats]:
        """Of what is fitted to replicate weights again, as `judge_replicates`; `table` is of rows that are alike."""
        replicates = self.replicates
        assert replicates is not None

        def weigh(number: int) -> Floats:
            own = replicates.make(number)[self.rows]
            return np.asarray(own * (len(own) / own.sum()))

        return judge_replicates(table[self.alike], self._scaled[self.rows], replicates, weigh)

    @property
    def _scaled(self) -> Floats:
        """Weights of all rows, so that those of the people used are as many as there are people."""
        weights = self.design.weights
        return np.asarray(weights * (len(self.rows) / float(weights[self.rows].sum())))

    @cached_property
    def _counted(self) -> NDArray[np.bool_]:
        """Units that count: where margins and strata tell nothing of the others, those of people who are used."""
        units = self.design.units
        if self.design.margins or self.design.strata is not None:
            return np.ones(len(units.strata), np.bool_)
        asked = np.zeros((len(self.design.weights), 1))
        asked[self.rows] = 1
        return np.asarray(units.add_up(asked)[:, 0] > 0)

    def _place(self, numbers: Floats) -> Floats:
        """Of every row of the sample: 0 of those that are not used."""
        found = np.zeros((len(self.design.weights), numbers.shape[1]))
        found[self.rows] = numbers[self.alike]
        return found

    def fit_again(self, fit: Callable[[Floats], Floats], coefficients: Floats) -> Floats:
        """The covariance of what is fitted, of its values under each of the replicate weights."""
        replicates = self.replicates
        assert replicates is not None
        values = [fit(self.count_alike(replicates.make(number))) for number in range(replicates.count)]
        return replicates.vary(np.array(values), coefficients)


def widen(drawn: Floats, alone: Floats, factors: Floats) -> Floats:
    """A covariance with variances `factors` times as large, and never below those of people who were drawn one by one.

    Rows, or fits to replicates, that happen to be alike make nothing certain.

    Parameters
    ----------
    drawn, alone : ndarray of float, shape (p, p)
        The covariance by how rows were drawn, and that of people drawn one by one.
    factors : ndarray of float, shape (p,)
    """
    own, least = np.diag(drawn), np.diag(alone)
    seen = own > _NOTHING * least
    told = np.where(np.outer(seen, seen), drawn, np.where(np.outer(~seen, ~seen), alone, 0.0))
    wider = np.sqrt(np.where(seen, np.maximum(factors, least / np.where(seen, own, 1.0)), 1.0))
    return np.asarray(told * np.outer(wider, wider))
