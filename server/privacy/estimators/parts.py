"""Independent parts of one estimate: versions of a survey, strata of a population, or both at once.

Parts under one design are the first axis of arrays (a `Stack`), so that hundreds of strata take the steps of
one part; a single part is a stack of one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import list_entries, real_numbers
from server.privacy.designs.design import Design, require_design
from server.privacy.estimators.inverse import checked_tallies, covariances, left_inverse, possible_reports

Counts = Sequence[ArrayLike] | NDArray[np.int64]
"""Reports of each part, shapes (m1,), (m2,), ...; an array, shape (parts, m), where all have as many."""

_TO_ONE = 1e-9
"""How far from 1 the sum of weights may be."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """Parts, each with a report at least, whose reports are a mixture of the rows of one matrix.

    Attributes
    ----------
    reports : ndarray of int, shape (parts, m)
    weights : ndarray, shape (parts,)
        What each part counts.
    matrix : ndarray, shape (k, m)
        Chances of each report, a row for each truth.
    """

    reports: NDArray[np.int64]
    weights: NDArray[np.float64]
    matrix: NDArray[np.float64]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Reports of each part."""
        return np.asarray(self.reports.sum(axis=1))

    @cached_property
    def observed(self) -> NDArray[np.float64]:
        """Shares of the reports, shape (parts, m)."""
        return self.reports / self.sizes[:, None]


Mixed = TypeVar("Mixed", bound=Mixture)


