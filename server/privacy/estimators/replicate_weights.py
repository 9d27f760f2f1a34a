"""Replicate weights: those that come with a sample, and those that are made of how it was drawn.

References
----------
Wolter, K. M. (2007). *Introduction to Variance Estimation*. Second edition, Springer. Chapters 3 to 5.
Rao, J. N. K. and Wu, C. F. J. (1988). Resampling inference with complex survey data. *JASA* 83, 231-241.
Lumley, T. (2010). *Complex Surveys: A Guide to Analysis Using R*. Wiley. Section 2.3.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from server.privacy._checks import option, positive, real_numbers, whole_number
from server.privacy.estimators.sample_designs import Floats, Groups, Replicates, SampleDesign, Units

Calibrate = Callable[[Floats], Floats]
MOST_UNITS = 2_000
"""Of a jackknife, which estimates everything again without each of them."""
REPLICATE_KINDS = ("jk1", "jkn", "brr", "fay", "bootstrap", "other")


def keep_weights(weights: Floats) -> Floats:
    """Weights that are calibrated to nothing."""
    return weights


def use_replicates(
    columns: Sequence[ArrayLike],
    kind: str,
    scale: float | None = None,
    rscales: ArrayLike | None = None,
    rho: float | None = None,
    *,
    centred: bool = True,
) -> Replicates:
    """Weights that came with a sample, each column all of what its rows count.

    Parameters
    ----------
    columns : sequence of array_like, each of shape (n,)
        Not below 0.
    kind : {"jk1", "jkn", "brr", "fay", "bootstrap", "other"}
        What they are called, of which the scale follows: (R - 1)/R of R columns, 1, 1/R, 1/(R (1 - rho)^2),
        1/(R - 1), 1.
    scale : float, optional
        In its place.
    rscales : array_like of float, shape (R,), optional
        What each counts beside the scale: of "jkn" (clusters of its stratum - 1)/clusters.
    rho : float, optional
        Of "fay": from 0 up, below 1.
    centred : bool
        Whether distances are to the mean of the replicates, and not to the estimate.

    Raises
    ------
    ValueError
        If there are fewer than two columns, lengths differ, something is out of its range, or "jkn" has no rscales.

    Examples
    --------
    >>> use_replicates([[0, 2], [2, 0]], "jk1").factors.tolist()
    [0.5, 0.5]
    """
    option("kind", kind, REPLICATE_KINDS)
    read = [real_numbers(f"columns[{place}]", column) for place, column in enumerate(columns)]
    count = len(read)
    if count < 2 or any(column.shape != read[0].shape for column in read):
        raise ValueError(f"columns must be at least two of one length; there are {count}")
    if any((column < 0).any() for column in read):
        raise ValueError("columns must not hold numbers below 0")
    if (rho is None) == (kind == "fay"):
        raise ValueError(f"rho must be given for fay, and for nothing else; it is {rho!r} of {kind}")
    if kind == "jkn" and rscales is None:
        raise ValueError("rscales must be given for jkn; they are missing")
    usual = {
        "jk1": (count - 1) / count,
        "jkn": 1.0,
        "brr": 1 / count,
        "fay": 1 / count / (1 - (rho or 0)) ** 2 if rho is None or 0 <= rho < 1 else 0.0,
        "bootstrap": 1 / (count - 1),
        "other": 1.0,
    }[kind]
    if not usual:
        raise ValueError(f"rho must be in [0, 1); it is {rho!r}")
    own = np.ones(count) if rscales is None else real_numbers("rscales", rscales)
    if own.shape != (count,) or (own < 0).any():
        raise ValueError(
            f"rscales must be {count} numbers from 0, one of each column; their shape is {own.shape}"
        )
    factors = own * (usual if scale is None else positive("scale", scale))
    alike = np.array([[float(first @ second) for second in read] for first in read])
    freedom = max(int(np.linalg.matrix_rank(alike, hermitian=True)) - 1, 0)
    return Replicates(count, read.__getitem__, factors, centred, freedom)


def make_jackknife(sample: SampleDesign, calibrate: Calibrate = keep_weights) -> Replicates:
    """Each unit left out in turn, the others of its stratum counting as much more; distances are to the estimate.

    Parameters
    ----------
    sample : SampleDesign
        Its weights are those before calibration; at least two units in each stratum. Its populations are left
        aside: however many were drawn, the coins vary as ever, and a replicate does not tell the two apart.
    calibrate : callable
        Done to the weights of each replicate.

    Raises
    ------
    ValueError
        If a stratum has one unit, or there are too many.

    Examples
    --------
    >>> found = make_jackknife(SampleDesign(np.ones(4), clusters=np.array([0, 0, 1, 2])))
    >>> found.make(0).tolist(), found.factors.round(3).tolist()
    ([0.0, 0.0, 1.5, 1.5], [0.667, 0.667, 0.667])
    """
    units = _check_units(sample)
    if len(units.strata) > MOST_UNITS:
        raise ValueError(f"units must be at most {MOST_UNITS} for a jackknife; there are {len(units.strata)}")
    sizes = units.sizes.astype(np.float64)
    factors = ((sizes - 1) / sizes)[units.strata]

    def make(number: int) -> Floats:
        own = units.strata[number]
        times = np.where(units.strata == own, sizes[own] / (sizes[own] - 1), 1.0)
        times[number] = 0
        return calibrate(sample.weights * _spread(units, times))

    return Replicates(len(units.strata), make, factors, False, _count_freedom(sample, units))


def make_bootstrap(
    sample: SampleDesign, count: int, seed: int, calibrate: Calibrate = keep_weights
) -> Replicates:
    """Units drawn again, within their strata, with replacement: one fewer than there are (Rao and Wu 1988).

    Parameters
    ----------
    sample : SampleDesign
        As of `make_jackknife`.
    count : int
        Of replicates, at least 2.
    seed : int
        From 0: the same one draws the same. What is drawn protects nobody.
    calibrate : callable

    Raises
    ------
    ValueError
        If a stratum has one unit, or a number is out of its range.

    Examples
    --------
    >>> found = make_bootstrap(SampleDesign(np.ones(4)), 500, seed=1)
    >>> float(found.make(0).sum()), found.count
    (4.0, 500)
    """
    whole_number("count", count, 2)
    whole_number("seed", seed, 0)
    units = _check_units(sample)
    sizes = units.sizes
    order = np.argsort(units.strata, kind="stable")
    starts = np.cumsum(sizes) - sizes

    def make(number: int) -> Floats:
        rng = np.random.Generator(np.random.PCG64([seed, number]))
        drawn = np.zeros(len(units.strata))
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
            again = np.bincount(rng.integers(0, size, size - 1), minlength=size)
            drawn[order[start : start + size]] = again * size / (size - 1)
        return calibrate(sample.weights * _spread(units, drawn))

    factors = np.full(count, 1 / (count - 1))
    return Replicates(count, make, factors, True, _count_freedom(sample, units))


def _check_units(sample: SampleDesign) -> Units:
    units = sample.units
    if (units.sizes < 2).any():
        place = int((units.sizes < 2).argmax())
        raise ValueError(
            f"strata must have at least 2 units each; stratum {place} has {int(units.sizes[place])}"
        )
    return units


def _spread(units: Units, times: Floats) -> Floats:
    """To the rows of each unit."""
    return times if units.of_row is None else times[units.of_row]


def _count_freedom(sample: SampleDesign, units: Units) -> int:
    groups: Groups = units.sizes
    return max(len(units.strata) - len(groups) - sample.fitted, 0)
