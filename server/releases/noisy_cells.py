"""Exact cells, and the noise on them. The cells of an item are one vector, perturbed by one call."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.collect.tallies import count_cells
from server.privacy.noise import (
    gaussian,
    gaussian_interval,
    gaussian_pmf,
    gaussian_variance,
    geometric,
    geometric_interval,
    geometric_pmf,
    geometric_variance,
)
from server.releases.survey_shapes import Coins, Source, Variable

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class VersionGroup:
    """Versions that asked some variables under the same coins: for each variable, those of its columns."""

    versions: tuple[int, ...]
    coins: tuple[tuple[Coins, ...], ...]


def parts_of(variables: Sequence[Variable]) -> tuple[VersionGroup, ...]:
    """The versions that ask all these variables, those under the same coins together; the newest first.

    Responses to two versions are counted together only where they came about in the same way. A
    person is in one version, so that the cells of all parts are one histogram.
    """
    found: dict[tuple[tuple[Coins, ...], ...], list[int]] = {}
    asked = [{one.version: one.coins for one in variable.versions} for variable in variables]
    for version in asked[0]:
        if all(version in other for other in asked):
            found.setdefault(tuple(other[version] for other in asked), []).append(version)
    return tuple(VersionGroup(tuple(versions), coins) for coins, versions in found.items())


def tally(
    source: Source,
    part: VersionGroup,
    variables: Sequence[Variable],
    columns: Sequence[int],
    leaves: Sequence[int],
    by_leaf: bool = False,
) -> Counts:
    """Exact counts of the reports of one column of each variable, shape ([leaves,] reports, ...)."""
    sizes = [coins[column].reports for coins, column in zip(part.coins, columns, strict=True)]
    shape = (len(leaves), *sizes) if by_leaf else tuple(sizes)
    total = np.zeros(math.prod(shape), dtype=np.int64)
    order = np.zeros(len(source.shape.leaves), dtype=np.int64)
    order[list(leaves)] = np.arange(len(leaves))
    for rows in source.of(part.versions):
        chosen = rows.select_from(leaves)
        cells = np.zeros(int(chosen.sum()), dtype=np.int64)
        if by_leaf:
            cells += order[rows.places[chosen]]
        for variable, column, size in zip(variables, columns, sizes, strict=True):
            cells = cells * size + rows.codes(variable.name)[column][chosen]
        total += count_cells(cells, rows.counts[chosen], total.size)
    return total.reshape(shape)


def people(source: Source, leaves: Sequence[int]) -> Counts:
    """Exact numbers of responses from each of these leaves, to all versions."""
    total = np.zeros(len(source.shape.leaves), dtype=np.int64)
    for rows in source.rows:
        total += count_cells(rows.places, rows.counts, total.size)
    return total[list(leaves)]


NOTHING_ADDED = "none"


@dataclass(frozen=True)
class Noise:
    """What is added to each cell: geometric, Laplace, Gaussian, or nothing where others hide a person.

    `changes` is the most that one person changes all cells together (L1). Gaussian noise is
    scaled to the root of the summed squares: to that of as many changes by 1, or, where there is a
    `single` cell, to all of it.
    """

    kind: str
    changes: int
    epsilon: float
    delta: float
    single: bool = False

    @property
    def variance(self) -> float:
        """Of the noise in one cell."""
        if self.kind == NOTHING_ADDED:
            return 0.0
        if self.kind == "gaussian":
            return gaussian_variance(self._euclidean, self.epsilon, self.delta)
        return geometric_variance(self.changes, self.epsilon)

    def add(self, cells: Sequence[Counts]) -> list[Counts]:
        """Perturb all cells by one call, each array keeping its shape."""
        if self.kind == NOTHING_ADDED:
            return list(cells)
        whole = np.concatenate([array.ravel() for array in cells])
        if self.kind == "gaussian":
            noisy = gaussian(whole, self._euclidean, self.epsilon, self.delta)
        else:
            # On whole numbers Laplace noise is the two-sided geometric one.
            noisy = geometric(whole, self.changes, self.epsilon)
        ends = np.cumsum([array.size for array in cells])[:-1]
        split = np.split(noisy, ends)
        return [piece.reshape(array.shape) for piece, array in zip(split, cells, strict=True)]

    def limits(self, cell: int, confidence: float) -> tuple[int, int]:
        """For the exact number in one cell, from its noisy one; they account for the noise alone."""
        if self.kind == NOTHING_ADDED:
            return cell, cell
        low, high = geometric_interval(cell, self.changes, self.epsilon, confidence).tolist()
        return low, high

    def chances(self, amounts: Counts) -> NDArray[np.float64]:
        """How likely each amount of noise is."""
        if self.kind == "gaussian":
            return gaussian_pmf(amounts, self._euclidean, self.epsilon, self.delta)
        return geometric_pmf(amounts, self.changes, self.epsilon)

    def reach(self, confidence: float) -> int:
        """How far from 0 the noise lies at most, with at least this chance."""
        if self.kind == "gaussian":
            return int(gaussian_interval(0, self._euclidean, self.epsilon, self.delta, confidence)[1])
        return int(geometric_interval(0, self.changes, self.epsilon, confidence)[1])

    @property
    def _euclidean(self) -> float:
        return float(self.changes) if self.single else math.sqrt(self.changes)


def versions_of(parts: Sequence[VersionGroup]) -> list[int]:
    """All versions of these parts."""
    return [version for part in parts for version in part.versions]


def notes_of(noise: Noise, versions: list[int]) -> dict[str, float | int | str]:
    """What the noise was scaled to, and whose responses these are."""
    return {
        "l1_sensitivity": noise.changes,
        "noise_variance": noise.variance,
        "versions": ", ".join(map(str, sorted(versions))),
    }
