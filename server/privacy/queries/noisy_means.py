"""Means: ratios of a noisy sum and a noisy number of people; never of an exact one, unless that is public.

The number of people in a selection is as private as what they answered: dividing a noisy
sum by the exact count, redrawing until the result looks possible, or clamping in place of
noise on the count all lose more than they claim.
"""

import math
from dataclasses import dataclass

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
from server.privacy.noise import (
    gaussian,
    gaussian_interval,
    gaussian_variance,
    geometric,
    geometric_interval,
    geometric_variance,
)
from server.privacy.queries._answer import Answer, checked_neighbours

_HALF = 1 << 20
"""Steps from the midpoint of a mean's range to either bound."""


@dataclass(frozen=True)
class Mean:
    """The mean of a bounded number; made by `mean`."""

    low: float
    high: float
    epsilon: float
    neighbours: str
    delta: float = 0.0

    def sensitivity(self, neighbours: str | None = None) -> float:
        """Of the sum of distances from the midpoint, in the units of the number.

        Half the range when a person is added, all of it when one is replaced. The number
        of people changes by 1 when one is added, and is public where one is replaced.
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
        if self.delta:
            of_sum = math.sqrt(gaussian_variance(*self._gaussian)) / _HALF
            of_count = 0.0 if self._public else of_sum
        elif self._public:
            of_sum, of_count = math.sqrt(geometric_variance(self._steps(), self.epsilon)) / _HALF, 0.0
        else:
            of_sum = math.sqrt(geometric_variance(self._steps(), self.epsilon / 2)) / _HALF
            of_count = math.sqrt(geometric_variance(1, self.epsilon / 2))
        width = (self.high - self.low) / 2
        return min(math.hypot(of_sum * width, of_count * away) / people, self.high - self.low)

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
        # Limits of the sum and of the number of people hold together, where both are noisy.
        level = confidence if self._public else (1 + confidence) / 2
        (total, people), sums, sizes = self._perturb_sums(int(steps.sum()), steps.size, level)
        width = (self.high - self.low) / 2
        value = self._midpoint
        if people > 0:
            value += width * (total / people)
        interval = [self.low, self.high]
        if sizes[0] > 0:
            ends = [self._midpoint + width * (s / n) for s in sums for n in sizes]
            # Half a step more on either side for rounding each number to a whole number of steps.
            interval = [min(ends) - self._step / 2, max(ends) + self._step / 2]
        value = self._clamp_value(value)
        return Answer(
            value=np.asarray(value),
            interval=np.array([self._clamp_value(interval[0]), self._clamp_value(interval[1])]),
            standard_error=np.asarray(self.expected_error(max(int(people), 1), value)),
            epsilon=self.epsilon,
            neighbours=self.neighbours,
            confidence=confidence,
            delta=self.delta,
        )

    def _perturb_sums(
        self, steps: int, people: int, confidence: float
    ) -> tuple[tuple[float, float], tuple[float, float], tuple[float, float]]:
        """Noisy sum, in half ranges, and number of people, noisy unless it is public, with the limits of either."""
        if self._public:
            (noisy_sum,), ends = self._perturbed_sum(steps, confidence)
            return (noisy_sum, float(people)), ends, (float(people), float(people))
        if self.delta:
            # One draw for both, each in the same units, and so with the same noise.
            noisy = gaussian([steps, people * _HALF], *self._gaussian)
            limits = gaussian_interval(noisy, *self._gaussian, confidence) / _HALF
            found = noisy / _HALF
        else:
            half = self.epsilon / 2
            total, size = geometric(steps, self._steps(), half), geometric(people, 1, half)
            found = np.array([int(total) / _HALF, int(size)])
            of_sum = geometric_interval(total, self._steps(), half, confidence) / _HALF
            limits = np.stack([of_sum, geometric_interval(size, 1, half, confidence)])
        (low, high), (fewest, most) = limits.tolist()
        return (float(found[0]), float(found[1])), (low, high), (fewest, most)

    def _perturbed_sum(self, steps: int, confidence: float) -> tuple[tuple[float], tuple[float, float]]:
        """The noisy sum alone, in half ranges, for all of the loss, with its limits."""
        if self.delta:
            noisy = gaussian([steps], *self._gaussian)
            low, high = (gaussian_interval(noisy, *self._gaussian, confidence)[0] / _HALF).tolist()
            return (float(noisy[0]) / _HALF,), (low, high)
        total = geometric(steps, self._steps(), self.epsilon)
        low, high = (geometric_interval(total, self._steps(), self.epsilon, confidence) / _HALF).tolist()
        return (int(total) / _HALF,), (low, high)

    @property
    def _public(self) -> bool:
        """Whether the number of people is: neighbours have as many."""
        return self.neighbours == "bounded"

    @property
    def _gaussian(self) -> tuple[float, float, float]:
        """L2 sensitivity of the pair (sum, number of people), in steps, and the loss.

        A person added changes each by at most half a range, or one; one replaced the sum alone
        by a range.
        """
        return _HALF * (2.0 if self.neighbours == "bounded" else math.sqrt(2)), self.epsilon, self.delta

    @property
    def _midpoint(self) -> float:
        return self.low + (self.high - self.low) / 2

    @property
    def _step(self) -> float:
        return (self.high - self.low) / (2 * _HALF)

    def _steps(self) -> int:
        return 2 * _HALF if self.neighbours == "bounded" else _HALF

    def _clamp_value(self, value: float) -> float:
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


def mean(low: float, high: float, epsilon: float, neighbours: str = "unbounded", delta: float = 0.0) -> Mean:
    """The mean of a number between declared bounds: of a selection, or of people whose number is public.

    Parameters
    ----------
    low, high : float
        Declared without looking at the data; low < high.
    epsilon : float
        Privacy loss in nats: half for the sum, half for the number of people; all for the sum under
        bounded neighbours.
    neighbours : {"unbounded", "bounded"}
        Under "bounded" ones the number of people that `run` is given is public, and divides without
        noise: all people of a survey. Of a selection by anything private the number is private, too;
        only "unbounded" hides it.
    delta : float
        Failure probability. 0: geometric noise. In (0, 1): Gaussian noise, drawn for the sum and
        the number of people at once, so that they share the whole loss.

    Returns
    -------
    Mean
        Its `run` takes one number per person, in [low, high].

    Raises
    ------
    ValueError
        If the bounds are not finite and in order, or their distance is not finite; if delta is
        not in [0, 1); as `proportion`; in `run`, if a number is outside the bounds.

    Examples
    --------
    >>> query = mean(0.0, 100.0, epsilon=1.0)
    >>> query.sensitivity("unbounded"), query.sensitivity("bounded")
    (50.0, 100.0)
    >>> round(query.expected_error(people=1000, mean=50.0), 4)
    0.1414
    >>> round(mean(0.0, 100.0, epsilon=1.0, neighbours="bounded").expected_error(people=1000, mean=50.0), 4)
    0.1414
    """
    finite("low", low)
    finite("high", high)
    if not low < high:
        raise ValueError(f"low must be below high; they are {low!r} and {high!r}")
    if not 1e-293 <= float(high) - float(low) <= 1e280:
        raise ValueError(f"low and high must be 1e-293 to 1e280 apart; they are {low!r} and {high!r}")
    failure = probability("delta", delta)
    if failure == 1:
        raise ValueError(f"delta must be in [0, 1); it is {delta!r}")
    query = Mean(
        float(low), float(high), positive("epsilon", epsilon), checked_neighbours(None, neighbours), failure
    )
    query.expected_error(1)  # a noise that cannot be drawn is refused before there are data
    return query
