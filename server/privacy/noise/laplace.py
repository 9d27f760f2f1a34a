"""Laplace noise for numbers that are not counts: the discrete Laplace on a declared grid.

A value is rounded to the nearest multiple of the granularity (a half goes up), noise in
whole multiples is added, and the result is a multiple of the granularity again. Rounding
moves two neighbouring values further apart: values d steps apart end up at most ceil(d)
steps apart. If one person changes `changed` entries whose changes sum to S steps, the
rounded entries differ by at most ceil(S) + changed - 1 steps, a bound that is attained in
the limit. The noise is scaled to that, so that the rounding costs noise and not privacy.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import real_numbers, whole_number
from server.privacy.noise._opendp import LARGEST, add_discrete_laplace, exact, scale_of
from server.privacy.noise.allocation import allocate
from server.privacy.noise.geometric import geometric_pmf, geometric_variance, half_width

_MOST_STEPS = 10**300
_LARGEST_STEP = 1e280  # 2**62 of them are still a float


def laplace(
    values: ArrayLike,
    sensitivity: float | Fraction,
    epsilon: float | Fraction,
    granularity: float | Fraction,
    changed: int | None = None,
) -> NDArray[np.float64]:
    """Round numbers to a grid and add discrete Laplace noise on it.

    Parameters
    ----------
    values : array_like of float, any shape
        Finite; at most 2**62 steps from 0.
    sensitivity : float
        The most by which one person changes the whole array before rounding, summed over
        its entries (L1). It must hold for the values as computed: a floating-point sum
        can change by more than its exact counterpart, so sum whole numbers, not floats.
    epsilon : float
        Privacy loss of the whole array, in nats.
    granularity : float
        The step of the grid, above 0, in the units of the values. A power of two makes
        all arithmetic exact and quick. A hundredth of sensitivity / epsilon is fine enough.
    changed : int or None
        The most entries that one person changes; None means all of them.

    Returns
    -------
    ndarray of float64, the shape of `values`
        Multiples of the granularity.

    Raises
    ------
    ValueError
        If an argument is out of its range, or the noise scale is above 2**55 steps.

    References
    ----------
    Mironov (2012); Canonne, Kamath and Steinke (2020).

    Examples
    --------
    >>> noisy = laplace([0.3, 12.7], sensitivity=1.5, epsilon=1.0, granularity=1 / 64)
    >>> bool(np.all(noisy * 64 == np.round(noisy * 64)))
    True
    """
    numbers = real_numbers("values", values)
    changed = numbers.size if changed is None else min(_change_steps(changed), numbers.size)
    steps = laplace_sensitivity(sensitivity, granularity, changed)
    scale = scale_of(Fraction(steps), exact("epsilon", epsilon))
    noisy = add_discrete_laplace(on_grid("values", numbers, granularity), scale)
    return np.asarray(noisy * float(granularity))


def laplace_shared(
    values: ArrayLike,
    sensitivities: ArrayLike,
    epsilon: float | Fraction,
    granularity: float | Fraction,
    proportions: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Perturb several functions of the same people that share one loss, each by its own sensitivity.

    Parameters
    ----------
    values : array_like of float, shape (m,)
        One for each function, finite.
    sensitivities : array_like of float, shape (m,)
        The most by which one person changes each.
    epsilon : float
        Privacy loss of all together, in nats.
    granularity : float
        As for `laplace`, for all of them.
    proportions : array_like of float, shape (m,), or None
        Of the loss, as for `allocate`; without them every function gets noise of the same scale.

    Returns
    -------
    ndarray of float64, shape (m,)
        Multiples of the granularity. `allocate` says what each lost, for `laplace_interval`.

    Raises
    ------
    ValueError
        As `laplace` and `allocate`, or if there is not one sensitivity for each value.

    References
    ----------
    The R package DPpack, `LaplaceMechanism`.

    Examples
    --------
    >>> noisy = laplace_shared([0.3, 1270.0], [0.5, 100.0], epsilon=1.0, granularity=1 / 64, proportions=[1, 3])
    >>> bool(np.all(noisy * 64 == np.round(noisy * 64)))
    True
    """
    numbers, changes = real_numbers("values", values), real_numbers("sensitivities", sensitivities)
    if numbers.shape != changes.shape:
        raise ValueError(
            f"sensitivities must have one entry per value, shape {numbers.shape}; their shape is {changes.shape}"
        )
    losses = allocate(epsilon, changes, proportions).epsilons
    return np.array(
        [
            laplace(number, sensitivity, loss, granularity)
            for number, sensitivity, loss in zip(
                numbers.tolist(), changes.tolist(), losses.tolist(), strict=True
            )
        ]
    )


