"""The likelihood where predictors have combinations of answers, whose chances follow the slopes.

No matrix of second derivatives is made, however many they are. The logarithms of their chances move with the slopes, by
Newton steps whose equations conjugate gradients solve, from products of that matrix with vectors alone:
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

from server.privacy.estimators.combined_tally import CombinedTally, Places, Sheet
from server.privacy.estimators.outcome_levels import (
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

    `prior_weight` is how many people the prior of the chances of combinations tells as much as. Their logarithms are
    sums of the columns of `terms`, shape (K, r), times `logits`; without any, each combination has its own.
    """

    tally: CombinedTally
    dummies: Floats
    levels: int
    model: OutcomeModel
    on_step: Callable[[], None]
    prior_weight: float = ONE_PERSON
    terms: Floats | None = None

    @property
    def free(self) -> int:
        """How many logits there are for each known column."""
        return len(self.dummies) if self.terms is None else int(self.terms.shape[1])

    def spread(self, logits: Floats) -> Floats:
        """Of each combination, shape (r, ...) -> (K, ...)."""
        return logits if self.terms is None else np.asarray(np.tensordot(self.terms, logits, axes=1))

    def gather(self, towards: Floats) -> Floats:
        """A gradient by combinations as one by logits, shape (K, 1 + p) -> (r, 1 + p)."""
        return towards if self.terms is None else np.asarray(self.terms.T @ towards)

    @property
    def columns(self) -> int:
        """Of a linear predictor."""
        return int(self.tally.known.shape[1] + self.dummies.shape[1])

    def predict(self, slopes: Floats, places: Places) -> Floats:
        """Linear predictors by slopes of shape (M, columns): of people with these known values, shape (H, K, M)."""
        known = self.tally.known[places]
        width = known.shape[1]
        return np.asarray((known @ slopes[:, :width].T)[:, None] + self.dummies @ slopes[:, width:].T)

    def pull(self, weights: Floats, places: Places) -> Floats:
        """The sum of columns by weights, shape (H, K) -> (columns,)."""
        return np.concatenate(
            [weights.sum(axis=1) @ self.tally.known[places], weights.sum(axis=0) @ self.dummies]
        )

    def pull_products(self, weights: Floats, places: Places) -> Floats:
        """The sum of products of columns with each other by weights, shape (H, K) -> (columns, columns)."""
        known, dummies = self.tally.known[places], self.dummies
        width = known.shape[1]
        found = np.empty((self.columns, self.columns))
        found[:width, :width] = (known * weights.sum(axis=1)[:, None]).T @ known
        found[:width, width:] = known.T @ weights @ dummies
        found[width:, :width] = found[:width, width:].T
        found[width:, width:] = (dummies * weights.sum(axis=0)[:, None]).T @ dummies
        return found


@dataclass(frozen=True, eq=False)
class _SeenSheet:
    """A sheet at some slopes and chances."""

    sheet: Sheet
    first: tuple[Floats, ...]
    """Slopes of the chance of each report of the outcome, over it, shape (H, R, K)."""
    masses: Floats
    """The chance of each report of the outcome with each combination, shape (H, R, K)."""
    curved: Floats
    """Counts over squares of the chances of reports, shape (H, R, U, V)."""
    expected: Floats
    """People of each report of the outcome with each combination, given all reports, shape (H, R, K)."""
    pulled: tuple[Floats, ...]
    """Their slopes added up over reports of the outcome, shape (H, K): what stays the same from product to product."""
    bent: tuple[tuple[tuple[int, Floats], ...], ...]
    """Likewise of each slope those by others, where there are any."""


