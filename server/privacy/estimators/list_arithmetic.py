"""What estimates from lists of items share: checked counts, and the difference between two mean counts."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import any_array, counts
from server.privacy.estimators.inverse import MOST_REPORTS
from server.privacy.estimators.limits import added_limits, linear_limits


def checked_list(name: str, values: ArrayLike, least: int) -> NDArray[np.int64]:
    """Counts in a row of `least` places or more, with a sum in [1, 2**53]."""
    found = any_array(name, values)
    if found.ndim != 1 or len(found) < least:
        raise ValueError(f"{name} must be a row of {least} counts or more; its shape is {found.shape}")
    return _checked_sum(name, counts(name, found))


def checked_table(name: str, values: ArrayLike, least: tuple[int, int]) -> NDArray[np.int64]:
    """Counts in a table of at least that shape, with a sum in [1, 2**53]."""
    found = any_array(name, values)
    if found.ndim != 2 or any(length < fewest for length, fewest in zip(found.shape, least, strict=True)):
        raise ValueError(f"{name} must be a table of shape {least} or larger; its shape is {found.shape}")
    return _checked_sum(name, counts(name, found))


def _checked_sum(name: str, values: NDArray[np.int64]) -> NDArray[np.int64]:
    total = sum(values.ravel().tolist())  # a sum of huge counts can wrap round
    if total > MOST_REPORTS:
        raise ValueError(f"{name} must have a sum in [1, 2**53]; it is {total}")
    return values


def subtract_means(
    values: NDArray[np.float64] | NDArray[np.int64],
    seen: NDArray[np.int64],
    others: NDArray[np.float64] | NDArray[np.int64],
    others_seen: NDArray[np.int64],
    confidence: float,
) -> tuple[float, float, tuple[float, float]]:
    """How much higher the mean of `others` is than that of `values`, its standard error and limits."""
    means, variances, limits = [], [], []
    for worth, tally in ((values, seen), (others, others_seen)):
        n = int(tally.sum())
        mean = float(tally @ worth) / n
        means.append(mean)
        variances.append(float(tally @ (worth - mean) ** 2) / (n - 1) / n if n > 1 else np.inf)
        limits.append(linear_limits(worth.astype(np.float64), tally, confidence, "wilson"))
    interval = added_limits(np.array([-1.0, 1.0]), np.array(means), np.array(limits))
    return means[1] - means[0], float(np.sqrt(sum(variances))), interval