def laplace_sensitivity(
    sensitivity: float | Fraction, granularity: float | Fraction, changed: int = 1
) -> int:
    """Sensitivity of the rounded values, in steps of the grid: ceil(sensitivity / granularity) + changed - 1.

    Examples
    --------
    >>> laplace_sensitivity(1.5, 0.25), laplace_sensitivity(1.6, 0.25, changed=3)
    (6, 9)
    """
    steps = math.ceil(exact("sensitivity", sensitivity) / _step(granularity))
    if steps > _MOST_STEPS:
        raise ValueError(
            f"granularity must be at least sensitivity / 1e300; they are {granularity!r} and {sensitivity!r}"
        )
    return steps + _change_steps(changed) - 1


def laplace_variance(
    sensitivity: float | Fraction,
    epsilon: float | Fraction,
    granularity: float | Fraction,
    changed: int = 1,
) -> float:
    """Variance of the noise in one entry, in squared units of the values, without the rounding.

    Examples
    --------
    >>> round(laplace_variance(1, 1.0, 2**-20), 6)
    2.0
    """
    steps = laplace_sensitivity(sensitivity, granularity, changed)
    return float(granularity) * float(granularity) * geometric_variance(steps, epsilon)


def laplace_pmf(
    noise: ArrayLike,
    sensitivity: float | Fraction,
    epsilon: float | Fraction,
    granularity: float | Fraction,
    changed: int = 1,
) -> NDArray[np.float64]:
    """Chance of noise of this many *steps* of the grid.

    Examples
    --------
    >>> laplace_pmf([0, 4], 1, 1.0, 0.25).round(6).tolist()
    [0.124353, 0.045747]
    """
    return geometric_pmf(noise, laplace_sensitivity(sensitivity, granularity, changed), epsilon)


def laplace_interval(
    noisy: ArrayLike,
    sensitivity: float | Fraction,
    epsilon: float | Fraction,
    granularity: float | Fraction,
    confidence: float = 0.95,
    changed: int | None = None,
) -> NDArray[np.float64]:
    """Limits for the numbers before rounding and noise, with at least this confidence each.

    Parameters
    ----------
    noisy : array_like of float, any shape
        What `laplace` returned.
    sensitivity, epsilon, granularity, changed
        As given to `laplace`.
    confidence : float
        In (0, 1).

    Returns
    -------
    ndarray of float64, shape (..., 2)
        The noise's own limits, widened by half a step for the rounding.

    Raises
    ------
    ValueError
        As `laplace`, or if the confidence is outside (0, 1).

    Examples
    --------
    >>> laplace_interval(10.0, 1, 1.0, 0.25).tolist()
    [6.875, 13.125]
    """
    centre = real_numbers("noisy", noisy)
    changed = centre.size if changed is None else min(_change_steps(changed), centre.size)
    steps = laplace_sensitivity(sensitivity, granularity, changed)
    scale = scale_of(Fraction(steps), exact("epsilon", epsilon))
    half = (half_width(scale, confidence) + 0.5) * float(granularity)
    return np.stack([centre - half, centre + half], axis=-1)


def on_grid(name: str, values: NDArray[np.float64], granularity: float | Fraction) -> NDArray[np.int64]:
    """The nearest whole number of steps, a half going up, with no rounding error on the way."""
    step = _step(granularity)
    if values.size and Fraction(float(np.abs(values).max())) > LARGEST * step:
        raise ValueError(
            f"{name} must be within 2**62 steps of {float(step)!r}; the largest is {float(np.abs(values).max())!r}"
        )
    # Dividing by a power of two is exact in floats, unless the result is too small to be written in full.
    if math.frexp(float(step))[0] == 0.5 and step == Fraction(float(step)) and step <= 1:
        scaled = values / float(step)
        below = np.floor(scaled)
        return np.asarray(below + (scaled - below >= 0.5), dtype=np.int64)
    rounded = [math.floor(Fraction(value) / step + Fraction(1, 2)) for value in values.ravel().tolist()]
    return np.array(rounded, dtype=np.int64).reshape(values.shape)


def _step(granularity: float | Fraction) -> Fraction:
    if exact("granularity", granularity) > _LARGEST_STEP:
        raise ValueError(f"granularity must be at most {_LARGEST_STEP:g}; it is {granularity!r}")
    return exact("granularity", granularity)


def _change_steps(changed: int) -> int:
    return whole_number("changed", changed, 1, 1 << 53)
