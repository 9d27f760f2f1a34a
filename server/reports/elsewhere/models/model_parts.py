"""What a model of data from elsewhere is made of, and what it finds."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.inputs import N_
from server.privacy.estimators.sampled_moments import MomentEstimate, Moments
from server.privacy.estimators.sampled_ratios import WaldTest
from server.reports.elsewhere.models.drawn_rows import DrawnRows
from server.reports.elsewhere.models.model_columns import ModelColumn

UNLIKELY = 0.05
"""A p value below it is said to hardly be chance."""
_FEW = 5


@dataclass(frozen=True)
class ModelEstimate:
    """A number that a model says.

    Attributes
    ----------
    name : str
        In JSON and on the terminal: small letters and underscores.
    label : str
        In the report: a message, to be translated.
    value, standard_error : float
        Not cut at what is possible; infinite where the rows do not tell.
    interval : tuple of float
        Lower and upper limit; infinite where it has no end.
    low, high : float
        What is possible: a value outside is remarked on.
    share : bool
        Whether it is a fraction, which the report shows in percent; else a number in its own unit.
    """

    name: str
    label: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    low: float = 0.0
    high: float = 1.0
    share: bool = True

    @property
    def possible(self) -> bool:
        """Whether the value, but for rounding, can be true; also where there is none."""
        near = 1e-9 * (self.high - self.low) if math.isfinite(self.high - self.low) else 0.0
        return math.isnan(self.value) or self.low - near <= self.value <= self.high + near


@dataclass(frozen=True)
class ModelTest:
    """A test: `label` says of what, `verdict` what it then says (both messages). `letter` is that of its statistic.

    A statistic of NaN is not shown: a p value may be exact. `denominator` are the degrees of freedom of the denominator
    of F; None of others.
    """

    name: str
    label: str
    letter: str
    statistic: float
    degrees_of_freedom: int
    p_value: float
    verdict: str
    denominator: int | None = None


@dataclass(frozen=True)
class ModelFinding:
    """What a model finds; `remarks` are messages.

    `freedom` are the degrees of freedom of Student's t, of rows that count as they were drawn; None of others.
    """

    estimates: tuple[ModelEstimate, ...]
    tests: tuple[ModelTest, ...] = ()
    remarks: tuple[str, ...] = ()
    freedom: int | None = None


def list_estimates(
    labels: Sequence[tuple[str, str]], values: ArrayLike, errors: ArrayLike, intervals: ArrayLike
) -> tuple[ModelEstimate, ...]:
    """Shares by their names and labels, from arrays of as many values and errors, and of their limits."""
    numbers = (np.asarray(each, dtype=np.float64).tolist() for each in (values, errors, intervals))
    return tuple(
        ModelEstimate(name, label, value, error, (low, high))
        for (name, label), value, error, (low, high) in zip(labels, *numbers, strict=True)
    )


def state_moment(
    name: str,
    label: str,
    estimate: MomentEstimate,
    low: float = 0.0,
    high: float = 1.0,
    *,
    share: bool = True,
) -> ModelEstimate:
    """A number of rows that count as they were drawn."""
    return ModelEstimate(
        name, label, estimate.value, estimate.standard_error, estimate.interval, low, high, share
    )


def list_moments(
    labels: Sequence[tuple[str, str]], moments: Moments, confidence: float
) -> tuple[ModelEstimate, ...]:
    """Shares by their names and labels."""
    return tuple(
        state_moment(name, label, moments.measure(place, confidence))
        for place, (name, label) in enumerate(labels)
    )


def state_wald_test(
    name: str, label: str, wald_test: WaldTest, unlikely: str, likely: str
) -> list[ModelTest]:
    """A test of rows that count as they were drawn, with the verdict that fits; none where these are too few."""
    if math.isnan(wald_test.p_value):
        return []
    numerator, denominator = wald_test.degrees_of_freedom
    verdict = unlikely if wald_test.p_value < UNLIKELY else likely
    return [
        ModelTest(
            name, label, "F", wald_test.statistic, numerator, wald_test.p_value, verdict, round(denominator)
        )
    ]


def list_few(counts: NDArray[np.int64]) -> list[str]:
    """What must be known where an answer was rarely given in some group: the remark, or nothing."""
    if counts.min() >= _FEW:
        return []
    return [
        N_(
            "Some answer was given fewer than five times in a group: intervals and tests hold less often than they say."
        )
    ]


class Model(Protocol):
    """A model as a study file states it."""

    @property
    def columns(self) -> Mapping[str, ModelColumn]:
        """What it reads, by role."""
        ...

    def estimate(
        self,
        rows: Mapping[str, NDArray[np.float64]],
        field: str,
        confidence: float,
        drawn: DrawnRows | None = None,
    ) -> ModelFinding:
        """Estimate from the values of the rows that have one in every column, by role: of texts their codes.

        With `drawn` rows count, and vary, as they were drawn; else each counts once.

        Raises
        ------
        InputError
            Below `field`, the model's own, if these rows cannot be of it: more items than its list has, say.
        """
        ...


@dataclass(frozen=True)
class ModelKind:
    """A kind of model: `name` in study files; `title` and `assumes`, a plain sentence, are messages.

    `source` cites who wrote of it first. `read` makes it of what a study file states, which the schema has passed, at a
    field, and refuses what the schema cannot.
    """

    name: str
    title: str
    assumes: str
    source: str
    read: Callable[[Mapping[str, Any], str], Model]


@dataclass(frozen=True)
class ModelSpecification:
    """A model in a study file. `text` is what was asked, or its name."""

    kind: ModelKind
    name: str
    text: str
    model: Model


@dataclass(frozen=True)
class FittedModel:
    """What a model found in so many rows; others had no cell, or one to leave out, in some column of it.

    `groups` are how the table calls each group, and its rows; none of a model without.
    """

    specification: ModelSpecification
    used: int
    left_out: int
    groups: tuple[tuple[str, int], ...]
    finding: ModelFinding
