"""Independent parts of one estimate: versions of a survey, strata of a population, or both at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import listed, real_numbers
from server.privacy.designs import Design
from server.privacy.estimators.inverse import checked_reports, left_inverse

_TO_ONE = 1e-9
"""How far from 1 the sum of weights may be."""


@dataclass(frozen=True)
class Part:
    """Checked reports of one part, its design with the left inverse, and what it counts."""

    reports: NDArray[np.int64]
    design: Design
    inverse: NDArray[np.float64]
    weight: float


def checked_parts(
    counts: Sequence[ArrayLike], designs: Sequence[Design], weights: ArrayLike | None
) -> list[Part]:
    """Parts in the order given, those without reports too.

    Raises
    ------
    ValueError
        If there is not one design per part, all with as many truths and none singular, if
        counts are refused by `checked_reports` but for being all 0, if no part has any, or
        if the weights are refused by `part_weights`.
    """
    listed_counts, used = listed("counts", counts), listed("designs", designs)
    if not used or len(used) != len(listed_counts):
        raise ValueError(
            "counts and designs must have one entry per part, at least one; "
            f"they have {len(listed_counts)} and {len(used)}"
        )
    inverses = [left_inverse(design, f"designs[{number}]") for number, design in enumerate(used)]
    truths = [len(inverse) for inverse in inverses]
    if len(set(truths)) > 1:
        raise ValueError(f"designs must all have the same number of truths; they have {truths}")
    reports = [
        checked_reports(part, design, f"counts[{number}]", empty=True)
        for number, (part, design) in enumerate(zip(listed_counts, used, strict=True))
    ]
    shares = part_weights(weights, [int(part.sum()) for part in reports], "counts")
    return [Part(*part) for part in zip(reports, used, inverses, shares.tolist(), strict=True)]


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
