"""The mean among those who gave a number, where "prefer not to say" is one of the answers.

References
----------
Duchi, J. C., Jordan, M. I. and Wainwright, M. J. (2013). Local privacy and statistical
minimax rates. *FOCS*.
Fieller, E. C. (1954). Some problems in interval estimation. *JRSS B* 16, 175-185.
Cochran, W. G. (1977). *Sampling Techniques*, 3rd edition, sections 2.11 and 6.4. Wiley.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import option, probability
from server.privacy.designs import Design
from server.privacy.estimators.exact_ratios import SingleRatio
from server.privacy.estimators.inverse import checked_reports, left_inverse, standard_errors
from server.privacy.estimators.late import LateInterval
from server.privacy.estimators.limits import INTERVALS, accepted_end
from server.privacy.estimators.mean_estimates import checked_range
from server.privacy.estimators.parts import Stack, stack_single
from server.privacy.estimators.together import Steps
from server.privacy.estimators.weighted_limits import limits_of_sums


@dataclass(frozen=True)
class AnsweredMeanEstimate(LateInterval):
    """An estimated mean among the people who gave a number.

    Attributes
    ----------
    n : int
        Number of reports, of everybody.
    answered : float
        Estimated share of people who gave a number, unbiased and unclipped.
    mean : float or None
        Of their numbers, in the unit of `low` and `high`, unclipped; None when `answered` is
        not positive. A ratio of two unbiased estimates: its bias is of the order 1/n.
    standard_error : float or None
        In the same unit, by the delta method; infinite when n is 1, None when the mean is.
    interval : tuple of float
        Lower and upper limit, unclipped; (low, high), everything it could be, when the reports
        do not show that anybody gave a number.
    impossible : bool
        Whether the mean is None or outside [low, high].
    confidence : float
        Of the interval.
    kind : str
        Of the interval: "wilson", "exact" or "wald".
    """

    n: int
    answered: float
    mean: float | None
    standard_error: float | None
    impossible: bool
    confidence: float
    kind: str


def estimate_answered_mean(
    counts: ArrayLike,
    design: Design,
    low: float,
    high: float,
    confidence: float = 0.95,
    interval: str = "wilson",
) -> AnsweredMeanEstimate:
    """Estimate the mean of a number in [low, high] among the people who gave one.

    Parameters
    ----------
    counts : array_like of int, shape (m,)
        Reports received.
    design : Design
        Its last truth is "prefer not to say"; the k - 1 others, at least two, stand for equally
        spaced values from low to high. With two of them a number between was rounded to
        low or high at random, as in `estimate_mean`.
    low, high : float
        Finite, low < high, in the unit of the number.
    confidence : float
        In (0, 1).
    interval : {"wilson", "exact", "wald"}
        Which interval of `estimate_shares` is inverted, see Notes.

    Returns
    -------
    AnsweredMeanEstimate

    Raises
    ------
    ValueError
        As `estimate_mean`, or if the design has fewer than three truths.

    Notes
    -----
    With the shares s of the values v and D their sum, the mean is sum(v s) / D. Its standard
    error is that of sum((v - mean) s), divided by D: the delta method with the multinomial
    covariance of the reports. A small D makes a ratio far from normal, so the interval does not
    use that standard error: it consists of the means mu for which the interval of
    sum((v - mu) s), which is 0 at the true mean, contains 0 (Fieller 1954 is the case "wald").
    It covers as well as the interval that is inverted, and is unbounded unless D differs from 0 at
    the same confidence. "exact" holds the means that Chernoff's bound does not refute whatever the
    true shares (`exact_ratios.SingleRatio`), and the estimate; of several parts all of [low, high].

    Examples
    --------
    >>> from server.privacy.designs import k_ary
    >>> estimate = estimate_answered_mean([420, 330, 250], k_ary(3, 2.0), low=0, high=40)
    >>> round(estimate.mean, 3), round(estimate.standard_error, 3), round(estimate.answered, 3)
    (16.648, 1.013, 0.789)
    >>> [round(limit, 2) for limit in estimate.interval]
    [14.69, 18.65]
    """
    bottom, top = checked_range(low, high)
    require_prefer_not_to_say(design)
    part = stack_single(checked_reports(counts, design), design)
    confidence = probability("confidence", confidence, open_interval=True)
    option("interval", interval, INTERVALS)
    return answered_mean_of([part], int(part.sizes[0]), (bottom, top), confidence, interval)


def require_prefer_not_to_say(design: Design, name: str = "design") -> None:
    """Refuse a design that is singular or has no truth left for "prefer not to say"."""
    truths = len(left_inverse(design, name))
    if truths < 3:
        raise ValueError(f"{name} must have at least 3 truths, the last of them no number; it has {truths}")


def answered_rows(stacks: Sequence[Stack]) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Of each stack what a report adds to the sum of numbers, on the scale [0, 1], and to those who gave one.

    On this scale no unit loses digits.
    """
    return [
        (np.linspace(0, 1, len(each.inverse) - 1) @ each.inverse[:-1], each.inverse[:-1].sum(axis=0))
        for each in stacks
    ]


