"""Whether reports came in proportions that chance explains, where no true shares give them in expectation.

References
----------
Tango, T. (1998). Equivalence test and confidence interval for the difference in
proportions for the paired-sample design. *Statistics in Medicine* 17, 891-908.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from server.privacy.designs import Design
from server.privacy.estimators.diagnostics import lower_tail, upper_tail
from server.privacy.estimators.inverse import checked_reports, left_inverse, possible_reports
from server.privacy.estimators.together import Means, Steps, compute_together, find_root

_FARTHEST = 8.0
"""In standard errors; confidences closer to 1 are not told apart."""


def impossible_share_test(counts: ArrayLike, design: Design) -> float:
    """How well chance alone explains an observed share outside the design's range.

    Under a yes/no design the share of "yes" reports lies, in expectation, between
    Pr(yes | no) and Pr(yes | yes). This is the exact one-sided binomial test that it
    lies on the nearer limit or inside. Under a design of k answers every share outside
    [0, 1] is tested against the nearer limit, and the smallest p value counts k times
    (Bonferroni), because any of the shares might have been the one.

    Parameters
    ----------
    counts : array_like of int, shape (m,)
        Reports received, (no, yes) for a yes/no question.
    design : Design
        The k x m design that produced them.

    Returns
    -------
    float
        The p value: 1.0 when every estimated share is inside [0, 1].

    Raises
    ------
    ValueError
        As `estimate_shares`.

    Notes
    -----
    Under a design that treats its options alike the test of a share is an exact binomial one of
    the reports of that option. Under another design it is the score test whose inversion gives
    the interval of `estimate_shares`, asymptotic.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip, k_ary
    >>> round(impossible_share_test([764, 236], coin_flip(0.25)), 2)
    0.16
    >>> round(impossible_share_test([140, 290, 280, 290], k_ary(4, 1.0986122886681098)), 3)
    0.048
    """
    left_inverse(design)
    return impossible_share_tests([checked_reports(counts, design)], [design])[0]


def impossible_share_tests(counts: Sequence[NDArray[np.int64]], designs: Sequence[Design]) -> list[float]:
    """The same test of several groups, side by side; counts and designs were checked."""
    found = compute_together(
        steps for reports, design in zip(counts, designs, strict=True) for steps in _tests(reports, design)
    )
    values = iter(found)
    smallest = []
    for design in designs:
        k = len(design.weights)
        own = [next(values) for _ in range(1 if k == design.weights.shape[1] == 2 else k)]
        smallest.append(min(1.0, len(own) * min(own)))
    return smallest


def _tests(reports: NDArray[np.int64], design: Design) -> Iterator[Steps[float]]:
    """The test of each share; of a yes/no design that of its one share."""
    n = int(reports.sum())
    if design.weights.shape == (2, 2):
        yield _binomial(int(reports[1]), n, *design.matrix[:, 1].tolist())
    elif design.treats_options_alike():
        keep, lie = design.matrix[0, :2].tolist()
        for seen in reports.tolist():
            yield _binomial(seen, n, lie, keep)
    else:
        possible = possible_reports(design)
        for row in left_inverse(design)[:, possible]:
            yield _score(row, reports[possible])


def _binomial(seen: int, n: int, one: float, other: float) -> Steps[float]:
    yield from ()  # it asks for no limits
    low, high = min(one, other), max(one, other)
    if seen < low * n:
        return lower_tail(seen, n, low)
    if seen > high * n:
        return upper_tail(seen, n, high)
    return 1.0


def _score(row: NDArray[np.float64], counts: NDArray[np.int64]) -> Steps[float]:
    """Of the mean of `row[report]`, tested against the nearer of 0 and 1."""
    share = float(row @ counts) / int(counts.sum())
    rounding = 1e-13 * float(np.abs(row).max())
    if -rounding <= share <= 1 + rounding:
        return 1.0

    def outside(errors: float) -> Steps[float]:
        """How far the interval of so many standard errors stays outside [0, 1]."""
        found = yield Means([row], [counts], errors)
        ((low, high),) = found.tolist()
        return float(-high if share < 0 else low - 1)

    farthest = yield from outside(_FARTHEST)
    if farthest >= 0:
        return float(ndtr(-_FARTHEST))
    nearest = yield from outside(1e-9)
    errors = yield from find_root(outside, 1e-9, _FARTHEST, (nearest, farthest))
    return float(ndtr(-errors))
