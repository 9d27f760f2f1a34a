"""Arithmetic of two independent groups of respondents."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import any_array
from server.privacy.designs import Design
from server.privacy.estimators.inverse import checked_reports


def checked_groups(counts: ArrayLike, designs: Sequence[Design]) -> NDArray[np.int64]:
    """Counts of two groups, shape (2, 2), one row (no, yes) each; raises as `checked_reports`."""
    groups = any_array("counts", counts)
    if groups.shape != (2, 2):
        raise ValueError(f"counts must have shape (2, 2), one row (no, yes) per group; it is {groups.shape}")
    return np.stack(
        [
            checked_reports(group, design, f"counts[{number}]")
            for number, (group, design) in enumerate(zip(groups, designs, strict=True))
        ]
    )


def groups_covariance(
    factors: NDArray[np.float64], yes: NDArray[np.int64], n: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Of `factors @ observed` for two independent groups; infinite when one has one report."""
    if n.min() == 1:
        return np.full((len(factors),) * 2, np.inf)
    observed = yes / n
    return np.asarray((factors * (observed * (1 - observed) / (n - 1))) @ factors.T)
