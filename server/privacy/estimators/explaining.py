"""What a randomised answer goes with: odds ratios, intervals, average effects and tests, whatever the reports.

Where the likelihood of the reports has a maximum, and the profile of every coefficient two ends, it alone is used. Else
(some group reports "yes" less often than the coins alone would, a predictor tells the reports apart, few responded) a
weak prior is added to it, and the result says so; an interval then goes as far as with the prior or without it, the
farther of both, and has no end where the reports alone set none; a p value is the larger of both. Where an interval
holds 1 and is a hundred times as high as low, the responses do not tell. Rows that were drawn unevenly vary by how they
were drawn: intervals and tests are then those of the likelihood, as much wider as that makes the coefficients vary (Rao
and Scott 1984; Lumley and Scott 2014).

References
----------
Rao, J. N. K. and Scott, A. J. (1984). On chi-squared tests for multiway contingency tables. *Ann. Statist.* 12, 46-60.
Lumley, T. and Scott, A. (2014). Tests for regression models fitted to survey data. *Aust. N. Z. J. Stat.* 56, 1-14.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from server.privacy._checks import probability
from server.privacy.estimators.average_effects import EffectSetting, average_effect
from server.privacy.estimators.climbing import Objective, add_prior, add_ridge, bend, climb, climb_far
from server.privacy.estimators.coefficient_spread import CoefficientSpread, measure_spread
from server.privacy.estimators.explained_effects import ExplainedEffect, Explanation
from server.privacy.estimators.explanation_limits import refuse_repeated, refuse_too_many
from server.privacy.estimators.latent_likelihood import Floats, Height, LatentData, find_log_odds
from server.privacy.estimators.open_profiles import OpenProfile
from server.privacy.estimators.parallel_slopes import compare_slopes
from server.privacy.estimators.profiles import (
    ENOUGH,
    HigherError,
    find_limit,
    is_higher,
    leave_out,
    look_farthest,
)
from server.privacy.estimators.regression import LikelihoodRatioTest
from server.privacy.estimators.sampled_rows import RowSample
from server.privacy.estimators.starting import find_start, list_lookouts

TELLING = 100.0
"""An interval that holds 1 tells something if its upper limit is at most so many times its lower one."""
_PRECISE = 0.1
"""A standard error, of log odds, up to which plus and minus are as good as the profile."""
_FARTHEST_ODDS, _FLATTEST = 12.0, 0.01


class _NoEndError(Exception):
    """The responses alone leave a coefficient without an end."""


@dataclass(frozen=True, eq=False)
class Predictor:
    """A predictor: the columns of it among the coefficients of the outcome, and the settings that its effects compare.

    `pairs` has, for each column, what it sets on both sides, and `scores` what each level of the outcome counts in its
    average effect: 0, 1, 2, ... where nothing is given. `unit` is what one step of a column is.
    """

    columns: tuple[int, ...]
    pairs: tuple[tuple[EffectSetting, EffectSetting], ...]
    unit: float = 1.0
    scores: tuple[Floats, ...] = ()


def explain(
    data: LatentData,
    predictors: Sequence[Predictor],
    confidence: float = 0.95,
    sample: RowSample | None = None,
) -> Explanation:
    """Fit the model, with a weak prior only where the reports alone do not do.

    With a sample the counts of `data` are its weights, and intervals and tests those of how it was drawn.

    Raises
    ------
    ValueError
        If there are too many combinations of answers, or coefficients, or a known predictor repeats others, or too few
        clusters or rows were drawn.
    """
    probability("confidence", confidence, open_interval=True)
    # Column by column: each is multiplied by numbers of rows many times, and read from one end to the other.
    # Of rows that were drawn unevenly, what each tells of all coefficients is judged, where it can be written out.
    data = replace(
        data,
        known=np.asfortranarray(data.known),
        outcome=np.asfortranarray(data.outcome),
        written_out=data.written_out or sample is not None,
    )
    refuse_too_many(data)
    refuse_repeated(data)
    plain = add_ridge(data)
    start = find_start(data)
    top = bend(plain, climb_far(plain, start))
    if _is_finite(data, top):
        with suppress(_NoEndError):
            found = _Fit(data, add_ridge, predictors, confidence, sample).explain(top)
            if all(math.isfinite(end) for own in found.effects for one in own for end in one.interval):
                return found
    weak = climb_far(add_prior(data), start)
    alone = OpenProfile(plain, (top.theta, weak.theta), list_lookouts(data))
    fit = _Fit(data, add_prior, predictors, confidence, sample, alone)
    return replace(fit.explain(weak), prior=True)


def _is_finite(data: LatentData, top: Height) -> bool:
    """Whether the likelihood has a maximum that is not at the end of the ridge."""
    steep = float(np.linalg.eigvalsh(top.information)[0]) > _FLATTEST
    if data.combined:
        data = replace(data, known=data.search.model.tally.known)
    return steep and float(np.abs(find_log_odds(data, top.theta)).max()) < _FARTHEST_ODDS


@dataclass(frozen=True, eq=False)
class _Fit:
    """A model to be explained at its maximum; with a prior, `alone` is the likelihood without it."""

    data: LatentData
    add: Callable[[LatentData], Objective]
    predictors: Sequence[Predictor]
    confidence: float
    sample: RowSample | None
    alone: OpenProfile | None = None

    def explain(self, top: Height) -> Explanation:
        """At the maximum, or at a higher one that is found beside it."""
        for _ in range(5):
            try:
                return self._explain_at(top)
            except HigherError as higher:
                top = climb(self.add(self.data), higher.theta)
        raise ValueError("the likelihood of these reports has too many maxima; leave predictors out")

    def _explain_at(self, top: Height) -> Explanation:
        top = bend(self.add(self.data), top)
        spread = measure_spread(self.data, self.add, top, self.confidence, self.sample)
        effects = tuple(
            tuple(self._measure(top, spread, predictor, number) for number in range(len(predictor.columns)))
            for predictor in self.predictors
        )
        every = [column for predictor in self.predictors for column in predictor.columns]
        tests = tuple(self._compare(top, spread, predictor.columns) for predictor in self.predictors)
        return Explanation(
            n=float(self.data.counts.sum()),
            prior=False,
            log_likelihood=top.value - (self.data.search.measured.state.prior if self.data.combined else 0.0),
            effects=effects,
            tests=tests,
            test=tests[0] if len(tests) == 1 else self._compare(top, spread, every),
            confidence=self.confidence,
            parallel=self._compare_steps(top),
        )

    def _measure(
        self, top: Height, spread: CoefficientSpread, predictor: Predictor, number: int
    ) -> ExplainedEffect:
        place, unit = predictor.columns[number], predictor.unit
        value, error, quantile = float(top.theta[place]), spread.error(place), spread.find_quantile(place)
        method: Literal["profile", "wald"] = "wald" if 0 < error <= _PRECISE else "profile"
        if method == "wald":
            low, high = value - quantile * error, value + quantile * error
        else:
            length = min(max(quantile * error, 0.05), 3.0)
            lost = quantile * spread.inflate(place)
            low, high = (self._find_limit(top, place, step, lost) for step in (-length, length))
        tells = not low < 0 < high or high - low <= math.log(TELLING)
        scores = (
            predictor.scores[number] if predictor.scores else np.arange(self.data.levels, dtype=np.float64)
        )
        average, average_error = average_effect(
            self.data, top.theta, spread, *predictor.pairs[number], scores
        )
        return ExplainedEffect(
            value / unit,
            error / unit,
            (low / unit, high / unit),
            method,
            tells,
            average / unit,
            average_error / unit,
        )

    def _find_limit(self, top: Height, place: int, step: float, lost: float) -> float:
        """On the side of `step`: with a prior, the one farther out of its own and that of the reports alone."""
        objective = self.add(self.data)
        if self.alone is not None:
            if self.alone.is_open(top, place, step, lost):
                return math.copysign(math.inf, step)
            return self.alone.widen(find_limit(objective, top, place, step, lost), top, place, step, lost)
        far = look_farthest(objective, top, place, step, top.value - lost**2 / 2)
        if is_higher(far, top):
            raise HigherError(far.theta)
        if math.sqrt(max(2 * (top.value - far.value), 0.0)) < lost:
            end = math.copysign(math.inf, step)
        else:
            end = find_limit(objective, top, place, step, lost)
        if math.isinf(end) and self.data.combined:  # seconds of work for what is done again with a prior
            raise _NoEndError
        return end

    def _compare_steps(self, top: Height) -> LikelihoodRatioTest | None:
        """Where the reports alone have a maximum; with a prior too, the test is at that one."""
        if self.alone is not None:
            top = bend(add_ridge(self.data), self.alone.top)
            if not _is_finite(self.data, top):
                return None
        return compare_slopes(self.data, top.theta, self.sample)

    def _compare(self, top: Height, spread: CoefficientSpread, columns: Sequence[int]) -> LikelihoodRatioTest:
        """Against the model without these coefficients."""
        free: NDArray[np.bool_] = np.ones(top.theta.size, dtype=np.bool_)
        free[list(columns)] = False
        without = climb(self.add(self.data), leave_out(top, free), free, least=ENOUGH)
        if is_higher(without, top):
            raise HigherError(without.theta)
        lost = max(2 * (top.value - without.value), 0.0)
        if self.alone is not None:
            lost = min(lost, self.alone.lose(without.theta, free))
        return spread.weigh(lost, columns)
