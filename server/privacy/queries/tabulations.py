"""Counts, histograms and cross-tabulations."""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import list_entries, option, positive, probability
from server.privacy.noise import geometric, geometric_interval, geometric_variance, laplace
from server.privacy.queries._answer import (
    Answer,
    checked_categories,
    checked_neighbours,
    checked_tally,
    places_of,
    yes_or_no,
)

NOISES = ("geometric", "laplace")


@dataclass(frozen=True)
class Tabulation:
    """People counted by categories; made by `count`, `histogram` or `table`.

    Attributes
    ----------
    categories : tuple of tuple
        The declared categories of each variable; empty for a single count.
    epsilon : float
        Privacy loss of the whole table, in nats.
    neighbours : {"unbounded", "bounded"}
    noise : {"geometric", "laplace"}
        Two names of one distribution: counts lie on a grid of 1, where Laplace noise is two-sided
        geometric.
    """

    categories: tuple[tuple[Hashable, ...], ...]
    epsilon: float
    neighbours: str
    noise: str = "geometric"

    @property
    def shape(self) -> tuple[int, ...]:
        """Categories of each variable; () for a single count."""
        return tuple(len(declared) for declared in self.categories)

    def sensitivity(self, neighbours: str | None = None) -> int:
        """The sum of changes in all cells when one person changes: 1, or 2 when replaced.

        A replaced person leaves one cell and enters another. A single count changes by 1
        either way.
        """
        replaced = checked_neighbours(neighbours, self.neighbours) == "bounded"
        return 2 if replaced and self.categories else 1

    def expected_error(self) -> float:
        """Root mean squared error of each cell, in people; exact, and the same for any data."""
        return math.sqrt(geometric_variance(self.sensitivity(), self.epsilon))

    def tally(self, *data: Any) -> NDArray[np.int64]:
        """Exact counts of every declared cell, empty ones too. They must not be published."""
        if not self.categories:
            (members,) = _variables(data, 1)
            return np.asarray(yes_or_no("data", members).sum(), dtype=np.int64)
        variables = _variables(data, len(self.categories))
        places = [
            places_of(f"data of variable {axis}" if len(variables) > 1 else "data", values, declared)
            for axis, (values, declared) in enumerate(zip(variables, self.categories, strict=True))
        ]
        if len({len(column) for column in places}) > 1:
            raise ValueError(
                f"data must have one entry per person in every variable; they have {[len(p) for p in places]}"
            )
        flat = np.ravel_multi_index(tuple(places), self.shape)
        return np.bincount(flat, minlength=math.prod(self.shape)).reshape(self.shape).astype(np.int64)

    def release(self, counts: ArrayLike, confidence: float = 0.95) -> Answer:
        """Perturb exact counts of the declared shape. Cells that are 0 get noise like any other."""
        probability("confidence", confidence, open_interval=True)
        exact = checked_tally(counts, self.shape)
        if self.noise == "laplace":
            # Counts are on the grid already: rounding to it moves none, whoever changes.
            noisy = laplace(exact, self.sensitivity(), self.epsilon, granularity=1, changed=1).astype(
                np.int64
            )
        else:
            noisy = geometric(exact, self.sensitivity(), self.epsilon)
        return Answer(
            value=noisy,
            interval=geometric_interval(noisy, self.sensitivity(), self.epsilon, confidence),
            standard_error=np.asarray(self.expected_error()),
            epsilon=self.epsilon,
            neighbours=self.neighbours,
            confidence=confidence,
        )

    def run(self, *data: Any, confidence: float = 0.95) -> Answer:
        """Count the data, one vector per variable with one entry per person, and perturb."""
        return self.release(self.tally(*data), confidence)


def count(epsilon: float, neighbours: str = "unbounded", noise: str = "geometric") -> Tabulation:
    """How many people have a property.

    Parameters
    ----------
    epsilon : float
        Privacy loss in nats.
    neighbours : {"unbounded", "bounded"}
        The sensitivity is 1 under both.
    noise : {"geometric", "laplace"}

    Returns
    -------
    Tabulation
        Its `run` takes one vector of True or False per person.

    Raises
    ------
    ValueError
        If epsilon is not positive and finite, or neighbours or noise is another word; in
        `run`, if an entry is neither True nor False.

    Examples
    --------
    >>> query = count(epsilon=1.0)
    >>> query.sensitivity("bounded"), round(query.expected_error(), 3)
    (1, 1.357)
    >>> query.run([True] * 40 + [False] * 60).interval.shape
    (2,)
    """
    return Tabulation(
        (), positive("epsilon", epsilon), checked_neighbours(None, neighbours), option("noise", noise, NOISES)
    )


def histogram(
    categories: Iterable[Hashable], epsilon: float, neighbours: str = "unbounded", noise: str = "geometric"
) -> Tabulation:
    """How many people are in each category.

    Parameters
    ----------
    categories : iterable
        Declared without looking at the data, each once. A number is counted in bins: its
        bins are the categories.
    epsilon : float
        Privacy loss of all cells together, in nats.
    neighbours : {"unbounded", "bounded"}
        The sensitivity is 1 or 2.
    noise : {"geometric", "laplace"}

    Returns
    -------
    Tabulation
        Its `run` takes one vector with a category per person.

    Raises
    ------
    ValueError
        As `count`; or if there is no category or one twice; in `run`, for an undeclared one.

    Examples
    --------
    >>> query = histogram(["no", "yes", "do not know"], epsilon=1.0, neighbours="bounded")
    >>> query.tally(["no", "yes", "yes"]).tolist()
    [1, 2, 0]
    >>> query.sensitivity()
    2
    """
    return table([categories], epsilon, neighbours, noise)


def table(
    categories: Sequence[Iterable[Hashable]],
    epsilon: float,
    neighbours: str = "unbounded",
    noise: str = "geometric",
) -> Tabulation:
    """How many people are in each combination of categories of several variables.

    Parameters
    ----------
    categories : sequence of iterables
        The categories of each variable.
    epsilon : float
        Privacy loss of all cells together, in nats.
    neighbours : {"unbounded", "bounded"}
        The sensitivity is 1 or 2, however many variables there are.
    noise : {"geometric", "laplace"}

    Returns
    -------
    Tabulation
        Its `run` takes one vector per variable. Margins of the noisy table are free
        (post-processing); `contingency` fits a table to them.

    Raises
    ------
    ValueError
        As `histogram`; in `run`, also if the vectors differ in length.

    Examples
    --------
    >>> query = table([["<30", "30+"], ["no", "yes"]], epsilon=1.0)
    >>> query.tally(["<30", "30+", "30+"], ["no", "no", "yes"]).tolist()
    [[1, 0], [1, 1]]
    """
    declared = tuple(
        checked_categories("categories", part) for part in list_entries("categories", categories)
    )
    if not declared:
        raise ValueError("categories must declare at least one variable; there are none")
    return Tabulation(
        declared,
        positive("epsilon", epsilon),
        checked_neighbours(None, neighbours),
        option("noise", noise, NOISES),
    )


def _variables(data: tuple[Any, ...], expected: int) -> tuple[Any, ...]:
    if len(data) != expected:
        raise ValueError(f"data must be {expected} vectors, one per variable; there are {len(data)}")
    return data