@dataclass(frozen=True, eq=False)
class Stack(Mixture):
    """Parts under one design; of the reports that some truth can send.

    Attributes
    ----------
    design : Design
    inverse : ndarray, shape (k, m)
        The left inverse of the design.
    """

    design: Design
    inverse: NDArray[np.float64]

    def means(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Means of `row[report]` of each part, shape (parts, rows)."""
        return np.asarray(self.observed @ rows.T)

    def covariances(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of these means of each part, shape (parts, rows, rows)."""
        return covariances(rows, self.observed, self.sizes)


def stack(reports: NDArray[np.int64], design: Design, weights: NDArray[np.float64]) -> Stack:
    """Parts whose reports, shape (parts, m), were checked, and whose design has a left inverse."""
    possible = possible_reports(design)
    inverse, matrix = left_inverse(design), design.matrix
    if not possible.all():
        reports, inverse, matrix = reports[:, possible], inverse[:, possible], matrix[:, possible]
    return Stack(reports, weights, matrix, design, inverse)


def stack_single(reports: NDArray[np.int64], design: Design) -> Stack:
    """A single part, of checked reports, shape (m,)."""
    return stack(reports[None], design, np.ones(1))


def combine_stacks(stacks: Sequence[Mixed]) -> Mixed:
    """All parts of stacks under one design or matrix, as one; their weights are those that they have there."""
    reports = np.concatenate([each.reports for each in stacks])
    return replace(stacks[0], reports=reports, weights=np.concatenate([each.weights for each in stacks]))


@dataclass(frozen=True, eq=False)
class Parts:
    """Checked parts.

    Attributes
    ----------
    sizes : ndarray of int, shape (parts,)
        Reports of each part, in the order given.
    weights : ndarray, shape (parts,)
        What each counts; they sum to 1.
    by_design : tuple
        Of each design, the places of its parts, and their reports, shape (own parts, m).
    """

    sizes: NDArray[np.int64]
    weights: NDArray[np.float64]
    by_design: tuple[tuple[Design, NDArray[np.int64], NDArray[np.int64]], ...]

    @property
    def n(self) -> int:
        """Reports of all parts together."""
        return sum(self.sizes.tolist())

    @cached_property
    def counting(self) -> tuple[Stack, ...]:
        """The parts that count."""
        return tuple(self._stacks(self.weights > 0))

    @cached_property
    def answered(self) -> tuple[Stack, ...]:
        """The parts that have reports, whatever they count."""
        return tuple(self._stacks(self.sizes > 0))

    def _stacks(self, chosen: NDArray[np.bool_]) -> Iterator[Stack]:
        for design, places, reports in self.by_design:
            own = chosen[places]
            if own.any():
                yield stack(reports[own], design, self.weights[places[own]])


def checked_parts(counts: Counts, designs: Sequence[Design], weights: ArrayLike | None) -> Parts:
    """Parts in the order given, those without reports too.

    Raises
    ------
    ValueError
        If there is not one design per part, all with as many truths and none singular, if
        counts are refused by `checked_reports` but for being all 0, if no part has any, or
        if the weights are refused by `part_weights`.
    """
    given: list[Any] | NDArray[np.int64] = (
        counts if isinstance(counts, np.ndarray) and counts.ndim else list_entries("counts", counts)
    )
    used = list_entries("designs", designs)
    if not used or len(used) != len(given):
        raise ValueError(
            "counts and designs must have one entry per part, at least one; "
            f"they have {len(given)} and {len(used)}"
        )
    places = places_of(used)
    truths = {}
    for design, own in places.items():
        truths[own[0]] = len(left_inverse(design, f"designs[{own[0]}]"))
    if len(set(truths.values())) > 1:
        numbers = [len(design.weights) for design in used]
        raise ValueError(f"designs must all have the same number of truths; they have {numbers}")
    sizes = np.zeros(len(used), dtype=np.int64)
    by_design = []
    for design, own in places.items():
        some = given[own] if isinstance(given, np.ndarray) else [given[place] for place in own]
        names = [f"counts[{place}]" for place in own]
        reports = checked_tallies(some, (design,), names, empty=True)
        sizes[own] = reports.sum(axis=1)
        by_design.append((design, np.array(own), reports))
    return Parts(sizes, part_weights(weights, sizes.tolist(), "counts"), tuple(by_design))


def checked_singles(counts: NDArray[np.int64], design: Design) -> tuple[Stack, list[Parts]]:
    """Groups of a single part each, all under one design: checked at once, as `checked_parts` does with each.

    Parameters
    ----------
    counts : ndarray of int, shape (groups, m)
        Each with a positive sum.

    Returns
    -------
    tuple
        All groups as the parts of a stack, each of weight 1; and each by itself.
    """
    left_inverse(design)
    reports = checked_tallies(counts, (design,), [f"counts[{place}]" for place in range(len(counts))])
    together = stack(reports, design, np.ones(len(reports)))
    return together, [_single(together, reports, place) for place in range(len(reports))]


def _single(together: Stack, reports: NDArray[np.int64], place: int) -> Parts:
    own = slice(place, place + 1)
    parts = Parts(
        together.sizes[own], together.weights[own], ((together.design, np.zeros(1, np.int64), reports[own]),)
    )
    alone = (replace(together, reports=together.reports[own], weights=together.weights[own]),)
    parts.__dict__.update(counting=alone, answered=alone)
    return parts


def places_of(designs: Sequence[Design]) -> dict[Design, list[int]]:
    """Where each design is used. Most are the same object: these need not be compared."""
    places: dict[int, list[int]] = {}
    for place, design in enumerate(designs):
        places.setdefault(id(design), []).append(place)
    found: dict[Design, list[int]] = {}
    for own in places.values():
        known = found.setdefault(require_design(designs[own[0]], f"designs[{own[0]}]"), [])
        known += own
    return found


def part_weights(weights: ArrayLike | None, sizes: list[int], name: str) -> NDArray[np.float64]:
    """The weight of each part: as given, divided by their sum, or n_i / n.

    Parameters
    ----------
    weights : array_like or None
        One per part.
    sizes : list of int
        Reports of each part.
    name : str
        What the caller calls the counts.

    Raises
    ------
    ValueError
        If no part has reports, or the weights are not in [0, 1] with the sum 1 within
        1e-9, one per part and 0 for parts without reports.
    """
    total = sum(sizes)
    if not total:
        raise ValueError(f"{name} must have a positive sum; they are all 0")
    if weights is None:
        return np.array([size / total for size in sizes])
    given = real_numbers("weights", weights)
    if given.shape != (len(sizes),):
        raise ValueError(f"weights must have one entry per part, {len(sizes)}; their shape is {given.shape}")
    if given.min() < 0 or given.max() > 1 + _TO_ONE:
        raise ValueError(f"weights must be in [0, 1]; they are {given.tolist()}")
    if abs(float(given.sum()) - 1) > _TO_ONE:
        raise ValueError(f"weights must have the sum 1 within {_TO_ONE:g}; it is {float(given.sum())!r}")
    for number, (weight, size) in enumerate(zip(given.tolist(), sizes, strict=True)):
        if weight and not size:
            raise ValueError(
                f"weights must be 0 for parts without reports; weights[{number}] is {weight!r} and "
                f"{name}[{number}] are all 0"
            )
    return np.asarray(given / given.sum())
