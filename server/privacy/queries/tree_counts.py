"""Counts on every level of a tree of places, made to add up."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import list_entries, positive, probability, real_numbers, whole_number
from server.privacy._sums import bound_deviation
from server.privacy.consistency import consistent_hierarchy, round_to_integers
from server.privacy.noise import allocate, geometric, geometric_variance
from server.privacy.queries._answer import (
    Answer,
    check_adds_up,
    checked_neighbours,
    checked_tally,
    checked_total,
    hashable,
    places_of,
)

_MOST_LEVELS = 1_000_000


@dataclass(frozen=True)
class Hierarchy:
    """People counted on every level of a tree; made by `hierarchy`.

    Attributes
    ----------
    leaves : tuple of tuple
        The declared paths below the root, such as ("North", "Alba").
    epsilon : float
        Privacy loss of all levels together, in nats.
    neighbours : {"unbounded", "bounded"}
    level_epsilons : tuple of float
        Shares of the levels, the root first; the root's is 0 where the total is known.
    total : int or None
        The number of people where it is public: what the root is.
    """

    leaves: tuple[tuple[Hashable, ...], ...]
    epsilon: float
    neighbours: str
    level_epsilons: tuple[float, ...]
    total: int | None = None

    @cached_property
    def nodes(self) -> tuple[tuple[Hashable, ...], ...]:
        """The path of every node, level by level; the root is ()."""
        return tuple(
            sorted(
                dict.fromkeys(path[:depth] for path in self.leaves for depth in range(len(path) + 1)), key=len
            )
        )

    @cached_property
    def parents(self) -> NDArray[np.int64]:
        """The index of each node's parent; -1 for the root."""
        places = {node: place for place, node in enumerate(self.nodes)}
        return np.array([places[node[:-1]] if node else -1 for node in self.nodes], dtype=np.int64)

    def sensitivity(self, neighbours: str | None = None) -> int:
        """The sum of changes in all nodes that are perturbed when one person changes, at most."""
        word = checked_neighbours(neighbours, self.neighbours)
        checked_total(self.total, word)
        return sum(_sensitivities(len(self.level_epsilons), word, self.total))

    def expected_error(self) -> NDArray[np.float64]:
        """Root mean squared error of each node of the linear estimate, in people.

        Exact, and the same for any data; 0 where the total says all. Making it whole adds less than 1 per level below
        the root, making it non-negative mostly takes error away.
        """
        noise = self._variances()
        return np.asarray(np.sqrt(consistent_hierarchy(np.zeros(noise.size), self.parents, noise).variances))

    def tally(self, data: Any) -> NDArray[np.int64]:
        """Exact counts of every declared leaf. They must not be published."""
        paths = [_path("data", path) for path in list_entries("data", data)]
        return np.bincount(places_of("data", paths, self.leaves), minlength=len(self.leaves)).astype(np.int64)

    def release(self, counts: ArrayLike, confidence: float = 0.95) -> Answer:
        """Perturb exact counts of the leaves, in the order of `leaves`, and of all that contain them.

        The value is whole, non-negative and adds up; its entries are in the order of `nodes`.
        """
        probability("confidence", confidence, open_interval=True)
        leaf_counts = checked_tally(counts, (len(self.leaves),))
        check_adds_up(leaf_counts, self.total)
        exact = self._sums(leaf_counts)
        depths = np.array([len(node) for node in self.nodes])
        noisy = exact.copy()
        for depth, (sensitivity, share) in enumerate(self.levels):
            if share:  # a root that is known is the total itself
                noisy[depths == depth] = geometric(exact[depths == depth], sensitivity, share)
        best = consistent_hierarchy(noisy, self.parents, self._variances())
        value = round_to_integers(best.values, self.parents)
        half = bound_deviation(confidence) * np.sqrt(best.variances) + 0.5
        limits = np.stack(
            [
                np.minimum(np.maximum(np.floor(best.values - half), 0), value),
                np.maximum(np.maximum(np.ceil(best.values + half), 0), value),
            ],
            axis=-1,
        )
        if self.total is not None:
            limits = np.minimum(limits, self.total)
            limits[best.variances == 0] = self.total
        return Answer(
            value=value,
            interval=limits.astype(np.int64),
            standard_error=np.sqrt(best.variances),
            epsilon=self.epsilon,
            neighbours=self.neighbours,
            confidence=confidence,
        )

    def run(self, data: Any, confidence: float = 0.95) -> Answer:
        """Count the data, one declared path per person, perturb every level and make it add up."""
        return self.release(self.tally(data), confidence)

    def _sums(self, leaf_counts: NDArray[np.int64]) -> NDArray[np.int64]:
        places = {node: place for place, node in enumerate(self.nodes)}
        sums = np.zeros(len(self.nodes), dtype=np.int64)
        sums[[places[leaf] for leaf in self.leaves]] = leaf_counts
        for node in range(len(self.nodes) - 1, 0, -1):
            sums[self.parents[node]] += sums[node]
        return sums

    def _variances(self) -> NDArray[np.float64]:
        # Noise too small to occur still needs a weight; what is known outweighs it.
        of_levels = [
            max(geometric_variance(sensitivity, share), 1e-30) if share else 1e-60
            for sensitivity, share in self.levels
        ]
        return np.array([of_levels[len(node)] for node in self.nodes])

    @property
    def levels(self) -> list[tuple[int, float]]:
        """Sensitivity and loss of each level; nothing where the root is known."""
        of_levels = _sensitivities(len(self.level_epsilons), self.neighbours, self.total)
        return list(zip(of_levels, self.level_epsilons, strict=True))


