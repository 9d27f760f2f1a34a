"""What is estimated from the reports of any design, and how widely it scatters."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import probability, real_numbers
from server.privacy.designs import Design
from server.privacy.designs.design import require_design
from server.privacy.estimators.inverse import left_inverse

_FEWEST = 1e-6
"""The least share of people who give a number, of whom a mean is planned."""


@dataclass(frozen=True)
class Estimand:
    """A share of the people, or a mean among those who gave a number.

    It is sum(weight * share) / sum(counted * share) over the true answers; where everybody counts, the
    denominator is 1. The estimator gives each report one value for the numerator, a, and one for the denominator,
    b: the weights, and `counted`, carried through its left inverse. With mu the true value and D the true
    denominator, the variance of one report is that of a - mu b, divided by D**2 (exact where everybody counts,
    else the delta method), and the expectation of a - mu b is 0.

    Attributes
    ----------
    weights, counted : ndarray, shape (k,)
        Of the true shares; `counted` is 1 but for a last answer "prefer not to say", where it is 0.
    moments : ndarray, shape (3, k)
        Expectations of a**2, a b and b**2, for each truth.
    """

    weights: NDArray[np.float64]
    counted: NDArray[np.float64]
    moments: NDArray[np.float64]

    def variance(self, shares: NDArray[np.float64]) -> float:
        """Of one report, when these are the true shares."""
        people = float(self.counted @ shares)
        value = float(self.weights @ shares) / people
        return max(0.0, float(np.array([1, -2 * value, value**2]) @ self.moments @ shares)) / people**2

    def worst(self, answered: float = 1.0) -> NDArray[np.float64]:
        """The true shares, shape (k,), at which the variance is largest when so many people gave a number.

        For a fixed mean the variance is linear in the shares, so that two truths are enough. Along the line
        from one of them to another it is a polynomial of third degree in the share of the second.
        """
        # Axes: coefficient (or candidate), first truth, second truth.
        used = self.counted == 1
        v, (a, ab, b) = self.weights[used], self.moments[:, used]
        rest = self.moments[:, ~used].sum(axis=1) * (1 - answered) / answered
        start, step = v[:, None], v[None, :] - v[:, None]
        da, dab, db = (moment[None, :] - moment[:, None] for moment in (a, ab, b))
        a0, ab0, b0 = (moment[:, None] + column for moment, column in zip((a, ab, b), rest, strict=True))
        constant = a0 - 2 * start * ab0 + start**2 * b0
        first = da - 2 * (start * dab + step * ab0) + start**2 * db + 2 * start * step * b0
        second = step * (step * b0 + 2 * start * db - 2 * dab)
        third = step**2 * db
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            root = np.sqrt(np.maximum(second**2 - 3 * third * first, 0))
            # The forms of the two roots of the derivative that lose no digits to cancellation.
            near = -(second + np.copysign(root, second))
            peaks = np.stack([np.zeros_like(near), np.ones_like(near), near / (3 * third), first / near])
        part = np.clip(np.nan_to_num(peaks, nan=0, posinf=1, neginf=0), 0, 1)
        spread = constant + part * (first + part * (second + part * third))
        peak, row, column = np.unravel_index(int(spread.argmax()), spread.shape)
        taken = float(part[peak, row, column])
        shares = np.where(used, 0, 1 - answered)
        shares[row] += answered * (1 - taken)  # an answer that is no number comes last: places stay the same
        shares[column] += answered * taken
        return shares

    def direct(self) -> "Estimand":
        """The same, when what is entered is what is sent."""
        moments = np.array([self.weights**2, self.weights * self.counted, self.counted**2])
        return Estimand(self.weights, self.counted, moments)


def shares_of(design: Design) -> list[Estimand]:
    """The share of each true answer under a design."""
    truths = len(require_design(design).weights)
    return _estimands(design, np.eye(truths), np.ones(truths))


def mean_of(design: Design, answered: float | None = None) -> Estimand:
    """The mean of a number whose truths stand for equally spaced values from 0 to 1.

    With `answered` the last truth is "prefer not to say", and the mean is that of the others.
    """
    truths = len(require_design(design).weights)
    if answered is None:
        return _estimands(design, np.linspace(0, 1, truths)[None, :], np.ones(truths))[0]
    if truths < 3:
        raise ValueError(f"design must have at least 3 truths, the last of them no number; it has {truths}")
    weights = np.append(np.linspace(0, 1, truths - 1), 0)
    return _estimands(design, weights[None, :], np.append(np.ones(truths - 1), 0))[0]


def true_shares(
    design: Design, estimands: list[Estimand], shares: ArrayLike | None, answered: float | None = None
) -> list[NDArray[np.float64]]:
    """The true shares to plan for, for each estimand: those that are given, or its worst."""
    people = 1.0 if answered is None else _share_answered(answered)
    if shares is None:
        return [estimand.worst(people) for estimand in estimands]
    given, truths = real_numbers("shares", shares), len(design.weights)
    if given.shape != (truths,):
        raise ValueError(
            f"shares must have one entry for each of the {truths} truths of the design; their shape is {given.shape}"
        )
    if given.min() < 0 or given.max() > 1:
        raise ValueError(f"shares must be in [0, 1]; they are {given.tolist()}")
    if abs(float(given.sum()) - 1) > 1e-9:
        raise ValueError(f"shares must have the sum 1; it is {float(given.sum())!r}")
    if answered is not None and given[:-1].sum() < _FEWEST:
        raise ValueError(f"shares must leave {_FEWEST:g} or more to numbers; they are {given.tolist()}")
    return [given] * len(estimands)


def variances(estimands: list[Estimand], shares: list[NDArray[np.float64]]) -> list[Fraction]:
    """The variance of one report of each estimand at its true shares."""
    return [Fraction(estimand.variance(given)) for estimand, given in zip(estimands, shares, strict=True)]


def _share_answered(answered: float) -> float:
    share = probability("answered", answered)
    if share < _FEWEST:
        raise ValueError(f"answered must be in [{_FEWEST:g}, 1]; it is {answered!r}")
    return share


def _estimands(design: Design, weights: NDArray[np.float64], counted: NDArray[np.float64]) -> list[Estimand]:
    inverse, chances = left_inverse(design), design.matrix.T
    values, people = weights @ inverse, counted @ inverse
    moments = np.stack(
        [values**2 @ chances, values * people @ chances, np.broadcast_to(people**2, values.shape) @ chances]
    )
    return [Estimand(row, counted, moments[:, place]) for place, row in enumerate(weights)]
