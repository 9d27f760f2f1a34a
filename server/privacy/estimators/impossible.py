"""Whether reports came in proportions that chance explains, where no true shares give them in expectation.

References
----------
Tango, T. (1998). Equivalence test and confidence interval for the difference in
proportions for the paired-sample design. *Statistics in Medicine* 17, 891-908.
"""

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from server.privacy.designs import Design
from server.privacy.estimators.compliance import lower_tail, upper_tail
from server.privacy.estimators.inverse import checked_reports, left_inverse
from server.privacy.estimators.parts import Stack, combine_stacks, stack_single
from server.privacy.estimators.score_limits import score_errors

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
    return impossible_share_tests([stacks])[0]


def impossible_share_tests(groups: Sequence[Sequence[Stack]]) -> list[float]:
    """As `impossible_share_test_of`, of several groups of parts, each by itself."""
    by_design: dict[Design, list[tuple[int, Stack]]] = {}
    for group, stacks in enumerate(groups):
        for stack in stacks:
            by_design.setdefault(stack.design, []).append((group, stack))
    least = np.ones(len(groups))
    for some in by_design.values():
        parts = combine_stacks([stack for _group, stack in some])
        owners = np.repeat([group for group, _ in some], [len(stack.sizes) for _, stack in some])
        least = np.minimum(least, _smallest(parts, owners, len(groups)))
    sizes = [sum(len(stack.sizes) for stack in stacks) for stacks in groups]
    return list(np.minimum(least * sizes, 1.0).tolist())


def _smallest(parts: Stack, owners: NDArray[np.int64], groups: int) -> NDArray[np.float64]:
    """Of each group's parts the smallest p value of their shares, times the number of these; shape (groups,)."""
    design, shares = parts.design, len(parts.design.weights)
    if design.weights.shape == (2, 2):
        first, second = design.matrix[:, 1].tolist()
        found, shares = _binomial(parts.reports[:, 1], parts.sizes, first, second), 1
    elif design.treats_options_alike():
        keep, lie = design.matrix[0, :2].tolist()
        found = _binomial(parts.reports, parts.sizes[:, None], lie, keep).min(axis=1)
    else:
        owners, found = _score_tests(parts, owners)
    least = np.ones(groups)
    np.minimum.at(least, owners, found)
    return shares * least


def _binomial(
    seen: NDArray[np.int64], n: NDArray[np.int64], first: float, second: float
) -> NDArray[np.float64]:
    """Of a chance between two limits, against the nearer of them."""
    low, high = min(first, second), max(first, second)
    tails = np.where(seen < low * n, lower_tail(seen, n, low), upper_tail(seen, n, high))
    return np.where((seen < low * n) | (seen > high * n), tails, 1.0)


def _score_tests(parts: Stack, owners: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The p values of shares outside [0, 1], of which the intervals are those of the score test, and whose they are.

    Each is tested against 0 where it is below, else against 1.
    """
    shares = parts.means(parts.inverse)
    rounding = 1e-13 * np.abs(parts.inverse).max(axis=1)
    places, truths = np.nonzero((shares < -rounding) | (shares > 1 + rounding))
    below = shares[places, truths] < 0
    rows = np.where(below[:, None], parts.inverse[truths], -parts.inverse[truths])
    errors = score_errors(rows, parts.reports[places], np.where(below, 0.0, -1.0))
    return owners[places], scipy.special.ndtr(-np.minimum(errors, _FARTHEST))