def hierarchy(
    leaves: Sequence[Sequence[Hashable]],
    epsilon: float,
    neighbours: str = "unbounded",
    proportions: ArrayLike | None = None,
    total: int | None = None,
) -> Hierarchy:
    """How many people are in each place of a tree: country, state, municipality.

    Every level is a partition and shares its loss among its nodes (parallel composition);
    the levels' losses add up. The noisy levels are combined by weighted least squares and
    made whole and non-negative, so that children always sum to their parent.

    Parameters
    ----------
    leaves : sequence of paths
        Every leaf as its path below the root, such as ("North", "Alba"); branches may
        differ in length. No leaf may lie inside another.
    epsilon : float
        Privacy loss of all levels together, in nats.
    neighbours : {"unbounded", "bounded"}
        One person counts once on each level; a replaced one twice, but once at the root.
    proportions : array_like of float, shape (levels,), or None
        How epsilon is shared out over the levels, the root first; None is equally. With a
        total the root gets nothing, and has no entry.
    total : int or None
        The number of people, if it is public; bounded neighbours only, which all have the same.
        The root is then exact and costs nothing, and every level adds up to it.

    Returns
    -------
    Hierarchy
        Its `run` takes one path per person.

    Raises
    ------
    ValueError
        If there is no leaf, a leaf is there twice or inside another, epsilon or a
        proportion is not positive and finite, proportions has not one entry per level, or
        there is a total under unbounded neighbours.

    References
    ----------
    Hay et al. (2010).

    Examples
    --------
    >>> query = hierarchy([("North", "Alba"), ("North", "Bruma"), ("South", "Cala")], epsilon=1.0)
    >>> query.nodes[:3]
    ((), ('North',), ('South',))
    >>> answer = query.release([100, 200, 300])
    >>> bool(answer.value[0] == answer.value[1] + answer.value[2])
    True
    >>> known = hierarchy(query.leaves, 1.0, "bounded", total=600)
    >>> known.level_epsilons, int(known.release([100, 200, 300]).value[0])
    ((0.0, 0.5, 0.5), 600)
    """
    paths = tuple(_path("leaves", path) for path in list_entries("leaves", leaves))
    if not paths or not all(paths):
        raise ValueError(f"leaves must be paths of at least one name, at least one path; they are {paths!r}")
    if len(set(paths)) != len(paths):
        twice = next(path for place, path in enumerate(paths) if path in paths[:place])
        raise ValueError(f"leaves must be declared once; {twice!r} is there twice")
    inner = {path[:depth] for path in paths for depth in range(len(path))}
    if within := inner.intersection(paths):
        raise ValueError(
            f"leaves must not lie inside one another; others lie inside {min(within, key=len)!r}"
        )
    levels = max(len(path) for path in paths) + 1
    shares = tuple(share for _, share in divide_by_level(levels, epsilon, neighbours, proportions, total))
    return Hierarchy(paths, float(epsilon), neighbours, shares, total)


def divide_by_level(
    levels: int,
    epsilon: float,
    neighbours: str = "unbounded",
    proportions: ArrayLike | None = None,
    total: int | None = None,
) -> tuple[tuple[int, float], ...]:
    """How a loss is shared out over the levels of a tree, and how far a person moves each: what its noise depends on.

    Parameters
    ----------
    levels : int
        How many there are, the root's among them, at least two.
    epsilon, neighbours, proportions, total
        As `hierarchy` takes them.

    Returns
    -------
    tuple of (int, float)
        Sensitivity, in people, and loss, in nats, of each level, the root first; both 0 where the total is known.

    Raises
    ------
    ValueError
        If levels is no whole number from 2 to 1,000,000, and as `hierarchy` does.

    Examples
    --------
    >>> divide_by_level(3, 1.0, "bounded", total=600)
    ((0, 0.0), (2, 0.5), (2, 0.5))
    """
    word = checked_neighbours(None, neighbours)
    known = checked_total(total, word)
    sensitivities = _sensitivities(whole_number("levels", levels, 2, _MOST_LEVELS), word, known)
    perturbed = [sensitivity for sensitivity in sensitivities if sensitivity]
    weights = np.ones(len(perturbed)) if proportions is None else real_numbers("proportions", proportions)
    if weights.shape != (len(perturbed),):
        raise ValueError(
            f"proportions must have shape ({len(perturbed)},), one per level that is perturbed; "
            f"it is {weights.shape}"
        )
    shares = allocate(positive("epsilon", epsilon), perturbed, weights).epsilons.tolist()
    return tuple(zip(sensitivities, [*([] if known is None else [0.0]), *shares], strict=True))


def _path(name: str, path: Any) -> tuple[Hashable, ...]:
    """A path as a tuple; a text alone is a path of one name."""
    return (path,) if isinstance(path, str) else hashable(name, list_entries(f"a path of {name}", path))


def _sensitivities(levels: int, neighbours: str, total: int | None) -> list[int]:
    """Of each level; the root is a single count, or known."""
    return [1 if total is None else 0] + [2 if neighbours == "bounded" else 1] * (levels - 1)
