"""Intervals for whatever a page shows while responses come in, valid at every look together.

`confidence_sequence` treats one share under one yes/no design. Here are the shares and the means of
any design, and of several parts, each under its own: see `regions` for how.

References
----------
Robbins, H. (1970). Statistical methods related to the law of the iterated logarithm.
*Annals of Mathematical Statistics* 41, 1397-1409.
Waudby-Smith, I., Wu, S. and Ramdas, A. (2023). Nonparametric extensions of randomized
response for private confidence sets. *ICML*.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import probability
from server.privacy.designs import Design
from server.privacy.estimators.answered_means import require_prefer_not_to_say
from server.privacy.estimators.mean_estimates import checked_range, position_rows
from server.privacy.estimators.parts import Counts, Parts, checked_parts
from server.privacy.estimators.ratio_regions import Ratio, ratio_limits
from server.privacy.estimators.region_limits import region_limits
from server.privacy.estimators.share_estimates import limits_of_all, share_rows


def anytime_shares(
    counts: Counts,
    designs: Sequence[Design],
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
) -> NDArray[np.float64]:
    """Anytime-valid intervals for the shares of true answers, of one part or of several.

    Parameters
    ----------
    counts, designs, weights
        As in `estimate_pooled_shares`; one entry each for a question with one design.
    confidence : float
        In (0, 1), of each share's intervals at all looks together.

    Returns
    -------
    ndarray, shape (k, 2)
        Lower and upper limits, unclipped.

    Raises
    ------
    ValueError
        As `estimate_pooled_shares`.

    Notes
    -----
    The ratio of a Dirichlet(1/2) mixture of likelihoods to the likelihood of the true chances of
    the reports, multiplied over the parts, is a non-negative martingale. So the region of all
    chances whose ratio is below 1 / (1 - confidence) holds those of all parts at all looks with
    probability `confidence`, whenever each part began. The limits are the smallest and the largest
    weighted sum over that region; no limit errs on the narrow side.

    The weights may depend on the counts so far, as n_i / n does: the region does not depend
    on them, and where it holds the parts' true shares, any weights of them are inside. What is
    bounded at a look is the sum of the parts' true shares with the weights of that look.

    Reports for which a share's estimate has the same value are counted together first. So a share
    under a yes/no design, or under k-ary response, has the interval of `confidence_sequence`. The
    price of more parts is high, because the region must hold all of them at once: of 1,000 reports
    to a yes/no question each, one part has an interval 1.9 times as wide as the fixed-sample
    one, two 2.3 times, three 2.7, six 3.6 and twelve 5 times.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip, k_ary
    >>> anytime_shares([[600, 400]], [coin_flip(0.25)]).round(4).tolist()
    [[0.5854, 0.8111], [0.1889, 0.4146]]
    >>> anytime_shares([[600, 400], [270, 30]], [coin_flip(0.25), coin_flip(0.4)])[1].round(4).tolist()
    [0.1258, 0.34]
    """
    parts = checked_parts(counts, designs, weights)
    confidence = probability("confidence", confidence, open_interval=True)
    return anytime_shares_of([parts], confidence)[0]


def anytime_shares_of(groups: Sequence[Parts], confidence: float) -> list[NDArray[np.float64]]:
    """As `anytime_shares`, of several groups of respondents, each with its own intervals, side by side."""
    found = region_limits([parts.answered for parts in groups], share_rows, confidence)
    return [limits_of_all(limits) for limits in found]


def anytime_mean(
    counts: Counts,
    designs: Sequence[Design],
    low: float,
    high: float,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
) -> tuple[float, float]:
    """Anytime-valid interval for the mean of a number in [low, high], of one part or of several.

    Parameters
    ----------
    counts, designs, weights, confidence
        As in `anytime_shares`.
    low, high : float
        As in `estimate_mean`.

    Returns
    -------
    tuple of float
        Lower and upper limit, unclipped.

    Raises
    ------
    ValueError
        As `estimate_pooled_mean`.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> [round(limit, 2) for limit in anytime_mean([[600, 400]], [coin_flip(0.25)], low=0, high=40)]
    [7.56, 16.58]
    """
    bottom, top = checked_range(low, high)
    parts = checked_parts(counts, designs, weights)
    confidence = probability("confidence", confidence, open_interval=True)
    return anytime_means_of([parts], (bottom, top), confidence)[0]


def anytime_means_of(
    groups: Sequence[Parts], ends: tuple[float, float], confidence: float
) -> list[tuple[float, float]]:
    """As `anytime_mean`, of several groups of respondents, each with its own intervals, side by side."""
    found = region_limits([parts.answered for parts in groups], position_rows, confidence)
    bottom, width = ends[0], ends[1] - ends[0]
    return [
        (bottom + width * below, bottom + width * above)
        for ((below, above),) in (each.tolist() for each in found)
    ]


def anytime_answered_mean(
    counts: Counts,
    designs: Sequence[Design],
    low: float,
    high: float,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
) -> tuple[float, float]:
    """Anytime-valid interval for the mean among the people who gave a number.

    Parameters
    ----------
    counts, designs, weights, confidence
        As in `anytime_shares`; the last truth of each design is "prefer not to say".
    low, high : float
        As in `estimate_answered_mean`.

    Returns
    -------
    tuple of float
        Lower and upper limit, unclipped; (low, high), everything the mean could be, while the
        reports do not show that anybody gave a number.

    Raises
    ------
    ValueError
        As `estimate_pooled_answered_mean`.

    Notes
    -----
    The smallest and the largest ratio sum(v s) / D over the region of `anytime_shares`, by
    Dinkelbach's iteration, then moved outwards by what it may still lack.

    Examples
    --------
    >>> from server.privacy.designs import k_ary
    >>> limits = anytime_answered_mean([[420, 330, 250]], [k_ary(3, 2.0)], low=0, high=40)
    >>> [round(limit, 2) for limit in limits]
    [12.22, 21.18]
    """
    bottom, top = checked_range(low, high)
    parts = checked_parts(counts, designs, weights)
    confidence = probability("confidence", confidence, open_interval=True)
    require_prefer_not_to_say(parts.by_design[0][0], "designs[0]")
    return anytime_answered_means_of([parts], (bottom, top), confidence)[0]


def anytime_answered_means_of(
    groups: Sequence[Parts], ends: tuple[float, float], confidence: float
) -> list[tuple[float, float]]:
    """As `anytime_answered_mean`, of several groups of respondents, each with its own intervals, side by side."""
    ratios = [Ratio.of(parts.answered) for parts in groups]
    limits = np.empty((len(ratios), 2))
    shapes = np.unique([ratio.numbers.shape for ratio in ratios], axis=0)
    for shape in shapes.tolist():
        alike = [place for place, ratio in enumerate(ratios) if list(ratio.numbers.shape) == shape]
        limits[alike] = ratio_limits([ratios[place] for place in alike], confidence)
    bottom, width = ends[0], ends[1] - ends[0]
    return [(below, above) for below, above in (bottom + width * limits).tolist()]
