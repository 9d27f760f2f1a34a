"""Proportions: ratios of two noisy counts, never of an exact one."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import positive, probability, whole_number
from server.privacy.noise import geometric, geometric_interval, geometric_variance
from server.privacy.queries._answer import Answer, checked_neighbours, checked_tally, yes_or_no


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
