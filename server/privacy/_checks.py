"""Checks of arguments, in one wording: the name, the range, the value."""

import math
from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike, NDArray


def whole_numbers(name: str, values: ArrayLike) -> NDArray[np.int64]:
    """An int64 array; floats are refused even where they are whole, because they may have been rounded."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be whole numbers; their type is {array.dtype}")
    if array.dtype == np.uint64 and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise ValueError(f"{name} must be at most 2**63 - 1; the largest is {int(array.max())}")
    return array.astype(np.int64)


def check_range(name: str, values: NDArray[np.int64], low: int, high: int) -> None:
    """Refuse an array with an entry outside [low, high]."""
    outside = (values < low) | (values > high)
    if outside.any():
        raise ValueError(f"{name} must be in [{low}, {high}]; one is {int(values[outside][0])}")


def probability(name: str, value: float, *, open_interval: bool = False) -> float:
    """A number in [0, 1], or in (0, 1)."""
    if open_interval and not 0 < value < 1:
        raise ValueError(f"{name} must be in the open interval (0, 1); it is {value!r}")
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be in [0, 1]; it is {value!r}")
    return float(value)


def positive(name: str, value: float) -> float:
    """A finite number above 0."""
    if not 0 < value < math.inf:
        raise ValueError(f"{name} must be positive and finite; it is {value!r}")
    return float(value)


def counts(name: str, values: ArrayLike, shape: tuple[int, ...] | None = None) -> NDArray[np.int64]:
    """Non-negative whole numbers with a positive sum."""
    array = np.asarray(values)
    if shape is not None and array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}; their shape is {array.shape}")
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be whole numbers; they are {array.tolist()!r}")
    if (array < 0).any():
        raise ValueError(f"{name} must not be negative; they are {array.tolist()!r}")
    if array.sum() == 0:
        raise ValueError(f"{name} must have a positive sum; they are all 0")
    return whole_numbers(name, array)


def option(name: str, value: str, allowed: Collection[str]) -> str:
    """One of the allowed words."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}; it is {value!r}")
    return value
