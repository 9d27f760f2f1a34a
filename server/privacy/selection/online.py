"""The sparse vector technique while questions come one at a time, each chosen after the answers to those before it.

The price is paid when it begins, whatever is asked after. What has to be kept secret in between is the
noise of the threshold: shown, or drawn anew for the same threshold, it would cost more than was paid.
"""

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from server.privacy._checks import flag, positive, probability, whole_number
from server.privacy.accounting import optimal
from server.privacy.noise import LARGEST, geometric, geometric_interval, geometric_variance
from server.privacy.selection.threshold import best_split

_HALVINGS = 60


@dataclass(frozen=True)
class SearchNoise:
    """How noisy the comparisons of a search are, and what all of them cost.

    Attributes
    ----------
    positives : int
        c, the number of answers above after which nothing more is said.
    epsilon, delta : float
        Of the whole search; delta is 0 where granting one would not have made it more exact.
    redrawn : bool
        Whether the threshold gets new noise after each answer above, as c searches for one each; else
        one noise serves for all of them.
    threshold_loss : float
        Of each noise on the threshold: its scale is sensitivity / threshold_loss.
    answers_loss : Fraction
        The scale of the noise on an answer is factor sensitivity / answers_loss.
    factor : int
        2c with one noise on the threshold, 2 with a new one each time; half of that when monotone.
    """

    positives: int
    epsilon: float
    delta: float
    redrawn: bool
    threshold_loss: float
    answers_loss: Fraction
    factor: int

    def variance(self, sensitivity: float) -> float:
        """Of a comparison: the noise on the threshold and that on the answer together."""
        steps = Fraction(positive("sensitivity", sensitivity))
        return geometric_variance(steps, self.threshold_loss) + geometric_variance(
            steps * self.factor, self.answers_loss
        )

    def error(self, answers: int, failure: float, sensitivity: float) -> int:
        """How far from the threshold answers are told right, all of so many of them except with chance `failure`.

        Half of the failure goes to the threshold, half to the answers; the noise of all of each is independent.

        Raises
        ------
        ValueError
            If answers is below 1, failure is outside (0, 1), or the sensitivity is not positive.
        """
        whole_number("answers", answers, 1)
        confidence = 1 - probability("failure", failure, open_interval=True) / 2
        steps = Fraction(positive("sensitivity", sensitivity))
        thresholds = min(self.positives, answers) if self.redrawn else 1
        return 1 + sum(
            int(geometric_interval(0, each, loss, confidence ** (1 / count))[1])
            for each, loss, count in (
                (steps, Fraction(self.threshold_loss), thresholds),
                (steps * self.factor, self.answers_loss, answers),
            )
        )


@dataclass(frozen=True)
class OngoingSearch:
    """A search between two questions. Secret: who sees its `offset` learns more than was paid for.

    Attributes
    ----------
    noise : SearchNoise
    sensitivity : float
        The most by which one person changes any answer.
    offset : int
        The noise on the threshold.
    left : int
        How many more answers may be said to be above.
    """

    noise: SearchNoise
    sensitivity: float
    offset: int = field(repr=False)
    left: int

    def compare(self, excess: int) -> tuple[bool, "OngoingSearch"]:
        """Whether an answer is above, and the search after that.

        Parameters
        ----------
        excess : int
            The true answer less its threshold, which is public and may be another one for each question.

        Raises
        ------
        ValueError
            If as many as there may be were above, or the excess is no whole number in [-2**62, 2**62].
        """
        difference = whole_number("excess", excess, -LARGEST, LARGEST)
        if not self.left:
            raise ValueError(
                f"at most {self.noise.positives} answers may be told to be above; so many were already"
            )
        noise = self.noise
        noisy = geometric(np.array(difference), Fraction(self.sensitivity) * noise.factor, noise.answers_loss)
        if noisy < self.offset:
            return False, self
        after = replace(self, left=self.left - 1)
        return True, after._renew() if noise.redrawn and after.left else after

    def _renew(self) -> "OngoingSearch":
        return replace(self, offset=int(geometric(0, self.sensitivity, self.noise.threshold_loss)))


def plan_search(positives: int, epsilon: float, delta: float = 0.0, monotone: bool = False) -> SearchNoise:
    """The noise of a search that costs no more than epsilon and delta, whatever and how much is asked.

    Parameters
    ----------
    positives : int
        c, how many answers may be said to be above; from 1 to 1,000.
    epsilon : float
        Privacy loss of the whole search, in nats.
    delta : float
        Failure probability that may be granted, in [0, 1). With one, the search may be made of c searches for one
        answer each, whose losses add up to epsilon by `optimal`; it is where that is more exact.
    monotone : bool
        Whether one person moves all answers the same way (counts, unbounded neighbours).

    Returns
    -------
    SearchNoise

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Lyu, Su and Li (2017), algorithm 7 and theorem 4; Dwork and Roth (2014), algorithm 2 (a new threshold after each
    answer above); Kairouz, Oh and Viswanath (2015) for the composition of these.

    Examples
    --------
    >>> plan_search(5, 1.0, delta=1e-6).redrawn, plan_search(200, 1.0, delta=1e-6).redrawn
    (False, True)
    """
    whole_number("positives", positives, 1, 1000)
    granted = probability("delta", delta)
    once = 1 if flag("monotone", monotone) else 2
    first, second = best_split(positives, epsilon, monotone)
    single = SearchNoise(positives, float(epsilon), 0.0, False, first, second, once * positives)
    if not 0 < granted < 1 or positives == 1:
        return single
    first, second = best_split(1, _loss_of_one(positives, float(epsilon), granted), monotone)
    several = SearchNoise(positives, float(epsilon), granted, True, first, second, once)
    return min(single, several, key=lambda noise: noise.variance(1.0))


def begin_search(noise: SearchNoise, sensitivity: float) -> OngoingSearch:
    """Draw the noise on the threshold of a search, which is paid for from here on.

    Parameters
    ----------
    noise : SearchNoise
        What `plan_search` found.
    sensitivity : float
        The most by which one person changes any answer that will be asked for, above 0.

    Raises
    ------
    ValueError
        If the noise is not what `plan_search` gives, or the sensitivity is not positive and finite.

    Examples
    --------
    >>> search = begin_search(plan_search(2, 1.0), sensitivity=1)
    >>> above, search = search.compare(5000 - 1000)
    >>> above, search.left
    (True, 1)
    """
    if not isinstance(noise, SearchNoise):
        raise ValueError(f"noise must be what plan_search gives; it is {noise!r}")
    steps = positive("sensitivity", sensitivity)
    return OngoingSearch(noise, steps, int(geometric(0, steps, noise.threshold_loss)), noise.positives)


def _loss_of_one(positives: int, epsilon: float, delta: float) -> float:
    """The largest loss of one of so many searches that together lose no more than epsilon at delta."""
    low, high = epsilon / positives, epsilon
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if optimal(middle, positives, delta).epsilon <= epsilon:
            low = middle
        else:
            high = middle
        if math.isclose(low, high, rel_tol=1e-9):
            break
    return low