def answered_mean_of(
    stacks: Sequence[Stack], n: int, ends: tuple[float, float], confidence: float, interval: str
) -> AnsweredMeanEstimate:
    """The estimate from one part or from the weighted sum of several."""
    rows = answered_rows(stacks)

    def sum_rows(rows: Sequence[NDArray[np.float64]]) -> float:
        return sum(
            float(each.weights @ (each.observed @ row)) for each, row in zip(stacks, rows, strict=True)
        )

    def limits(rows: Sequence[NDArray[np.float64]]) -> Steps[tuple[float, float]]:
        found = yield from limits_of_sums(stacks, [rows], confidence, interval)
        return found[0]

    def distances(position: float) -> list[NDArray[np.float64]]:
        """What each report adds to sum((v - position) s)."""
        return [positions - position * answers for positions, answers in rows]

    def contains(position: float) -> Steps[float]:
        """How far 0 is inside the interval of sum((v - position) s); negative outside."""
        below, above = yield from limits(distances(position))
        return min(-below, above)

    def find_means() -> Steps[tuple[float, float]]:
        """The accepted means, on the scale [0, 1]."""
        if interval == "exact":
            return (yield from exact())
        if mean is None or error is None:
            return 0.0, 1.0
        fewest, _most = yield from limits(answers)
        if fewest <= 0:
            return 0.0, 1.0
        step = min(max(error, 2.0**-10), 1.0)
        lowest = yield from accepted_end(contains, mean, -step)
        highest = yield from accepted_end(contains, mean, step)
        return lowest, highest

    def exact() -> Steps[tuple[float, float]]:
        """Of one part; of several all that is sure is the range."""
        low, high = 0.0, 1.0
        if len(stacks) == 1 and len(stacks[0].sizes) == 1:
            found = yield SingleRatio(stacks[0], *rows[0], confidence)
            low, high = found.tolist()
        return (low, high) if mean is None else (min(low, mean), max(high, mean))

    def interval_of_mean() -> Steps[tuple[float, float]]:
        below, above = yield from find_means()
        return bottom + width * below, bottom + width * above

    answers = [own for _positions, own in rows]
    answered = sum_rows(answers)
    rounding = 1e-13 * max(float(np.abs(own).max() + np.abs(gave).max()) for own, gave in rows)
    mean = error = None
    if answered > rounding:
        mean = sum_rows([own for own, _answers in rows]) / answered
        variance = sum(
            float(each.weights**2 @ each.covariances(row[None, :])[:, 0, 0])
            for each, row in zip(stacks, distances(mean), strict=True)
        )
        error = float(standard_errors(np.array(variance))) / answered
    bottom, width = ends[0], ends[1] - ends[0]
    return AnsweredMeanEstimate(
        n=n,
        answered=answered,
        mean=None if mean is None else bottom + width * mean,
        standard_error=None if error is None else width * error,
        impossible=mean is None or not -rounding <= mean * answered <= answered + rounding,
        confidence=confidence,
        kind=interval,
        start=interval_of_mean,
    )
