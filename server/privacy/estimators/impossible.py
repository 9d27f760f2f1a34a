"""Whether reports came in proportions that chance explains, where no true shares give them in expectation.

References
----------
Tango, T. (1998). Equivalence test and confidence interval for the difference in
proportions for the paired-sample design. *Statistics in Medicine* 17, 891-908.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from server.privacy.designs import Design
from server.privacy.estimators.compliance import lower_tail, upper_tail
from server.privacy.estimators.inverse import checked_reports, left_inverse
from server.privacy.estimators.parts import Stack, stack_single
from server.privacy.estimators.score_limits import score_limits
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
    return impossible_share_test_of([stack_single(checked_reports(counts, design), design)])


def impossible_share_test_of(stacks: Sequence[Stack]) -> float:
    """The test of one part, or of several: the smallest p value of these, times their number (Bonferroni)."""
    parts = sum(len(each.sizes) for each in stacks)
    return min(1.0, parts * min(1.0, *(_smallest(each) for each in stacks)))


def _smallest(parts: Stack) -> float:
    """The smallest p value of their shares, times the number of shares of a part."""
    design = parts.design
    if design.weights.shape == (2, 2):
        one, other = design.matrix[:, 1].tolist()
        return float(_binomial(parts.reports[:, 1], parts.sizes, one, other).min())
    if design.treats_options_alike():
        keep, lie = design.matrix[0, :2].tolist()
        least = float(_binomial(parts.reports, parts.sizes[:, None], lie, keep).min())
    else:
        least = _score_test(parts)
    return len(design.weights) * least


def _binomial(seen: NDArray[np.int64], n: NDArray[np.int64], one: float, other: float) -> NDArray[np.float64]:
    """Of a chance between two limits, against the nearer of them."""
    low, high = min(one, other), max(one, other)
    tails = np.where(seen < low * n, lower_tail(seen, n, low), upper_tail(seen, n, high))
    return np.where((seen < low * n) | (seen > high * n), tails, 1.0)


def _score_test(parts: Stack) -> float:
    """The smallest p value of the shares outside [0, 1], of which the intervals are those of the score test; or 1."""
    shares = parts.means(parts.inverse)
    rounding = 1e-13 * np.abs(parts.inverse).max(axis=1)
    places, truths = np.nonzero((shares < -rounding) | (shares > 1 + rounding))
    below = shares[places, truths] < 0
    for errors in range(1, int(_FARTHEST)):
        # The farthest of hundreds is looked for among those that are still outside of wider intervals.
        ends = score_limits(parts.inverse[truths], parts.reports[places], np.full(len(places), float(errors)))
        outside = np.where(below, ends[:, 1] <= 0, ends[:, 0] >= 1)
        if not outside.any():
            break
        places, truths, below = places[outside], truths[outside], below[outside]
    found = compute_together(
        _score(parts.inverse[truth], parts.reports[place], below=under)
        for place, truth, under in zip(places.tolist(), truths.tolist(), below.tolist(), strict=True)
    )
    return min(found, default=1.0)


def _score(row: NDArray[np.float64], counts: NDArray[np.int64], *, below: bool) -> Steps[float]:
    """Of the mean of `row[report]`, tested against 0 where it is below, else against 1."""

    def outside(errors: float) -> Steps[float]:
        """How far the interval of so many standard errors stays outside [0, 1]."""
        found = yield Means([row], [counts[None]], errors)
        ((low, high),) = found.tolist()
        return float(-high if below else low - 1)

    farthest = yield from outside(_FARTHEST)
    if farthest >= 0:
        return float(ndtr(-_FARTHEST))
    nearest = yield from outside(1e-9)
    errors = yield from find_root(outside, 1e-9, _FARTHEST, (nearest, farthest))
    return float(ndtr(-errors))
