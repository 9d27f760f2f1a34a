"""The calls of OpenDP: exact discrete noise added to a vector of 64-bit integers."""

import math
import os
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import any_array, check_range, positive, to_float, whole_numbers

if TYPE_CHECKING:
    from opendp.mod import Measurement

# An OpenDP error collects a Rust backtrace, 70-170 ms of it, unless told not to before the import.
os.environ.setdefault("RUST_BACKTRACE", "0")

LARGEST = 1 << 62
"""The largest magnitude of a value that noise is added to."""

LARGEST_SCALE = 1 << 55
"""The largest scale of noise, in steps of its grid.

OpenDP stops at the limits of 64-bit integers. Under these two limits that takes noise of
2**62, 128 scales: a chance below 1e-55. Stopping is post-processing and costs no privacy.
"""


def exact(name: str, value: float | Fraction) -> Fraction:
    """A positive finite number as the fraction that it is."""
    positive(name, value)
    return Fraction(value) if isinstance(value, int | Fraction) else Fraction(float(value))


def scale_of(sensitivity: Fraction, epsilon: Fraction) -> float:
    """The smallest float that is not below sensitivity / epsilon, so that the loss is never above epsilon."""
    ratio = sensitivity / epsilon
    if ratio > LARGEST_SCALE:
        raise ValueError(
            f"sensitivity / epsilon must be at most 2**55 steps of the grid; it is {to_float(ratio):.6g}"
        )
    scale = float(ratio)
    scale = scale if Fraction(scale) >= ratio else math.nextafter(scale, math.inf)
    return max(scale, 1e-300)


def values_to_perturb(name: str, values: ArrayLike, largest: int = LARGEST) -> NDArray[np.int64]:
    """Whole numbers, at least one, none beyond `largest`."""
    given = any_array(name, values)
    if given.size == 0:  # asked first: an empty list has no type
        raise ValueError(f"{name} must have at least one entry; their shape is {given.shape}")
    array = whole_numbers(name, given)
    check_range(name, array, -largest, largest)
    return array


def limit_around(centre: NDArray[np.int64], half: int) -> NDArray[np.int64]:
    """Limits half a width on either side, shape (..., 2), cut at the ends of 64 bits: no value reaches them."""
    half = min(half, np.iinfo(np.int64).max)
    lower = np.maximum(centre, np.iinfo(np.int64).min + half) - half
    upper = np.minimum(centre, np.iinfo(np.int64).max - half) + half
    return np.stack([lower, upper], axis=-1)


def add_discrete_laplace(values: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
    """Add noise with Pr(k) proportional to exp(-|k| / scale) to every entry, in one call."""
    noisy = np.array(_laplace(scale)(values.ravel()), dtype=np.int64)
    return noisy.reshape(values.shape)


def add_discrete_gaussian(values: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
    """Add noise with Pr(k) proportional to exp(-k**2 / (2 scale**2)) to every entry, in one call."""
    noisy = np.array(_gaussian(scale)(values.ravel()), dtype=np.int64)
    return noisy.reshape(values.shape)


@lru_cache(maxsize=256)
def _laplace(scale: float) -> "Measurement":
    # Here, so that who draws no noise needs neither the time nor the room that OpenDP takes.
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_laplace
    from opendp.metrics import l1_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    return make_laplace(vector_domain(atom_domain(T="i64")), l1_distance(T="i64"), scale=scale)


@lru_cache(maxsize=256)
def _gaussian(scale: float) -> "Measurement":
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_gaussian
    from opendp.metrics import l2_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    return make_gaussian(vector_domain(atom_domain(T="i64")), l2_distance(T="f64"), scale=scale)
