"""The likelihood where predictors have many combinations of answers, whose chances follow the slopes.

For more combinations than a matrix of second derivatives could be made of. The logarithms of their chances move with
the slopes, by Newton steps whose equations conjugate gradients solve, from products of that matrix with vectors alone:
each is a look forward, from answers to reports, and one back (`combined_tally`). So that no chance is 0, a prior is
added that tells as much as one person who gave each combination equally often.

References
----------
Roeder, K., Carroll, R. J. and Lindsay, B. G. (1996). A semiparametric mixture approach to case-control studies with
errors in covariables. *JASA* 91, 722-732.
Murphy, S. A. and van der Vaart, A. W. (2000). On profile likelihood. *JASA* 95, 449-465.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.privacy.estimators.combined_tally import CombinedTally, Sheet
from server.privacy.estimators.outcome_levels import (
    LevelSlopes,
    OutcomeModel,
    add_curvature,
    find_jacobian,
    find_predictors,
    slope_levels,
)

Floats = NDArray[np.float64]
ONE_PERSON = 1.0


@dataclass(frozen=True, eq=False)
class CombinedModel:
    """A tally, what each combination of answers adds to the log odds, and how the outcome's levels follow.

    `told` is how many people the prior of the chances of combinations tells as much as.
    """

    tally: CombinedTally
    dummies: Floats
    levels: int
    model: OutcomeModel
    on_step: Callable[[], None]
    told: float = ONE_PERSON

    @property
    def columns(self) -> int:
        """Of a linear predictor."""
        return int(self.tally.known.shape[1] + self.dummies.shape[1])

    def list_columns(self, place: int) -> Floats:
        """Of people with these known values, for each combination of answers, shape (K, columns)."""
        own = np.broadcast_to(self.tally.known[place], (len(self.dummies), self.tally.known.shape[1]))
        return np.concatenate([own, self.dummies], axis=1)


@dataclass(frozen=True, eq=False)
class _SeenSheet:
    """A sheet at some slopes and chances."""

    sheet: Sheet
    columns: Floats
    slopes: LevelSlopes
    curved: Floats
    """Counts over squares of the chances of reports, shape (R, U, V)."""
    expected: Floats
    """People of each report of the outcome with each combination, given all reports, shape (R, K)."""


class CombinedState:
    """The log-likelihood at slopes and `logits`, shape (K, 1 + p), its gradient, and products with its curvature."""

    def __init__(self, model: CombinedModel, slopes: Floats, logits: Floats) -> None:
        model.on_step()
        self.model, self.slopes, self.logits = model, slopes, logits
        tally, size = model.tally, len(model.dummies)
        logs = logits @ tally.known.T
        logs = logs - logs.max(axis=0)
        logs = np.maximum(logs - np.log(np.exp(logs).sum(axis=0)), -600.0).T
        self.chances = np.exp(logs)
        self._prior = model.told * tally.masses / tally.masses.sum() / size
        self.value = float(self._prior @ logs.sum(axis=1))
        self._seen = [self._see(sheet) for sheet in tally.sheets]
        pulls = np.zeros((model.levels - 1, model.columns))
        expected = np.zeros((len(tally.known), size))
        for seen in self._seen:
            expected[seen.sheet.place] += seen.expected.sum(axis=0)
            pulls += [(seen.expected * first).sum(axis=0) @ seen.columns for first in seen.slopes.first]
        people = self.chances * (tally.masses + self._prior * size)[:, None]
        self.towards = (expected + self._prior[:, None] - people).T @ tally.known
        self._left = people - expected
        self._jacobian = find_jacobian(model.model, slopes, model.levels, model.columns)
        self.gradient = np.asarray(self._jacobian.T @ pulls.ravel())
        self._gaps = np.zeros((slopes.size, slopes.size))
        add_curvature(model.model, slopes, pulls[:, 0], self._gaps, model.levels, model.columns)

    def _see(self, sheet: Sheet) -> _SeenSheet:
        model = self.model
        columns = model.list_columns(sheet.place)
        predictors = columns @ find_predictors(model.model, self.slopes, model.levels, model.columns).T
        every = np.broadcast_to(predictors, (len(sheet.outcome), *predictors.shape))
        slopes = slope_levels(model.model, every, sheet.outcome)
        masses = self.chances[sheet.place] * slopes.seen
        reported = np.maximum(sheet.see(masses), 1e-300)
        ratios = sheet.counts / reported
        self.value += float((sheet.counts * np.log(reported)).sum())
        return _SeenSheet(sheet, columns, slopes, ratios / reported, masses * sheet.look_back(ratios))

    def multiply(self, slopes: Floats, logits: Floats, *, upwards: bool = True) -> tuple[Floats, Floats]:
        """Minus the second derivatives, times a step; `upwards` takes no curvature of a single chance for negative.

        At the top, where known values tell one set of groups, that is the same.
        """
        model, known = self.model, self.model.tally.known
        model.on_step()  # hundreds of products may be between two heights, each a good part of a second
        steps = (self._jacobian @ slopes).reshape(model.levels - 1, -1)
        centred = known @ logits.T
        centred -= (self.chances * centred).sum(axis=1, keepdims=True)
        by_logits = (np.maximum(self._left, self._prior[:, None]) if upwards else self._left) * centred
        by_slopes = np.zeros_like(steps)
        for seen in self._seen:
            own, first = centred[seen.sheet.place], seen.slopes.first
            moved = seen.columns @ steps.T
            relative = sum(each * moved[:, m] for m, each in enumerate(first))
            masses = self.chances[seen.sheet.place] * seen.slopes.seen
            back = masses * seen.sheet.look_back(seen.curved * seen.sheet.see(masses * (own + relative)))
            by_logits[seen.sheet.place] += (back - seen.expected * relative).sum(axis=0)
            for m, slope in enumerate(first):
                pull = (slope * (back - seen.expected * own)).sum(axis=0)
                for other in range(len(first)):
                    second = seen.slopes.second(m, other)
                    if second is not None:
                        pull -= (seen.expected * second).sum(axis=0) * moved[:, other]
                by_slopes[m] += pull @ seen.columns
        by_logits -= self.chances * by_logits.sum(axis=1, keepdims=True)
        return self._jacobian.T @ by_slopes.ravel() + self._gaps @ slopes, by_logits.T @ known

    def find_blocks(self) -> tuple[Floats, Floats]:
        """What is near the curvature by slopes, and by the logits of each combination, shape (K, 1 + p, 1 + p)."""
        model, known = self.model, self.model.tally.known
        alone = np.maximum(self._left, self._prior[:, None])
        bends = np.zeros((model.levels - 1, model.columns, model.levels - 1, model.columns))
        for seen in self._seen:
            masses = self.chances[seen.sheet.place] * seen.slopes.seen
            alone[seen.sheet.place] += (masses**2 * seen.sheet.look_back_squared(seen.curved)).sum(axis=0)
            for m, slope in enumerate(seen.slopes.first):
                for other, beside in enumerate(seen.slopes.first):
                    weights = (seen.expected * slope * beside).sum(axis=0)
                    bends[m, :, other] += (seen.columns * weights[:, None]).T @ seen.columns
        width = bends.shape[0] * bends.shape[1]
        by_slopes = self._jacobian.T @ bends.reshape(width, width) @ self._jacobian
        return by_slopes, np.einsum("hk,hi,hj->kij", alone, known, known)
