"""Designs: what a respondent's browser draws from and what the estimator inverts.

A *design* is a matrix of integers whose rows sum to 2**32. Row x, column y, divided by
2**32, is the exact probability that a person whose truth is x sends the report y. The
browser compares one 32-bit coin with these integers, so there is no rounding between
what is promised, what is drawn and what is estimated.

References
----------
Warner, S. L. (1965). Randomized response: a survey technique for eliminating evasive
answer bias. *JASA* 60, 63-69.
Dwork, C. and Roth, A. (2014). *The Algorithmic Foundations of Differential Privacy*.
"""

import math
import os
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

TOTAL = 1 << 32
"""What every row of a design sums to: the number of values of one coin."""

_ODDS_PEOPLE = (100, 1_000, 10_000, 100_000, 1_000_000)


@dataclass(frozen=True)
class Odds:
    """A design in counts of people: of `people` with truth x, `counts[x][y]` send y."""

    people: int
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class Design:
    """A randomised-response design.

    Parameters
    ----------
    weights : array_like of int, shape (k, m)
        `weights[x][y]` out of 2**32 is the probability that truth x sends report y.
        Kept as a read-only int64 array.

    Raises
    ------
    ValueError
        If the weights are not whole numbers in [0, 2**32], if a row does not sum to
        2**32, if there are fewer than two truths or reports, or if a report is possible
        for one truth and impossible for another (its privacy loss would be infinite).

    Examples
    --------
    >>> design = Design([[3 << 30, 1 << 30], [1 << 30, 3 << 30]])
    >>> design.matrix.tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    >>> design.epsilon == math.log(3)
    True
    """

    weights: NDArray[np.int64]

    def __init__(self, weights: ArrayLike) -> None:
        object.__setattr__(self, "weights", _checked_weights(weights))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Design) and np.array_equal(self.weights, other.weights)

    def __hash__(self) -> int:
        return hash((self.weights.shape, self.weights.tobytes()))

    @property
    def matrix(self) -> NDArray[np.float64]:
        """Probabilities, shape (k, m); exact, because 2**32 is a power of two."""
        return self.weights / TOTAL

    @cached_property
    def epsilon(self) -> float:
        """Privacy loss in nats: the smallest float that is not below the exact value.

        The exact value is the logarithm of the worst ratio of two weights in one column,
        over all reports and all pairs of truths.
        """
        columns = [column for column in self.weights.T.tolist() if max(column) > 0]
        worst = max(Fraction(max(column), min(column)) for column in columns)
        with localcontext() as context:
            context.prec = 60
            exact = (Decimal(worst.numerator) / Decimal(worst.denominator)).ln()
            nearest = float(exact)
            return nearest if Decimal(nearest) >= exact else math.nextafter(nearest, math.inf)

    @cached_property
    def odds(self) -> Odds:
        """The matrix as counts of people, each row summing to `people`.

        `people` is 100, or the next power of ten in which every possible report counts
        at least one person, so that a small chance is never shown as none.
        """
        possible = self.weights[self.weights > 0]
        people = next(
            (size for size in _ODDS_PEOPLE if int(possible.min()) * size * 2 >= TOTAL), _ODDS_PEOPLE[-1]
        )
        return Odds(people, tuple(_apportion(row, people) for row in self.weights.tolist()))

    def odds_label(self) -> str:
        """The odds of a yes/no design as one English sentence.

        Raises
        ------
        ValueError
            If the design is not 2 x 2.

        Examples
        --------
        >>> coin_flip(0.25).odds_label()
        'Of 100 people who enter No, 25 are recorded as Yes. Of 100 who enter Yes, 75 are.'
        """
        if self.weights.shape != (2, 2):
            raise ValueError(f"odds_label needs a design of shape (2, 2); this one is {self.weights.shape}")
        (_, no_as_yes), (_, yes_as_yes) = self.odds.counts
        people = f"{self.odds.people:,}"
        return (
            f"Of {people} people who enter No, {no_as_yes:,} are recorded as Yes. "
            f"Of {people} who enter Yes, {yes_as_yes:,} are."
        )

    def posterior(self, prior: ArrayLike) -> float | NDArray[np.float64]:
        """What an observer believes after seeing a report (Bayes' rule).

        Parameters
        ----------
        prior : float or array_like, shape (k,)
            A number is the prior probability of "yes" under a yes/no design; an array is
            one probability per truth.

        Returns
        -------
        float or ndarray, shape (k, m)
            For a number: the probability of "yes" after the report "yes". For an array:
            entry [x, y] is the probability of truth x after report y; NaN in the column of
            a report that cannot occur under this prior.

        Raises
        ------
        ValueError
            If a probability is outside [0, 1], the array has another length than the
            design has truths or does not sum to one, or a number is given for a design
            that is not yes/no.

        Examples
        --------
        >>> coin_flip(0.25).posterior(0.1)
        0.25
        """
        beliefs = np.asarray(prior, dtype=np.float64)
        truths = self.weights.shape[0]
        if not np.all((beliefs >= 0) & (beliefs <= 1)):
            raise ValueError(f"prior must be in [0, 1]; it is {prior!r}")
        if beliefs.ndim == 0:
            if self.weights.shape != (2, 2):
                raise ValueError(f"prior must have {truths} entries for this design; it is one number")
            return float(self.posterior(np.array([1 - beliefs, beliefs]))[1, 1])  # type: ignore[index]
        if beliefs.shape != (truths,):
            raise ValueError(f"prior must have shape ({truths},); it has {beliefs.shape}")
        if not math.isclose(beliefs.sum(), 1, abs_tol=1e-9):
            raise ValueError(f"prior must sum to 1; it sums to {beliefs.sum()}")
        joint = beliefs[:, None] * self.matrix
        with np.errstate(invalid="ignore"):
            return np.asarray(joint / joint.sum(axis=0))

    def report(self, truths: ArrayLike, coins: ArrayLike) -> NDArray[np.uint8]:
        """Reports sent by people with these truths and coins.

        The Python twin of `client/randomize.js`, held equal to it by
        `tests/vectors/randomize.json`: the first column whose cumulated weight exceeds
        the coin.

        Parameters
        ----------
        truths : array_like of int, shape (n,)
            Row numbers of the design.
        coins : array_like of int, shape (n,)
            Uniform on {0, ..., 2**32 - 1}; see `draw_coins`.

        Returns
        -------
        ndarray of uint8, shape (n,)
            Column numbers of the design.

        Raises
        ------
        ValueError
            If a truth or a coin is outside its range or the lengths differ.
        """
        rows, draws = _whole_numbers("truths", truths), _whole_numbers("coins", coins)
        if rows.shape != draws.shape or rows.ndim != 1:
            raise ValueError(
                f"truths and coins must be two vectors of one length; they are {rows.shape} and {draws.shape}"
            )
        _check_range("truths", rows, self.weights.shape[0] - 1)
        _check_range("coins", draws, TOTAL - 1)
        thresholds = self.weights.cumsum(axis=1)[:, :-1]
        reports = np.zeros(rows.shape, dtype=np.uint8)
        for column in thresholds.T:
            reports += column[rows] <= draws
        return reports


