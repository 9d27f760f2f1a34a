"""Proportions and means: ratios of two noisy numbers, never of an exact one.

The number of people in a selection is as private as what they answered: dividing a noisy
sum by the exact count, redrawing until the result looks possible, or clamping in place of
noise on the count all lose more than they claim.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import (
    any_array,
    finite,
    is_number,
    positive,
    probability,
    real_numbers,
    whole_number,
)
from server.privacy.noise import geometric, geometric_interval, geometric_variance
from server.privacy.queries._answer import Answer, checked_neighbours, checked_tally, yes_or_no

_HALF = 1 << 20
"""Steps from the midpoint of a mean's range to either bound."""


@dataclass(frozen=True)
class Proportion:
    """The share of people who have a property; made by `proportion`."""

    epsilon: float
    neighbours: str

    def sensitivity(self, neighbours: str | None = None) -> int:
        """Of the pair (people without, people with): 1, or 2 when a person is replaced."""
        return 2 if checked_neighbours(neighbours, self.neighbours) == "bounded" else 1

    def expected_error(self, people: int, share: float = 0.5) -> float:
        """Root mean squared error with so many people, to first order in 1 / people; at most 1."""
        whole_number("people", people, 1, 1 << 62)
        probability("share", share)
        variance = geometric_variance(self.sensitivity(), self.epsilon)
        return min(math.sqrt(variance * (share**2 + (1 - share) ** 2)) / people, 1.0)

    def tally(self, data: Any) -> NDArray[np.int64]:
        """People without and with the property, exactly. They must not be published."""
        members = yes_or_no("data", data)
        return np.array([members.size - members.sum(), members.sum()], dtype=np.int64)

    def release(self, counts: ArrayLike, confidence: float = 0.95) -> Answer:
        """Perturb the two exact counts, (without, with), and divide."""
        probability("confidence", confidence, open_interval=True)
        noisy = geometric(checked_tally(counts, (2,)), self.sensitivity(), self.epsilon)
        no, yes = noisy.tolist()
        value = min(max(yes / (no + yes), 0.0), 1.0) if no + yes > 0 else 0.5
        # Both true counts are in their limits at once with this confidence, and not negative.
        limits = geometric_interval(noisy, self.sensitivity(), self.epsilon, confidence, simultaneous=True)
        (no_low, no_high), (yes_low, yes_high) = np.maximum(limits, 0).tolist()
        low = yes_low / (yes_low + no_high) if yes_low > 0 else 0.0
        high = yes_high / (yes_high + no_low) if no_low > 0 and yes_high > 0 else float(no_low <= 0)
        people = max(no + yes, 1)
        return Answer(
            value=np.asarray(value),
            interval=np.array([min(low, value), max(high, value)]),
            standard_error=np.asarray(self.expected_error(people, value)),
            epsilon=self.epsilon,
            neighbours=self.neighbours,
            confidence=confidence,
        )

    def run(self, data: Any, confidence: float = 0.95) -> Answer:
        """Count True and False, one per person, perturb both and divide."""
        return self.release(self.tally(data), confidence)


