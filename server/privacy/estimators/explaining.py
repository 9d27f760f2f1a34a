"""What a randomised answer goes with: odds ratios, intervals, average effects and tests, whatever the reports.

Where the likelihood of the reports has a maximum, and the profile of every coefficient two ends, it alone is used. Else
(some group reports "yes" less often than the coins alone would, a predictor tells the reports apart, few responded) a
weak prior is added to it, and the result says so. Where even then an interval holds 1 and is a hundred times as high as
low, the responses do not tell.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, logit

from server.privacy._checks import probability
from server.privacy.estimators.average_effects import EffectSetting, average_effect
from server.privacy.estimators.latent_likelihood import (
    Floats,
    Height,
    LatentData,
    Objective,
    add_prior,
    add_ridge,
    climb,
    log_odds,
)
from server.privacy.estimators.limits import normal_quantile
from server.privacy.estimators.profiles import HigherError, find_limit
from server.privacy.estimators.regression import LikelihoodRatioTest

MOST_COMBINATIONS = 64
"""Of the true answers to all predictors that were randomised."""
MOST_PARAMETERS = 80
TELLING = 100.0
"""An interval that holds 1 tells something if its upper limit is at most so many times its lower one."""
_PRECISE = 0.1
"""A standard error, of log odds, up to which plus and minus are as good as the profile."""
_FARTHEST_ODDS, _FLATTEST = 12.0, 0.01
_SHARES = (0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98)


@dataclass(frozen=True, eq=False)
class Predictor:
    """A predictor: the columns of it among the coefficients of the outcome, and the settings that its effects compare.

    `pairs` has, for each column, what it sets on both sides; `unit` is what one step of a column is.
    """

    columns: tuple[int, ...]
    pairs: tuple[tuple[EffectSetting, EffectSetting], ...]
    unit: float = 1.0


@dataclass(frozen=True)
class ExplainedEffect:
    """One coefficient.

    Attributes
    ----------
    coefficient, standard_error : float
        Of the log odds, for a step of one.
    interval : tuple of float
        Of the coefficient.
    method : {"profile", "wald"}
        Of the interval.
    tells : bool
        Whether the interval is narrow enough, or on one side of 0.
    average, average_error : float
        How much more likely a "yes" is on average, in points of 1, with all else as it is.
    """

    coefficient: float
    standard_error: float
    interval: tuple[float, float]
    method: Literal["profile", "wald"]
    tells: bool
    average: float
    average_error: float

    @property
    def odds_ratio(self) -> float:
        """For a step of one."""
        return math.exp(self.coefficient)

    @property
    def odds_ratio_interval(self) -> tuple[float, float]:
        """Of the odds ratio."""
        return math.exp(self.interval[0]), math.exp(self.interval[1])


@dataclass(frozen=True)
class Explanation:
    """What an answer goes with.

    Attributes
    ----------
    n : float
        Number of people, or their weight together.
    prior : bool
        Whether a weak prior was added, as the responses alone leave some coefficient without an end.
    log_likelihood : float
        Of what was maximised, in nats.
    effects : tuple of tuple of ExplainedEffect
        Of each predictor, one for each of its columns.
    tests : tuple of LikelihoodRatioTest
        Of each predictor, against the model without it.
    test : LikelihoodRatioTest
        Of all together.
    """

    n: float
    prior: bool
    log_likelihood: float
    effects: tuple[tuple[ExplainedEffect, ...], ...]
    tests: tuple[LikelihoodRatioTest, ...]
    test: LikelihoodRatioTest
    confidence: float


def explain(data: LatentData, predictors: Sequence[Predictor], confidence: float = 0.95) -> Explanation:
    """Fit the model, with a weak prior only where the reports alone do not do.

    Raises
    ------
    ValueError
        If there are too many combinations of answers, or coefficients, or a known predictor repeats others.
    """
    probability("confidence", confidence, open_interval=True)
    if len(data.dummies) > MOST_COMBINATIONS or data.parameters > MOST_PARAMETERS:
        raise ValueError(
            f"predictors must have at most {MOST_COMBINATIONS} combinations of randomised answers and "
            f"{MOST_PARAMETERS} coefficients in all; they have {len(data.dummies)} and {data.parameters}"
        )
    _refuse_repeated(data)
    plain = add_ridge(data)
    top = climb(plain, _start(data))
    if _is_finite(data, top):
        found = _explain(data, plain, top, predictors, confidence)
        if all(math.isfinite(end) for own in found.effects for one in own for end in one.interval):
            return found
    weak = add_prior(data)
    return replace(_explain(data, weak, climb(weak, _start(data)), predictors, confidence), prior=True)


def _refuse_repeated(data: LatentData) -> None:
    lengths = np.sqrt(data.counts @ data.known**2)
    alike = (data.known * data.counts[:, None]).T @ data.known / np.outer(lengths, lengths)
    if not lengths.all() or float(np.linalg.eigvalsh(alike)[0]) < 1e-10:
        raise ValueError("predictors must not repeat each other, nor be the same for everybody")


def _start(data: LatentData) -> Floats:
    """Everybody with one chance, found without any predictor; answers to predictors all equally often."""

    def value(share: float) -> float:
        return float(data.counts @ np.log(data.outcome @ np.array([1 - share, share])))

    theta = np.zeros(data.parameters)
    theta[0] = float(logit(max(_SHARES, key=value)))
    return theta


def _is_finite(data: LatentData, top: Height) -> bool:
    """Whether the likelihood has a maximum that is not at the end of the ridge."""
    steep = float(np.linalg.eigvalsh(top.information)[0]) > _FLATTEST
    return steep and float(np.abs(log_odds(data, top.theta)).max()) < _FARTHEST_ODDS


def _explain(
    data: LatentData, objective: Objective, top: Height, predictors: Sequence[Predictor], confidence: float
) -> Explanation:
    for _ in range(5):
        try:
            return _explain_at(data, objective, top, predictors, confidence)
        except HigherError as higher:
            top = climb(objective, higher.theta)
    raise ValueError("the likelihood of these reports has too many maxima; leave predictors out")


def _explain_at(
    data: LatentData, objective: Objective, top: Height, predictors: Sequence[Predictor], confidence: float
) -> Explanation:
    covariance = np.asarray(np.linalg.pinv(top.information, hermitian=True), dtype=np.float64)
    quantile = normal_quantile(confidence)
    effects = tuple(
        tuple(
            _effect(data, objective, top, covariance, predictor, number, quantile)
            for number in range(len(predictor.columns))
        )
        for predictor in predictors
    )
    every = [column for predictor in predictors for column in predictor.columns]
    tests = tuple(_compare(objective, top, predictor.columns) for predictor in predictors)
    return Explanation(
        n=float(data.counts.sum()),
        prior=False,
        log_likelihood=top.value,
        effects=effects,
        tests=tests,
        test=tests[0] if len(tests) == 1 else _compare(objective, top, every),
        confidence=confidence,
    )


def _effect(
    data: LatentData,
    objective: Objective,
    top: Height,
    covariance: Floats,
    predictor: Predictor,
    number: int,
    quantile: float,
) -> ExplainedEffect:
    place, unit = predictor.columns[number], predictor.unit
    value = float(top.theta[place])
    error = math.sqrt(max(float(covariance[place, place]), 0.0))
    method: Literal["profile", "wald"] = "wald" if 0 < error <= _PRECISE else "profile"
    steps = (-quantile * error, quantile * error)
    if method == "wald":
        low, high = value + steps[0], value + steps[1]
    else:
        length = min(max(quantile * error, 0.05), 3.0)
        low = find_limit(objective, top, place, -length, quantile)
        high = find_limit(objective, top, place, length, quantile)
    tells = not low < 0 < high or high - low <= math.log(TELLING)
    average, average_error = average_effect(data, top.theta, covariance, *predictor.pairs[number])
    return ExplainedEffect(
        value / unit,
        error / unit,
        (low / unit, high / unit),
        method,
        tells,
        average / unit,
        average_error / unit,
    )


def _compare(objective: Objective, top: Height, columns: Sequence[int]) -> LikelihoodRatioTest:
    """Against the model without these coefficients."""
    free: NDArray[np.bool_] = np.ones(top.theta.size, dtype=np.bool_)
    free[list(columns)] = False
    start = np.where(free, top.theta, 0.0)
    without = climb(objective, start, free)
    if without.value > top.value + 1e-6 * (1 + abs(top.value)):
        raise HigherError(without.theta)
    statistic = max(2 * (top.value - without.value), 0.0)
    return LikelihoodRatioTest(statistic, len(columns), float(chdtrc(len(columns), statistic)))
