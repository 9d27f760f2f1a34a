"""Sharing one privacy loss out over several functions, and the largest of many errors."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import positive, probability, real_numbers, to_float, whole_number
from server.privacy.noise._opendp import exact


@dataclass(frozen=True)
class Allocation:
    """Shares of a privacy loss.

    Attributes
    ----------
    epsilons : ndarray, shape (m,)
        What each function may lose, in nats; they sum to no more than the whole.
    scales : ndarray, shape (m,)
        Scale of Laplace or geometric noise for each: sensitivity / epsilon.
    """

    epsilons: NDArray[np.float64]
    scales: NDArray[np.float64]


def allocate(
    epsilon: float | Fraction, sensitivities: ArrayLike, proportions: ArrayLike | None = None
) -> Allocation:
    """Share a privacy loss out over functions with their own sensitivities.

    Parameters
    ----------
    epsilon : float
        The whole, in nats.
    sensitivities : array_like of float, shape (m,)
        L1 sensitivity d_i of each function, above 0.
    proportions : array_like of float, shape (m,), or None
        Entry i gets scale d_i / (epsilon w_i / sum(w)). Without them every entry gets the
        same scale, sum(d) / epsilon.

    Returns
    -------
    Allocation

    Raises
    ------
    ValueError
        If a number is not positive and finite, or the lengths differ.

    References
    ----------
    The R package DPpack, `LaplaceMechanism`.

    Examples
    --------
    >>> allocate(1.0, [1, 3]).scales.tolist()
    [4.0, 4.0]
    >>> allocate(1.0, [1, 3], proportions=[1, 1]).scales.tolist()
    [2.0, 6.0]
    """
    whole = exact("epsilon", epsilon)
    parts = [exact("sensitivities", value) for value in _vector("sensitivities", sensitivities).tolist()]
    if proportions is None:
        weights = parts
    else:
        weights = [exact("proportions", value) for value in _vector("proportions", proportions).tolist()]
        if len(weights) != len(parts):
            raise ValueError(
                f"proportions must have one entry per sensitivity, {len(parts)}; they have {len(weights)}"
            )
    shares = [whole * weight / sum(weights) for weight in weights]
    scales = [to_float(part / share) for part, share in zip(parts, shares, strict=True)]
    epsilons = [_rounded_down(share) for share in shares]
    if max(scales) == math.inf or min(epsilons) == 0:
        raise ValueError(
            "epsilon, sensitivities and proportions must leave each function a loss and a scale within floats; "
            f"the losses are {epsilons}, the scales {scales}"
        )
    return Allocation(epsilons=np.array(epsilons), scales=np.array(scales))


def largest_error(entries: int, scale: float, confidence: float = 0.95) -> float:
    """What the largest of many Laplace errors stays below: ln(entries / (1 - confidence)) * scale.

    The union bound over Pr(|noise| >= t * scale) = exp(-t). For the geometric noise that
    is drawn here, `geometric_interval(..., simultaneous=True)` is exact and narrower.

    Raises
    ------
    ValueError
        If entries is below 1, the scale not positive or the confidence outside (0, 1).

    Examples
    --------
    >>> round(largest_error(10_000, 1.0), 3)
    12.206
    """
    whole_number("entries", entries, 1)
    probability("confidence", confidence, open_interval=True)
    return (math.log(entries) - math.log1p(-confidence)) * positive("scale", scale)


def _vector(name: str, values: ArrayLike) -> NDArray[np.float64]:
    array = real_numbers(name, values)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one vector; their shape is {array.shape}")
    return array


def _rounded_down(share: Fraction) -> float:
    nearest = float(share)
    return nearest if Fraction(nearest) <= share else math.nextafter(nearest, 0.0)
