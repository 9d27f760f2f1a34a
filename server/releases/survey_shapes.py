"""What releases may ask about, and the responses they are drawn from.

A `Shape` is public: which questions there are, their designs and the strata. A `Source` holds the
responses as well. Nothing that is known of a plan before it is paid for depends on a source.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from server.privacy.designs import Design
from server.privacy.estimators.inverse import left_inverse


@dataclass(frozen=True)
class Coins:
    """How truths become reports: by a design, or as they are where the data are a table (`design` None)."""

    truths: int
    design: Design | None = None

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """Chances of each report, a row for each truth."""
        matrix = np.eye(self.truths) if self.design is None else self.design.matrix
        return np.asarray(matrix, dtype=np.float64)

    @cached_property
    def inverse(self) -> NDArray[np.float64]:
        """What each report adds to the estimated number of people of each truth, a row for each."""
        return np.eye(self.truths) if self.design is None else left_inverse(self.design)

    @cached_property
    def possible(self) -> NDArray[np.float64]:
        """One row: 1 for each report that some truth can send, 0 for others."""
        return np.asarray(self.matrix.sum(axis=0, keepdims=True) > 0, dtype=np.float64)

    @property
    def reports(self) -> int:
        """How many there are."""
        return int(self.matrix.shape[1])


@dataclass(frozen=True)
class VariableVersion:
    """A variable as one version asked it: the coins of its columns."""

    version: int
    coins: tuple[Coins, ...]


@dataclass(frozen=True, eq=False)
class Variable:
    """A question, or a column of a table.

    Attributes
    ----------
    name : str
    identity : str
        What makes it the question it is; another question of the same name has another one.
    answers : tuple of str
        Names of what shares are of.
    boxes : bool
        Whether any number of answers may be given.
    split : bool
        Whether it has a column of two reports for each answer; else one column for all of them.
    first : int
        How many truths of its only column come before the answers: two for a number, its ends.
    values : tuple of float or None
        What each truth of its only column stands for, where it is a number or a scale; a last truth
        that stands for none is "prefer not to say".
    steps : int or None
        For a number that is known exactly: its steps from the lowest to the highest.
    versions : tuple of Asked
        By each version that asks the same question, the newest first.
    """

    name: str
    identity: str
    answers: tuple[str, ...]
    boxes: bool
    split: bool
    first: int
    values: tuple[float, ...] | None
    steps: int | None
    versions: tuple[VariableVersion, ...]

    @property
    def yes_no(self) -> bool:
        """Whether "no" is what is left of "yes"."""
        return self.answers == ("no", "yes")

    def at(self, answer: int) -> tuple[int, int]:
        """Which column an answer is in, and as which of its truths."""
        return (answer, 1) if self.split else (0, self.first + answer)


@dataclass(frozen=True)
class Leaf:
    """One of the smallest strata. The survey's own link is one with the path ().

    `keys` are the ids of strata whose responses count here; `population` is public, and None where it is not
    known; `identity` is what makes it the stratum it is, whatever it is called.
    """

    path: tuple[str, ...]
    keys: tuple[int, ...]
    population: int | None = None
    identity: str = ""


@dataclass(frozen=True)
class Crowd:
    """Among how many responses one hides if all are published in no order, and what each lost when it was sent.

    Of several versions the smallest number and the largest loss.
    """

    responses: int
    epsilon: float


@dataclass(frozen=True, eq=False)
class Shape:
    """What releases may ask about. `sampled`: whether answers stand for a larger population.

    `leaves` begin with the survey's own link; there is no other one without strata.
    `respondents` is their exact number where that is public, else None; `crowd` then says among whom
    one response hides, if there is anybody. `populations_since` is when a population last changed, where
    that is known. `rows_each` is how many rows one person has at most, of a table.
    """

    neighbours: str
    versions: tuple[int, ...]
    variables: tuple[Variable, ...]
    leaves: tuple[Leaf, ...]
    sampled: bool
    respondents: int | None
    crowd: Crowd | None = None
    populations_since: date | None = None
    rows_each: int = 1

    def variable(self, name: str) -> Variable | None:
        """The variable of that name."""
        return next((variable for variable in self.variables if variable.name == name), None)

    @property
    def strata(self) -> bool:
        """Whether there are any."""
        return any(leaf.path for leaf in self.leaves)

    def within(self, path: Sequence[str]) -> tuple[int, ...]:
        """The places of the leaves inside a stratum; of all leaves for ()."""
        return tuple(place for place, leaf in enumerate(self.leaves) if leaf.path[: len(path)] == tuple(path))


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Responses to one version: of each row which leaf it is from, and how many responses it stands for.

    `codes` gives the reports of a variable's columns, a vector for each; of a number that is
    known exactly, the last vector is its steps above the lowest.
    """

    version: int
    places: NDArray[np.int64]
    counts: NDArray[np.int64]
    codes: Callable[[str], Sequence[NDArray[np.integer]]]

    def select_from(self, leaves: Sequence[int]) -> NDArray[np.bool_]:
        """Which rows are from these leaves."""
        return np.isin(self.places, leaves)


@dataclass(frozen=True, eq=False)
class Source:
    """A shape, and the responses, those to one version in one part or in several."""

    shape: Shape
    rows: Iterable[CountedRows]

    def of(self, versions: Sequence[int]) -> Iterator[CountedRows]:
        """The responses to these versions."""
        return (rows for rows in self.rows if rows.version in versions)
