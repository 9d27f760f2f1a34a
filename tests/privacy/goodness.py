"""Chi-square tests of samples against exact chances, for the tests of random mechanisms."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2, chi2_contingency

FALSE_ALARMS = 1e-6
"""How often one statistical test fails although the code is right."""


def p_value(sample: ArrayLike, pmf: Callable[[np.ndarray], np.ndarray]) -> float:
    """Of the hypothesis that whole numbers were drawn with these chances; rare ones are pooled."""
    drawn = np.asarray(sample).ravel()
    reach = int(np.abs(drawn).max()) + 1
    support = np.arange(-reach, reach + 1)
    expected = pmf(support) * drawn.size
    observed = np.bincount(drawn + reach, minlength=support.size)
    common = expected >= 10
    rest = drawn.size - expected[common].sum()
    parts = ((observed - expected) ** 2 / np.where(common, expected, 1))[common].sum()
    if rest > 1e-9 * drawn.size:
        parts += (observed[~common].sum() - rest) ** 2 / rest
    elif observed[~common].any():
        return 0.0
    return float(chi2.sf(parts, max(int(common.sum()), 1)))


def p_value_of_choices(choices: ArrayLike, chances: ArrayLike) -> float:
    """Of the hypothesis that options 0, 1, ... were chosen with these chances."""
    drawn = np.asarray(choices)
    expected = np.asarray(chances, dtype=float) * drawn.size
    observed = np.bincount(drawn, minlength=expected.size)
    possible = expected > 0
    if observed[~possible].any():
        return 0.0
    statistic = ((observed - expected)[possible] ** 2 / expected[possible]).sum()
    return float(chi2.sf(statistic, max(int(possible.sum()) - 1, 1)))


def p_value_of_two(first: ArrayLike, second: ArrayLike) -> float:
    """Of the hypothesis that two samples of whole numbers come from one distribution."""
    one, two = np.asarray(first).ravel(), np.asarray(second).ravel()
    low, high = np.quantile(np.concatenate([one, two]), [0.002, 0.998]).astype(int)
    edges = np.arange(high - low + 2)
    table = [np.histogram(np.clip(s, low, high) - low, bins=edges)[0] for s in (one, two)]
    kept = np.array(table)[:, np.sum(table, axis=0) > 0]
    return float(chi2_contingency(kept).pvalue)
