"""Checks of arguments, in one wording: the name, the range, the value."""

import math
import operator
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def whole_numbers(name: str, values: ArrayLike) -> NDArray[np.int64]:
    """An int64 array; floats are refused even where they are whole, because they may have been rounded."""
    array = any_array(name, values)
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


def probability(name: str, value: float | Fraction, *, open_interval: bool = False) -> float:
    """A number in [0, 1], or in (0, 1)."""
    if open_interval and not (is_number(value) and 0 < value < 1):
        raise ValueError(f"{name} must be in the open interval (0, 1); it is {value!r}")
    if not (is_number(value) and 0 <= value <= 1):
        raise ValueError(f"{name} must be in [0, 1]; it is {value!r}")
    return float(value)


def positive(name: str, value: float | Fraction) -> float:
    """A finite number above 0."""
    if not (is_number(value) and 0 < value < math.inf):
        raise ValueError(f"{name} must be positive and finite; it is {value!r}")
    return float(value)


def counts(
    name: str, values: ArrayLike, shape: tuple[int, ...] | None = None, *, empty: bool = False
) -> NDArray[np.int64]:
    """Non-negative whole numbers with a positive sum, or all 0 too where counts may be `empty`."""
    return np.asarray(stacked_counts([name], [values], shape, empty=empty)[0])


def stacked_counts(
    names: Sequence[str],
    values: Sequence[ArrayLike] | NDArray[Any],
    shape: tuple[int, ...] | None = None,
    *,
    empty: bool = False,
) -> NDArray[np.int64]:
    """Counts of several parts, one name each, all of one shape: an array with the parts as its first axis."""
    if isinstance(values, np.ndarray) and values.dtype == np.int64 and values.shape[1:] == shape:
        stacked = values  # no part of it can be of another shape or type
    else:
        stacked = np.stack([_whole(name, each, shape) for name, each in zip(names, values, strict=True)])
    parts = stacked.reshape(len(stacked), -1)
    negative = (parts < 0).any(axis=1)
    if negative.any():
        place = int(negative.argmax())
        raise ValueError(f"{names[place]} must not be negative; they are {stacked[place].tolist()!r}")
    some = parts.any(axis=1)  # a sum of huge counts can wrap round to 0
    if not (empty or some.all()):
        raise ValueError(f"{names[int(some.argmin())]} must have a positive sum; they are all 0")
    return stacked


def _whole(name: str, values: ArrayLike, shape: tuple[int, ...] | None) -> NDArray[np.int64]:
    array = any_array(name, values)
    if shape is not None and array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}; their shape is {array.shape}")
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be whole numbers; they are {array.tolist()!r}")
    return whole_numbers(name, array)


def option(name: str, value: object, allowed: Collection[str]) -> str:
    """One of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}; it is {value!r}")
    return value


def real_numbers(name: str, values: ArrayLike, largest: float = math.inf) -> NDArray[np.float64]:
    """A float64 array of finite numbers, at least one, none beyond `largest` in magnitude."""
    array = any_array(name, values)
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{name} must be numbers; their type is {array.dtype}")
    if array.size == 0:
        raise ValueError(f"{name} must have at least one entry; their shape is {array.shape}")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite; one is {float(array[~np.isfinite(array)][0])!r}")
    if np.abs(array).max() > largest:
        raise ValueError(
            f"{name} must be in [-{largest:g}, {largest:g}]; one is {float(array.flat[np.abs(array).argmax()])!r}"
        )
    return array


def whole_number(name: str, value: int, low: int, high: int | None = None) -> int:
    """One whole number in [low, high], or from low up; True and 2.0 are not whole numbers."""
    allowed = f"a whole number in [{low}, {high}]" if high is not None else f"a whole number from {low} up"
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be {allowed}; it is {value!r}") from None
    if isinstance(value, bool) or number < low or (high is not None and number > high):
        raise ValueError(f"{name} must be {allowed}; it is {value!r}")
    return number


def exact_probability(name: str, value: float | Fraction) -> Fraction:
    """A number in the open interval (0, 1) as the fraction that it is."""
    number = probability(name, value, open_interval=True)
    return Fraction(value) if isinstance(value, Rational) else Fraction(number)


def any_array(name: str, values: ArrayLike) -> NDArray[Any]:
    """What NumPy makes of the values; rows of different lengths are refused by name."""
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must have rows of one length; they are {values!r}") from None


def finite(name: str, value: float | Fraction) -> float:
    """A finite number."""
    if not (is_number(value) and -math.inf < value < math.inf):
        raise ValueError(f"{name} must be finite; it is {value!r}")
    return float(value)


def flag(name: str, value: object) -> bool:
    """True or False; a word or a number is more likely to be another argument's."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; it is {value!r}")
    return bool(value)


def list_entries(name: str, values: object) -> list[Any]:
    """The entries of a list, an array or another iterable; of a mapping or a set, which hold no entry twice, none."""
    if isinstance(values, Iterable) and not isinstance(values, bytes | Mapping | Set):
        if not isinstance(values, np.ndarray):
            return list(values)
        if values.ndim:
            return list(values.tolist())
    raise ValueError(f"{name} must be a list or an array, with an entry each; it is {values!r}")


def to_float(value: Fraction) -> float:
    """The nearest float; infinite above the largest."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def is_number(value: object) -> bool:
    """Whether it is a real number that a float can hold; True and False are none."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True
