"""The class `Design`: an integer matrix and what follows from it."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import check_range, real_numbers, whole_numbers
from server.privacy.designs.coins import TOTAL, reports_of
from server.privacy.designs.rounding import apportion, log_from_above

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
        matrix = check_rows(weights)
        _refuse_certain(matrix)
        object.__setattr__(self, "weights", matrix)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Design) and np.array_equal(self.weights, other.weights)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
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
        return log_from_above(worst)

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
        return Odds(people, tuple(tuple(apportion(row, people)) for row in self.weights.tolist()))

    def odds_label(self) -> str:
        """The odds in English: two sentences for a yes/no design, otherwise one for each truth.

        Truths and reports of other designs are called by their numbers, from 1; where all
        options are treated alike, one sentence says it for all.

        Examples
        --------
        >>> Design([[3 << 30, 1 << 30], [1 << 30, 3 << 30]]).odds_label()
        'Of 100 people who enter No, 25 are recorded as Yes. Of 100 who enter Yes, 75 are recorded as Yes.'
        >>> half, rest = 1 << 31, 1 << 30
        >>> Design([[half, rest, rest], [rest, half, rest], [rest, rest, half]]).odds_label()
        'Of 100 people who choose an option, 50 are recorded with it, 50 with one of the other 2, equally often.'
        """
        counts, people = self.odds.counts, f"{self.odds.people:,}"
        if self.weights.shape == (2, 2):
            (_, no_as_yes), (_, yes_as_yes) = counts
            return (
                f"Of {people} people who enter No, {no_as_yes:,} {'is' if no_as_yes == 1 else 'are'} recorded as Yes. "
                f"Of {people} who enter Yes, {yes_as_yes:,} {'is' if yes_as_yes == 1 else 'are'} recorded as Yes."
            )
        if self.treats_options_alike():
            return (
                f"Of {people} people who choose an option, {counts[0][0]:,} are recorded with it, "
                f"{self.odds.people - counts[0][0]:,} with one of the other {len(counts) - 1}, equally often."
            )
        return " ".join(
            f"Of {people} people who enter {truth}, "
            + ", ".join(f"{count:,} are recorded as {report}" for report, count in enumerate(row, 1) if count)
            + "."
            for truth, row in enumerate(counts, 1)
        )

    def treats_options_alike(self) -> bool:
        """Whether every option is kept with one chance, and turned into each other one with another.

        Examples
        --------
        >>> half, rest = 1 << 31, 1 << 30
        >>> Design([[half, rest, rest], [rest, half, rest], [rest, rest, half]]).treats_options_alike()
        True
        """
        keep, lie = self.weights[0, 0], self.weights[0, 1]
        rows, columns = self.weights.shape
        alike = np.where(np.eye(rows, columns, dtype=np.bool_), keep, lie)
        return rows == columns and np.array_equal(self.weights, alike)

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
        >>> Design([[3 << 30, 1 << 30], [1 << 30, 3 << 30]]).posterior(0.1)
        0.25
        """
        beliefs = real_numbers("prior", prior)
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
        `tests/vectors/designs.json`: the first column whose cumulated weight exceeds
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
        return reports_of(self.weights, truths, coins)


def require_design(design: object, name: str = "design") -> Design:
    """Refuse what is no design, in the words of every other refusal."""
    if not isinstance(design, Design):
        raise ValueError(f"{name} must be a Design; it is {design!r}")
    return design


def check_rows(weights: ArrayLike) -> NDArray[np.int64]:
    """Weights of rows that each sum to 2**32, read-only."""
    matrix = whole_numbers("weights", weights)
    if matrix.ndim != 2 or min(matrix.shape) < 2:
        raise ValueError(f"weights must have at least 2 rows and 2 columns; their shape is {matrix.shape}")
    check_range("weights", matrix, 0, TOTAL)
    for row, total in enumerate(matrix.sum(axis=1).tolist()):
        if total != TOTAL:
            raise ValueError(f"row {row} of the weights must sum to 2**32 = {TOTAL}; it sums to {total}")
    matrix = matrix.copy()
    matrix.setflags(write=False)
    return matrix


def _refuse_certain(matrix: NDArray[np.int64]) -> None:
    """Refuse a report from which some truth can be excluded."""
    mixed = (matrix == 0).any(axis=0) & (matrix > 0).any(axis=0)
    if mixed.any():
        raise ValueError(
            f"report {int(mixed.argmax())} must be possible for every truth or for none; "
            "otherwise its privacy loss is infinite"
        )
