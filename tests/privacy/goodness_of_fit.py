"""Chi-square tests of samples against exact chances, for the tests of random mechanisms.

The far tail of a chi-square statistic is heavier than that of its distribution where few outcomes are expected
in a cell: ten make a nominal 1e-6 an actual 1e-5. Neighbouring outcomes are therefore pooled until 100 are
expected in each cell.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2

FALSE_ALARMS = 1e-6
"""How often one statistical test fails although the code is right."""
_FEWEST = 100
"""Outcomes expected in a cell, at least."""


def p_value(sample: ArrayLike, pmf: Callable[[np.ndarray], np.ndarray]) -> float:
    """Of the hypothesis that whole numbers were drawn with these chances."""
    drawn = np.asarray(sample).ravel()
    reach = int(np.abs(drawn).max()) + 1
    expected = pmf(np.arange(-reach, reach + 1)) * drawn.size
    beyond = max(drawn.size - float(expected.sum()), 0.0) / 2
    observed = np.bincount(drawn + reach, minlength=expected.size)
    return _goodness(np.pad(observed, 1), np.concatenate([[beyond], expected, [beyond]]))


def p_value_of_choices(choices: ArrayLike, chances: ArrayLike) -> float:
    """Of the hypothesis that options 0, 1, ... were chosen with these chances."""
    drawn = np.asarray(choices)
    expected = np.asarray(chances, dtype=float) * drawn.size
    observed = np.bincount(drawn, minlength=expected.size)
    if observed[expected == 0].any():
        return 0.0
    order = np.argsort(expected)
    return _goodness(observed[order], expected[order])


def p_value_of_two(first: ArrayLike, second: ArrayLike) -> float:
    """Of the hypothesis that two samples of whole numbers, equally many, come from one distribution."""
    one, two = np.asarray(first).ravel(), np.asarray(second).ravel()
    low, high = min(one.min(), two.min()), max(one.max(), two.max())
    counts = [np.bincount(sample - low, minlength=high - low + 1) for sample in (one, two)]
    cells = _cells(np.add(*counts) / 2)
    a, b = (np.bincount(cells, weights=count) for count in counts)
    return float(chi2.sf(((a - b) ** 2 / (a + b)).sum(), max(len(a) - 1, 1)))


def _goodness(observed: NDArray[np.int64], expected: NDArray[np.float64]) -> float:
    cells = _cells(expected)
    seen, due = (np.bincount(cells, weights=values) for values in (observed, expected))
    return float(chi2.sf(((seen - due) ** 2 / due).sum(), max(len(due) - 1, 1)))


def _cells(expected: NDArray[np.float64]) -> NDArray[np.intp]:
    """The cell of each outcome: neighbours together until enough are expected, the last ones with those before."""
    cells, cell, held = np.zeros(expected.size, dtype=np.intp), 0, 0.0
    for outcome, due in enumerate(expected.tolist()):
        cells[outcome] = cell
        held += due
        if held >= _FEWEST:
            cell, held = cell + 1, 0.0
    return np.minimum(cells, max(cell - 1, 0))