@dataclass(frozen=True)
class Mean:
    """The mean of a bounded number; made by `mean`."""

    low: float
    high: float
    epsilon: float
    neighbours: str

    def sensitivity(self, neighbours: str | None = None) -> float:
        """Of the sum of distances from the midpoint, in the units of the number.

        Half the range when a person is added, all of it when one is replaced. The number
        of people in the selection changes by 1 under both.
        """
        replaced = checked_neighbours(neighbours, self.neighbours) == "bounded"
        return self.high - self.low if replaced else (self.high - self.low) / 2

    def expected_error(self, people: int, mean: float | None = None) -> float:
        """Root mean squared error with so many people, to first order in 1 / people.

        Without a mean it is the worst one, on a bound. At most the length of the range.
        """
        whole_number("people", people, 1, 1 << 62)
        if mean is not None and not (is_number(mean) and self.low <= mean <= self.high):
            raise ValueError(f"mean must be in [{self.low}, {self.high}]; it is {mean!r}")
        away = (self.high - self.low) / 2 if mean is None else abs(mean - self._midpoint)
        of_sum = math.sqrt(geometric_variance(self._steps(), self.epsilon / 2)) * self._step
        of_count = math.sqrt(geometric_variance(1, self.epsilon / 2)) * away
        return min(math.hypot(of_sum, of_count) / people, self.high - self.low)

    def run(self, data: ArrayLike, confidence: float = 0.95) -> Answer:
        """Noisy sum about the midpoint over noisy count, clamped; the midpoint if nobody seems there.

        Parameters
        ----------
        data : array_like of float, shape (n,)
            One number per person selected, in [low, high]; may be empty.
        confidence : float
            In (0, 1).
        """
        probability("confidence", confidence, open_interval=True)
        steps = self._in_steps(data)
        half = self.epsilon / 2
        total = geometric(steps.sum(), self._steps(), half)
        people = geometric(steps.size, 1, half)
        value = self._midpoint
        if people > 0:
            value += self._step * int(total) / int(people)
        each = (1 + confidence) / 2
        sums = geometric_interval(total, self._steps(), half, each) * self._step
        sizes = geometric_interval(people, 1, half, each)
        interval = [self.low, self.high]
        if sizes[0] > 0:
            ends = [self._midpoint + float(s) / int(n) for s in sums for n in sizes]
            # Half a step more on either side for rounding each number to a whole number of steps.
            interval = [min(ends) - self._step / 2, max(ends) + self._step / 2]
        value = self._clamped(value)
        return Answer(
            value=np.asarray(value),
            interval=np.array([self._clamped(interval[0]), self._clamped(interval[1])]),
            standard_error=np.asarray(self.expected_error(max(int(people), 1), value)),
            epsilon=self.epsilon,
            neighbours=self.neighbours,
            confidence=confidence,
        )

    @property
    def _midpoint(self) -> float:
        return self.low + (self.high - self.low) / 2

    @property
    def _step(self) -> float:
        return (self.high - self.low) / (2 * _HALF)

    def _steps(self) -> int:
        return 2 * _HALF if self.neighbours == "bounded" else _HALF

    def _clamped(self, value: float) -> float:
        return min(max(value, self.low), self.high)

    def _in_steps(self, data: ArrayLike) -> NDArray[np.int64]:
        """Each number as a whole number of steps from the midpoint, never more than `_HALF`.

        The sum of whole numbers is exact, and rounding happens within one person's number,
        so the sensitivity is that of whole numbers; a sum of floats has no such bound.
        """
        if any_array("data", data).shape == (0,):
            return np.zeros(0, dtype=np.int64)
        values = real_numbers("data", data)
        if values.ndim != 1:
            raise ValueError(f"data must be one vector; their shape is {values.shape}")
        outside = (values < self.low) | (values > self.high)
        if outside.any():
            raise ValueError(
                f"data must be in [{self.low}, {self.high}]; one is {float(values[outside][0])!r}"
            )
        steps = np.rint((values - self._midpoint) / self._step)
        return np.clip(steps, -_HALF, _HALF).astype(np.int64)


def proportion(epsilon: float, neighbours: str = "unbounded") -> Proportion:
    """The share of people who have a property, among a selection of unknown size.

    People with and people without are two cells of a histogram, so each gets noise for
    all of epsilon (unbounded; for half of it, bounded): half the variance of a mean of
    zeros and ones by halves.

    Parameters
    ----------
    epsilon : float
        Privacy loss in nats.
    neighbours : {"unbounded", "bounded"}

    Returns
    -------
    Proportion
        Its `run` takes one vector of True or False per person. 1/2 if nobody seems there.

    Raises
    ------
    ValueError
        If epsilon is not positive and finite, or neighbours is another word; in `run`, if
        an entry is neither True nor False.

    Examples
    --------
    >>> round(proportion(epsilon=1.0).expected_error(people=1000, share=0.3), 6)
    0.001033
    """
    return Proportion(positive("epsilon", epsilon), checked_neighbours(None, neighbours))


def mean(low: float, high: float, epsilon: float, neighbours: str = "unbounded") -> Mean:
    """The mean of a number between declared bounds, among a selection of unknown size.

    Parameters
    ----------
    low, high : float
        Declared without looking at the data; low < high.
    epsilon : float
        Privacy loss in nats: half for the sum, half for the number of people.
    neighbours : {"unbounded", "bounded"}

    Returns
    -------
    Mean
        Its `run` takes one number per person, in [low, high].

    Raises
    ------
    ValueError
        If the bounds are not finite and in order, or their distance is not finite; as
        `proportion`; in `run`, if a number is outside the bounds.

    Examples
    --------
    >>> query = mean(0.0, 100.0, epsilon=1.0)
    >>> query.sensitivity("unbounded"), query.sensitivity("bounded")
    (50.0, 100.0)
    >>> round(query.expected_error(people=1000, mean=50.0), 4)
    0.1414
    """
    finite("low", low)
    finite("high", high)
    if not low < high:
        raise ValueError(f"low must be below high; they are {low!r} and {high!r}")
    if not 1e-293 <= float(high) - float(low) <= 1e280:
        raise ValueError(f"low and high must be 1e-293 to 1e280 apart; they are {low!r} and {high!r}")
    return Mean(float(low), float(high), positive("epsilon", epsilon), checked_neighbours(None, neighbours))