def coin_flip(gamma: float) -> Design:
    """Report the truth with probability 1/2 + gamma, the opposite with 1/2 - gamma.

    Parameters
    ----------
    gamma : float
        In the open interval (0, 1/2). 1/4 is two fair coins: the first says "tell the
        truth" with probability 1/2, otherwise the second decides.

    Returns
    -------
    Design
        Shape (2, 2), ordered (no, yes). The chance of the truth is rounded down to a
        multiple of 2**-32, so that the privacy loss never exceeds
        ln((1/2 + gamma) / (1/2 - gamma)).

    Raises
    ------
    ValueError
        If gamma is outside (0, 1/2), or so small that 32-bit coins cannot tell the
        two answers apart.

    References
    ----------
    Warner (1965), with p = 1/2 + gamma; Dwork and Roth (2014), section 3.2.

    Examples
    --------
    >>> coin_flip(0.25).weights.tolist()
    [[3221225472, 1073741824], [1073741824, 3221225472]]
    """
    if not 0 < gamma < 0.5:
        raise ValueError(f"gamma must be in the open interval (0, 1/2); it is {gamma!r}")
    truth = math.floor((Fraction(1, 2) + Fraction(gamma)) * TOTAL)
    if truth == TOTAL // 2:
        raise ValueError(f"gamma must be in (0, 1/2) and at least 2**-32; it is {gamma!r}")
    return Design([[truth, TOTAL - truth], [TOTAL - truth, truth]])


def draw_coins(n: int) -> NDArray[np.uint32]:
    """Draw n coins, uniform on {0, ..., 2**32 - 1}, from the operating system's generator."""
    return np.frombuffer(os.urandom(4 * n), dtype=np.uint32)


def round_up(epsilon: float, decimals: int = 4) -> float:
    """Round a privacy loss up for display, so that it is never shown smaller than it is.

    Examples
    --------
    >>> round_up(coin_flip(0.25).epsilon)
    1.0987
    """
    return float(Decimal(epsilon).quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_CEILING))


def _checked_weights(weights: ArrayLike) -> NDArray[np.int64]:
    matrix = _whole_numbers("weights", weights)
    if matrix.ndim != 2 or min(matrix.shape) < 2:
        raise ValueError(f"weights must have at least 2 rows and 2 columns; their shape is {matrix.shape}")
    _check_range("weights", matrix, TOTAL)
    for row, total in enumerate(matrix.sum(axis=1).tolist()):
        if total != TOTAL:
            raise ValueError(f"row {row} of the weights must sum to 2**32 = {TOTAL}; it sums to {total}")
    mixed = (matrix == 0).any(axis=0) & (matrix > 0).any(axis=0)
    if mixed.any():
        raise ValueError(
            f"report {int(mixed.argmax())} must be possible for every truth or for none; "
            "otherwise its privacy loss is infinite"
        )
    matrix = matrix.copy()
    matrix.setflags(write=False)
    return matrix


def _whole_numbers(name: str, values: ArrayLike) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be whole numbers; their type is {array.dtype}")
    if array.dtype == np.uint64 and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise ValueError(f"{name} must be at most 2**63 - 1; the largest is {int(array.max())}")
    return array.astype(np.int64)


def _check_range(name: str, values: NDArray[np.int64], high: int) -> None:
    outside = (values < 0) | (values > high)
    if outside.any():
        raise ValueError(f"{name} must be in [0, {high}]; one is {int(values[outside][0])}")


def _apportion(row: list[int], people: int) -> tuple[int, ...]:
    """Share `people` out in proportion to a row (largest remainders, so that it adds up)."""
    counts = [weight * people // TOTAL for weight in row]
    remainders = sorted(range(len(row)), key=lambda y: (-(row[y] * people % TOTAL), y))
    for y in remainders[: people - sum(counts)]:
        counts[y] += 1
    return tuple(counts)