class CombinedState:
    """The log-likelihood at slopes and `logits`, shape (r, 1 + p), its gradient, and products with its curvature.

    `prior` is the part of its `value` that the reports do not have.
    """

    def __init__(self, model: CombinedModel, slopes: Floats, logits: Floats) -> None:
        model.on_step()
        self.model, self.slopes, self.logits = model, slopes, logits
        tally, size = model.tally, len(model.dummies)
        logs = model.spread(logits) @ tally.known.T
        logs = logs - logs.max(axis=0)
        logs = np.maximum(logs - np.log(np.exp(logs).sum(axis=0)), -600.0).T
        self.chances = np.exp(logs)
        self._prior = model.prior_weight * tally.masses / tally.masses.sum() / size
        self.prior = self.value = float(self._prior @ logs.sum(axis=1))
        self._seen = [self._see(sheet) for sheet in tally.sheets]
        pulls = np.zeros((model.levels - 1, model.columns))
        expected = np.zeros((len(tally.known), size))
        for seen in self._seen:
            places = seen.sheet.places
            expected[places] += seen.expected.sum(axis=1)
            pulls += [model.pull(pulled, places) for pulled in seen.pulled]
        people = self.chances * (tally.masses + self._prior * size)[:, None]
        self.towards = model.gather((expected + self._prior[:, None] - people).T @ tally.known)
        self._left = people - expected
        self._jacobian = find_jacobian(model.model, slopes, model.levels, model.columns)
        self.gradient = np.asarray(self._jacobian.T @ pulls.ravel())
        self._gaps = np.zeros((slopes.size, slopes.size))
        add_curvature(model.model, slopes, pulls[:, 0], self._gaps, model.levels, model.columns)

    def _see(self, sheet: Sheet) -> _SeenSheet:
        model = self.model
        slopes = find_predictors(model.model, self.slopes, model.levels, model.columns)
        shape = (len(sheet.places), len(sheet.outcome), len(model.dummies))
        every = np.repeat(model.predict(slopes, sheet.places), shape[1], axis=0)
        found = slope_levels(model.model, every, np.tile(sheet.outcome, (shape[0], 1)))

        masses = self.chances[sheet.places][:, None] * found.seen.reshape(shape)
        reported = np.maximum(sheet.see(masses), 1e-300)
        ratios = sheet.counts / reported
        self.value += float((sheet.counts * np.log(reported)).sum())
        first = tuple(each.reshape(shape) for each in found.first)
        expected = masses * sheet.look_back(ratios)
        pulled = tuple((expected * each).sum(axis=1) for each in first)
        bent = tuple(
            tuple(
                (other, (expected * second.reshape(shape)).sum(axis=1))
                for other in range(len(first))
                if (second := found.second(m, other)) is not None
            )
            for m in range(len(first))
        )
        return _SeenSheet(sheet, first, masses, ratios / reported, expected, pulled, bent)

    def multiply(self, slopes: Floats, logits: Floats, *, upwards: bool = True) -> tuple[Floats, Floats]:
        """Minus the second derivatives, times a step; `upwards` takes no curvature of a single chance for negative.

        At the top, where known values tell one set of groups, that is the same, but where chances are sums of terms: it
        is then left alone.
        """
        model, known = self.model, self.model.tally.known
        model.on_step()  # hundreds of products may be between two heights, each a good part of a second
        steps = (self._jacobian @ slopes).reshape(model.levels - 1, -1)
        centred = known @ model.spread(logits).T
        centred -= (self.chances * centred).sum(axis=1, keepdims=True)
        raised = upwards and model.terms is None
        by_logits = (np.maximum(self._left, self._prior[:, None]) if raised else self._left) * centred
        by_slopes = np.zeros_like(steps)
        for seen in self._seen:
            places = seen.sheet.places
            own, moved = centred[places], model.predict(steps, places)
            relative = own[:, None] + sum(each * moved[:, None, :, m] for m, each in enumerate(seen.first))
            back = seen.masses * seen.sheet.look_back(seen.curved * seen.sheet.see(seen.masses * relative))
            by_logits[places] += back.sum(axis=1)
            for m, slope in enumerate(seen.first):
                by_logits[places] -= seen.pulled[m] * moved[..., m]
                pull = (slope * back).sum(axis=1) - seen.pulled[m] * own
                for other, bent in seen.bent[m]:
                    pull -= bent * moved[..., other]
                by_slopes[m] += model.pull(pull, places)
        by_logits -= self.chances * by_logits.sum(axis=1, keepdims=True)
        return self._jacobian.T @ by_slopes.ravel() + self._gaps @ slopes, model.gather(by_logits.T @ known)

    def find_blocks(self) -> tuple[Floats, Floats]:
        """What is near the curvature by slopes, and by each of the logits, shape (r, 1 + p, 1 + p)."""
        model, known = self.model, self.model.tally.known
        alone = np.maximum(self._left, self._prior[:, None])
        bends = np.zeros((model.levels - 1, model.columns, model.levels - 1, model.columns))
        for seen in self._seen:
            places = seen.sheet.places
            alone[places] += (seen.masses**2 * seen.sheet.look_back_squared(seen.curved)).sum(axis=1)
            for m, slope in enumerate(seen.first):
                for other, beside in enumerate(seen.first):
                    weights = (seen.expected * slope * beside).sum(axis=1)
                    bends[m, :, other] += model.pull_products(weights, places)
        width = bends.shape[0] * bends.shape[1]
        by_slopes = self._jacobian.T @ bends.reshape(width, width) @ self._jacobian
        if model.terms is not None:
            alone = alone @ model.terms**2
        return by_slopes, np.einsum("hk,hi,hj->kij", alone, known, known)
