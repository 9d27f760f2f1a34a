"""Whether the respondents of several independent parts did what was asked.

Each part is tested under its own design, and the smallest p value counts as often as there are
parts (Bonferroni): what is wrong in one version, or in one stratum, is seen although it may not
move the pooled estimate out of its range.
"""

from collections.abc import Sequence

from numpy.typing import ArrayLike

from server.privacy.designs import Design
from server.privacy.estimators.compliance import ControlItemTest, control_item_test_of
from server.privacy.estimators.impossible import impossible_share_test_of
from server.privacy.estimators.inverse import require_yes_no
from server.privacy.estimators.parts import Counts, checked_parts


def pooled_impossible_share_test(counts: Counts, designs: Sequence[Design]) -> float:
    """How well chance alone explains observed shares outside the designs' ranges, in any part.

    Parameters
    ----------
    counts, designs
        As in `estimate_pooled_shares`.

    Returns
    -------
    float
        The smallest p value of `impossible_share_test` over the parts with reports, times
        their number (Bonferroni), at most 1.

    Raises
    ------
    ValueError
        As `estimate_pooled_shares`.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> designs = [coin_flip(0.25), coin_flip(0.4)]
    >>> round(pooled_impossible_share_test([[764, 236], [80, 20]], designs), 2)
    0.32
    """
    parts = checked_parts(counts, designs, None)
    return impossible_share_test_of(parts.answered)


def pooled_control_item_test(
    counts: Counts, designs: Sequence[Design], weights: ArrayLike | None = None
) -> ControlItemTest:
    """Test a control item, to which nobody is a "yes", in several independent parts.

    Parameters
    ----------
    counts, designs, weights
        As in `estimate_pooled_shares`; the designs are 2 x 2. The weights are those of the
        share; no p value depends on them.

    Returns
    -------
    ControlItemTest
        `share` is the pooled one. Each p value is the smallest of those parts that have
        reports, times their number (Bonferroni), at most 1.

    Raises
    ------
    ValueError
        As `estimate_pooled_shares`, or if a design is not 2 x 2.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> result = pooled_control_item_test([[700, 300], [90, 10]], [coin_flip(0.25), coin_flip(0.4)])
    >>> round(result.share, 3), round(result.above, 5), round(result.below, 3)
    (0.091, 0.00039, 1.0)
    """
    parts = checked_parts(counts, designs, weights)
    for design, places, _reports in parts.by_design:
        require_yes_no(design, f"designs[{int(places[0])}]")
    return control_item_test_of(parts.answered, parts.n)
