"""Whether respondents did what was asked, and what a few dishonest ones can do to an estimate.

References
----------
Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits
illustrated in the case of the binomial. *Biometrika* 26, 404-413.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import list_entries, whole_number
from server.privacy.designs import Design
from server.privacy.estimators.inverse import checked_reports, left_inverse, possible_reports, require_yes_no
from server.privacy.estimators.parts import Stack, part_weights, places_of, stack_single


@dataclass(frozen=True)
class ControlItemTest:
    """How well a true share of 0 explains the reports to a question to which nobody is a "yes".

    Attributes
    ----------
    n : int
        Number of reports.
    share : float
        Estimated share of "yes", unbiased and unclipped.
    above : float
        p value against a share above 0: small when some people answered "yes", at random or by
        mistake.
    below : float
        p value against a share below 0, which no answers give: small when reports did not
        come from the design.
    """

    n: int
    share: float
    above: float
    below: float


def control_item_test(counts: ArrayLike, design: Design) -> ControlItemTest:
    """Test a control item: a question whose true share of "yes" is known to be 0.

    Parameters
    ----------
    counts : array_like of int, shape (2,)
        Reports received, ordered (no, yes).
    design : Design
        The 2 x 2 design that produced them.

    Returns
    -------
    ControlItemTest
        Each p value is that of an exact binomial test, one-sided and by itself: if everybody
        is a "no", the number of "yes" reports is binomial with Pr(yes | no).

    Raises
    ------
    ValueError
        As `estimate_shares`, or if the design is not 2 x 2.

    Notes
    -----
    A large p value does not show that nobody answered "yes": with few reports a small share goes
    unseen, and the standard error of `estimate_shares` says how small.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> result = control_item_test([700, 300], coin_flip(0.25))
    >>> round(result.share, 3), round(result.above, 5), round(result.below, 3)
    (0.1, 0.00019, 1.0)
    """
    require_yes_no(design)
    part = stack_single(checked_reports(counts, design), design)
    return control_item_test_of([part], int(part.sizes[0]))


def control_item_test_of(stacks: Sequence[Stack], n: int) -> ControlItemTest:
    """The test of one part or of several, which have reports; n is the number of all."""
    share, above, below = 0.0, [], []
    for stack in stacks:
        yes, sizes = stack.reports[:, 1], stack.sizes
        if_no, if_yes = stack.matrix[:, 1].tolist()
        tails = [upper_tail(yes, sizes, if_no), lower_tail(yes, sizes, if_no)]
        share += float(stack.weights @ ((yes / sizes - if_no) / (if_yes - if_no)))
        above.append(tails[0] if if_yes > if_no else tails[1])
        below.append(tails[1] if if_yes > if_no else tails[0])
    return ControlItemTest(
        n=n,
        share=share,
        above=adjusted_p_value(np.concatenate(above)),
        below=adjusted_p_value(np.concatenate(below)),
    )


def adjusted_p_value(p_values: NDArray[np.float64]) -> float:
    """Of the hypothesis that all of several hypotheses hold, whatever ties their tests: Bonferroni's."""
    return min(1.0, len(p_values) * float(p_values.min()))


def upper_tail(seen: NDArray[np.int64], n: NDArray[np.int64], chance: float) -> NDArray[np.float64]:
    """Pr(X >= seen) of binomial X of n."""
    return np.where(seen > 0, scipy.special.betainc(np.maximum(seen, 1), n - seen + 1, chance), 1.0)


def lower_tail(seen: NDArray[np.int64], n: NDArray[np.int64], chance: float) -> NDArray[np.float64]:
    """Pr(X <= seen) of binomial X of n."""
    return np.where(seen < n, scipy.special.betaincc(seen + 1, np.maximum(n - seen, 1), chance), 1.0)


def manipulation_bound(n: int, forged: int, design: Design) -> float:
    """How far forged submissions can move an estimated share, at most.

    Parameters
    ----------
    n : int
        Number of reports, the forged ones included, at least 1.
    forged : int
        How many of them may be forged, in [0, n].
    design : Design
        The k x m design.

    Returns
    -------
    float
        A fraction (it can exceed 1): forged / n times the largest difference that one
        report makes to any share. For a yes/no design forged / (n |Pr(yes | yes) -
        Pr(yes | no)|), that is m / (2 gamma n) for a coin flip. No forger can do more,
        because all a submission holds is one report.

    Raises
    ------
    ValueError
        If n is below 1, forged is outside [0, n] or the design is singular.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> manipulation_bound(1000, 10, coin_flip(0.25))
    0.02
    """
    n = whole_number("n", n, 1)
    forged = whole_number("forged", forged, 0, n)
    return forged / n * _reach(design, "design")


def pooled_manipulation_bound(
    sizes: Sequence[int],
    forged: int,
    designs: Sequence[Design],
    weights: ArrayLike | None = None,
) -> float:
    """How far forged submissions can move an estimated share from several parts, at most.

    Parameters
    ----------
    sizes : sequence of int
        Reports of each part, the forged ones included.
    forged : int
        How many may be forged, in [0, sum(sizes)]; in whichever parts it does the most.
    designs : sequence of Design
        Of each part.
    weights : array_like, shape (parts,), or None
        As in `estimate_pooled_shares`.

    Returns
    -------
    float
        A fraction (it can exceed 1). A report of part i moves the share by up to weights[i] / sizes[i]
        times the largest difference that one report makes there: with the weights of a population, by
        up to N_i / (N n_i) of it, so that a few responses from a large stratum move most.

    Raises
    ------
    ValueError
        If there is not one design per part, a size or `forged` is out of range, a design is singular,
        or the weights are refused as in `estimate_pooled_shares`.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> pooled_manipulation_bound([900, 100], 10, [coin_flip(0.25)] * 2)
    0.02
    >>> round(pooled_manipulation_bound([900, 100], 10, [coin_flip(0.25)] * 2, [0.1, 0.9]), 3)
    0.18
    """
    counts = [
        whole_number(f"sizes[{place}]", size, 0) for place, size in enumerate(list_entries("sizes", sizes))
    ]
    used = list_entries("designs", designs)
    if len(used) != len(counts):
        raise ValueError(
            f"sizes and designs must have one entry per part; they have {len(counts)} and {len(used)}"
        )
    left = whole_number("forged", forged, 0, sum(counts))
    shares = part_weights(weights, counts, "sizes")
    moves = np.zeros(len(counts))
    for design, places in places_of(used).items():
        moves[places] = shares[places] * _reach(design, f"designs[{places[0]}]")
    some = [(move / size, size) for move, size in zip(moves.tolist(), counts, strict=True) if size]
    bound = 0.0
    for move, size in sorted(some, reverse=True):
        bound += move * min(left, size)
        left -= min(left, size)
    return bound


def _reach(design: Design, name: str) -> float:
    """The largest difference that one report makes to a share of its own."""
    values = left_inverse(design, name)[:, possible_reports(design)]
    return float(np.ptp(values, axis=1).max())
