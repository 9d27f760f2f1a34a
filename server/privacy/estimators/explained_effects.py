"""What an explanation of an answer found: the effects of predictors, their intervals, and tests."""

import math
from dataclasses import dataclass
from typing import Literal

from server.privacy.estimators.regression import LikelihoodRatioTest


@dataclass(frozen=True)
class ExplainedEffect:
    """One coefficient.

    Attributes
    ----------
    coefficient, standard_error : float
        Of the log odds, for a step of one.
    interval : tuple of float
        Of the coefficient; infinite on a side where the reports alone set no end.
    method : {"profile", "wald", "sandwich"}
        Of the interval.
    tells : bool
        Whether the interval is narrow enough, or on one side of 0.
    average, average_error : float
        How much more likely a "yes" is on average, in points of 1, with all else as it is; of an ordered outcome how
        many levels higher, of options how much more likely that one is.
    """

    coefficient: float
    standard_error: float
    interval: tuple[float, float]
    method: Literal["profile", "wald", "sandwich"]
    tells: bool
    average: float
    average_error: float

    @property
    def open(self) -> bool:
        """Whether the interval has no end on some side."""
        return any(math.isinf(end) for end in self.interval)

    @property
    def odds_ratio(self) -> float:
        """For a step of one; infinite where it is beyond every number, as of a predictor in tiny units."""
        return _raise_e(self.coefficient)

    @property
    def odds_ratio_interval(self) -> tuple[float, float]:
        """Of the odds ratio."""
        return _raise_e(self.interval[0]), _raise_e(self.interval[1])


def _raise_e(power: float) -> float:
    return math.exp(power) if power < 709 else math.inf  # the largest float is e^709.78


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
        Of what was maximised, in nats, but for what is said beforehand of the chances of other answers.
    effects : tuple of tuple of ExplainedEffect
        Of each predictor, one for each of its columns.
    tests : tuple of LikelihoodRatioTest
        Of each predictor, against the model without it; with a prior, the one with it or without it that says less.
    test : LikelihoodRatioTest
        Of all together.
    parallel : LikelihoodRatioTest or None
        Of an ordered outcome: whether predictors do the same at each step from a level to the next; None where the
        reports alone do not tell.
    """

    n: float
    prior: bool
    log_likelihood: float
    effects: tuple[tuple[ExplainedEffect, ...], ...]
    tests: tuple[LikelihoodRatioTest, ...]
    test: LikelihoodRatioTest
    confidence: float
    parallel: LikelihoodRatioTest | None = None
