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

from server.privacy.estimators.sample_designs import Floats, Groups, SampleDesign
from server.privacy.estimators.sampled_ratios import take_out_margins


@dataclass(frozen=True, eq=False)
class RowSample:
    """Of each person that is used, the row of the sample, and which of the rows that are alike stands for it.

    A finite population is left aside: what goes with what is said of people like these, not of these alone.
    """

    rows: Groups
    alike: Groups
    design: SampleDesign

    @cached_property
    def degrees_of_freedom(self) -> int:
        """Of a variance, without those that a model takes."""
        design = self.design
        if design.replicates is not None:
            return design.replicates.degrees_of_freedom
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
        units, weights = design.units, design.weights
        scale = len(self.rows) / float(weights[self.rows].sum())
        pulls = np.zeros((len(weights), scores.shape[1]))
        pulls[self.rows] = scores[self.alike]
        pulls = take_out_margins(pulls, weights, design.margins) * (scale * weights)[:, None]
        counted = np.ones(len(units.strata), np.bool_)
        if not design.margins and design.strata is None:
            asked = np.zeros((len(weights), 1))
            asked[self.rows] = 1
            counted = units.add_up(asked)[:, 0] > 0
        _, endless = units.vary(units.add_up(pulls), counted)
        free = int(counted.sum()) - len(np.unique(units.strata[counted]))
        return endless * (free / max(free - design.fitted, 1))

    def fit_again(self, fit: Callable[[Floats], Floats], found: Floats) -> Floats:
        """The covariance of what is fitted, of its values under each of the replicate weights."""
        replicates = self.design.replicates
        assert replicates is not None
        values = [fit(self.count_alike(replicates.make(number))) for number in range(replicates.count)]
        return replicates.vary(np.array(values), found)
