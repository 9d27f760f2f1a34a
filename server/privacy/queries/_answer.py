"""What every query gives back, and how declared categories are read."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import check_range, list_entries, option, whole_number, whole_numbers

NEIGHBOURS = ("unbounded", "bounded")


@dataclass(frozen=True)
class Answer:
    """A noisy answer, fit to be published with all of its fields.

    Attributes
    ----------
    value : ndarray
        Counts (int64) in the declared order, or one number of shape ().
    interval : ndarray, shape (..., 2)
        Limits for the exact value, at least `confidence` for each entry by itself. They
        account for the privacy noise alone, not for sampling.
    standard_error : ndarray
        Root mean squared error that the noise causes, of the shape of `value` or ().
    epsilon : float
        Privacy loss of everything in `value` together, in nats.
    neighbours : {"unbounded", "bounded"}
        Between what neighbouring data the loss is bounded.
    confidence : float
        Of the interval.
    delta : float
        Failure probability; 0 but for Gaussian noise.
    """

    value: NDArray[Any]
    interval: NDArray[Any]
    standard_error: NDArray[np.float64]
    epsilon: float
    neighbours: str
    confidence: float
    delta: float = 0.0


@dataclass(frozen=True)
class ContingencyAnswer:
    """A noisy table that adds up, fit to be published with all of its fields.

    Attributes
    ----------
    value : ndarray of int64
        The fitted table: whole, not negative.
    margins : tuple of ndarray of int64
        What it sums to, for each variable.
    cells : ndarray of int64
        The noisy cells as they were drawn, possibly negative.
    noisy_margins : tuple of ndarray of int64
        The noisy margins as they were drawn; empty if none were asked for.
    interval : ndarray, shape (..., 2)
        Limits for each exact cell, at least `confidence` for each by itself.
    margin_intervals : tuple of ndarray, shapes (m1, 2), (m2, 2), ...
        The same for the margins.
    standard_error : float
        Of each cell, before it was made whole and non-negative.
    margin_errors : tuple of float
        The same for an entry of each margin.
    epsilon : float
        Privacy loss of all of it together, in nats.
    neighbours : {"unbounded", "bounded"}
    confidence : float
        Of the intervals.
    """

    value: NDArray[np.int64]
    margins: tuple[NDArray[np.int64], ...]
    cells: NDArray[np.int64]
    noisy_margins: tuple[NDArray[np.int64], ...]
    interval: NDArray[np.int64]
    margin_intervals: tuple[NDArray[np.int64], ...]
    standard_error: float
    margin_errors: tuple[float, ...]
    epsilon: float
    neighbours: str
    confidence: float


def checked_neighbours(neighbours: str | None, declared: str) -> str:
    """What `neighbours` names, or what the query declared."""
    return option("neighbours", declared if neighbours is None else neighbours, NEIGHBOURS)


def checked_categories(name: str, categories: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """At least one category, each once."""
    declared = hashable(name, list_entries(name, categories))
    if not declared:
        raise ValueError(f"{name} must declare at least one category; there are none")
    if any(category != category for category in declared):
        raise ValueError(f"{name} must be equal to themselves, as nan is not; they are {declared!r}")
    if len(set(declared)) != len(declared):
        twice = next(category for place, category in enumerate(declared) if category in declared[:place])
        raise ValueError(f"{name} must declare each category once; {twice!r} is there twice")
    return declared


def hashable(name: str, values: Iterable[Any]) -> tuple[Hashable, ...]:
    """Values that can be told apart and looked up: no lists, no arrays."""
    made = tuple(values)
    for value in made:
        try:
            hash(value)
        except TypeError:
            raise ValueError(f"{name} must be texts, numbers or tuples of them; one is {value!r}") from None
    return made


def places_of(name: str, values: Any, declared: Sequence[Hashable]) -> NDArray[np.int64]:
    """The place of each value among the declared categories."""
    places = {category: place for place, category in enumerate(declared)}
    found = hashable(name, list_entries(name, values))
    try:
        return np.array([places[value] for value in found], dtype=np.int64)
    except KeyError:
        unknown = next(value for value in found if value not in places)
        shown = ", ".join(repr(category) for category in declared[:10])
        more = ", ..." if len(declared) > 10 else ""
        raise ValueError(f"{name} must be among the declared {shown}{more}; one is {unknown!r}") from None


def checked_tally(counts: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Non-negative whole numbers of this shape; all may be 0."""
    tally = whole_numbers("counts", counts)
    if tally.shape != shape:
        raise ValueError(f"counts must have shape {shape}; their shape is {tally.shape}")
    check_range("counts", tally, 0, 1 << 53)
    return tally


def checked_total(total: int | None, neighbours: str) -> int | None:
    """The number of people where it is public: only neighbours that all have it leave it so."""
    if total is None:
        return None
    if neighbours != "bounded":
        raise ValueError(
            f"total must be None under {neighbours} neighbours, which differ in it; it is {total!r}"
        )
    return whole_number("total", total, 0, 1 << 53)


def check_adds_up(counts: NDArray[np.int64], total: int | None) -> None:
    """Refuse exact counts of another number of people than the public one."""
    if total is not None and counts.sum() != total:
        raise ValueError(f"counts must add up to the total, {total}; they add up to {counts.sum()}")


def yes_or_no(name: str, values: Any) -> NDArray[np.int64]:
    """0 or 1 for every person; bool, 0 and 1 are taken."""
    entries = list_entries(name, values)
    wrong = [value for value in entries if not isinstance(value, bool | int | np.bool_ | np.integer)]
    wrong = wrong or [value for value in entries if value not in (0, 1)]
    if wrong:
        raise ValueError(f"{name} must be True or False (1 or 0) for each person; one is {wrong[0]!r}")
    return np.array(entries, dtype=np.int64)
