"""One group against a fixed value, two groups, each with a design of its own, or a trend over waves.

The estimate of group j is unbiased with the variance v_j / n_j. Of one group, its distance from a fixed value is
tested. Of more, the contrast sum(w_j estimate_j) is, with w_j = s_j (j - mean), s_j being its part of the
respondents and the mean that of the groups' numbers, weighted by s_j: of two groups a part of their difference,
of more the linear trend of Cochran (1954) and Armitage (1955), whose power is that of Nam (1987), not corrected
for continuity.

References
----------
Armitage, P. (1955). Tests for linear trends in proportions and frequencies. *Biometrics* 11, 375-386.
Cochran, W. G. (1954). Some methods for strengthening the common chi-squared tests. *Biometrics* 10, 417-451.
Farrington, C. P. and Manning, G. (1990). Test statistics and sample size formulae for comparative binomial trials with
null hypothesis of non-zero risk difference or non-unity relative risk. *Statistics in Medicine* 9, 1447-1454.
Nam, J. (1987). A simple approximation for calculating sample sizes for detecting linear trend in proportions.
*Biometrics* 43, 701-705.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from numpy.typing import ArrayLike

from server.privacy._checks import list_entries, whole_number
from server.privacy.designs import Design
from server.privacy.designs.design import require_design
from server.privacy.planning.comparison import Channel, Comparison, channel, critical_value, exact_share
from server.privacy.planning.estimand import Estimand, mean_of, shares_of, true_shares

_HALVINGS = 60


@dataclass(frozen=True)
class PlannedGroup:
    """A group: the true value, the variance of one report's guess of it, then and under the null; and how many."""

    value: Fraction
    variance: Fraction
    null_variance: Fraction
    size: Fraction


def compare_groups(
    shares: Sequence[float],
    designs: Sequence[Design],
    sizes: Sequence[int] | None = None,
    null: float | None = None,
    alpha: float = 0.05,
    sides: int = 2,
) -> Comparison:
    """The test of shares of "yes" in groups, each asked under its own design.

    Under the null hypothesis all groups have one share: `null`, or the one that fits the reports of all best (with one
    design for all it is their mean, weighted by sizes).

    Parameters
    ----------
    shares : sequence of float
        The true share in each group, in [0, 1]; a rounded number counts as its mean, in parts of its range.
    designs : sequence of Design
        Of each group, shape (2, 2).
    sizes : sequence of int, optional
        Respondents in each group for each unit of n, from 1 up. None: 1.
    null : float, optional
        In [0, 1]. Needed of one group: the fixed share that it is compared with.
    alpha : float
        Chance of a false alarm, in (0, 1).
    sides : {1, 2}
        A one-sided test looks to the side on which the truth is.

    Returns
    -------
    Comparison
        `power(n)`, and `respondents(power)`, the fewest: n is the size of a group whose `sizes` is 1.

    Raises
    ------
    ValueError
        If an argument is outside its range, or a design is not 2 x 2 or cannot be inverted.

    Examples
    --------
    Half of the people are asked with another coin; and four waves of a share that rises:

    >>> from server.privacy.designs import coin_flip
    >>> compare_groups([0.1, 0.2], [coin_flip(0.25), coin_flip(0.4)]).respondents(0.8)
    918
    >>> compare_groups([0.1, 0.12, 0.14, 0.16], [coin_flip(0.25)] * 4).respondents(0.8)
    3387
    """
    given, used, parts = _list_groups(shares, designs, sizes)
    true = [exact_share("shares", share) for share in given]
    lines = [channel(design) for design in used]
    if null is None and len(true) == 1:
        raise ValueError("null must be given for one group; it is None")
    common = None if null is None else exact_share("null", null)
    return compare_channels(true, lines, parts, common, alpha, sides)


def compare_channels(
    true: Sequence[Fraction],
    lines: Sequence[Channel],
    parts: Sequence[Fraction],
    common: Fraction | None,
    alpha: float,
    sides: int,
) -> Comparison:
    """The same of exact numbers; groups may be any parts of n."""
    if common is None:
        common = _find_common(true, lines, parts)
    groups = [
        PlannedGroup(share, line.variance(share) / line.slope**2, line.variance(common) / line.slope**2, part)
        for share, line, part in zip(true, lines, parts, strict=True)
    ]
    return _compare(groups, common, alpha, sides)


def compare_means(
    shares: Sequence[ArrayLike],
    designs: Sequence[Design],
    sizes: Sequence[int] | None = None,
    null: float | None = None,
    alpha: float = 0.05,
    sides: int = 2,
    answer: int | None = None,
) -> Comparison:
    """The test of means in groups, or of the share of one answer, under designs of any number of answers.

    Of a mean the null hypothesis says nothing about its variance: each group's own is in the critical value, too.

    Parameters
    ----------
    shares : sequence of array_like, shape (k,)
        Of each group the true shares of all answers, with the sum 1.
    designs, sizes, alpha, sides
        As in `compare_groups`; designs of shape (k, m), whose truths stand for equally spaced numbers from 0 to 1.
    null : float, optional
        In [0, 1]. Of one group alone, which needs it: the fixed value that it is compared with.
    answer : int, optional
        The share of the answer with this place, from 0 up, in place of the mean.

    Returns
    -------
    Comparison
        As `compare_groups`.

    Raises
    ------
    ValueError
        If an argument is outside its range, or a design cannot be inverted.

    Examples
    --------
    >>> from server.privacy.designs import ordinal
    >>> low, high = [0.3, 0.4, 0.2, 0.1], [0.1, 0.2, 0.4, 0.3]
    >>> compare_means([low, high], [ordinal(4, 1.0)] * 2).respondents(0.8)
    396
    """
    given, used, parts = _list_groups(shares, designs, sizes)
    if (null is None) == (len(parts) == 1):
        raise ValueError(
            f"null must be given for one group, and for one alone; it is {null!r} for {len(parts)}"
        )
    groups = []
    for own, design, part in zip(given, used, parts, strict=True):
        estimand = _choose(design, answer)
        (true,) = true_shares(design, [estimand], own)
        variance = Fraction(estimand.variance(true))
        groups.append(PlannedGroup(Fraction(float(estimand.weights @ true)), variance, variance, part))
    return _compare(groups, None if null is None else exact_share("null", null), alpha, sides)


def _choose(design: Design, answer: int | None) -> Estimand:
    if answer is None:
        return mean_of(design)
    found = shares_of(design)
    return found[whole_number("answer", answer, 0, len(found) - 1)]


def _list_groups(
    shares: object, designs: object, sizes: object | None
) -> tuple[list[Any], list[Design], list[Fraction]]:
    given, used = list_entries("shares", shares), list_entries("designs", designs)
    parts = [1] * len(given) if sizes is None else list_entries("sizes", sizes)
    if not len(given) == len(used) == len(parts) or not given:
        raise ValueError(
            f"shares, designs and sizes must be of the same groups, one or more; they are of {len(given)}, "
            f"{len(used)} and {len(parts)}"
        )
    whole = [Fraction(int(whole_number("sizes", part, 1))) for part in parts]
    return given, [require_design(design, "designs") for design in used], whole


def _find_common(true: Sequence[Fraction], lines: Sequence[Channel], parts: Sequence[Fraction]) -> Fraction:
    """The share that fits the reports of all groups best: the likelihood, which is concave, is highest there."""
    if len(set(lines)) == 1:
        return sum((part * share for part, share in zip(parts, true, strict=True)), Fraction(0)) / sum(parts)
    low, high = float(min(true)), float(max(true))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        rise = 0.0
        for share, line, part in zip(true, lines, parts, strict=True):
            information = float(part * line.slope**2 / line.variance(Fraction(middle)))
            rise += information * (float(share) - middle)
        low, high = (middle, high) if rise > 0 else (low, middle)
    return Fraction((low + high) / 2)


def _compare(groups: Sequence[PlannedGroup], null: Fraction | None, alpha: float, sides: int) -> Comparison:
    everybody = sum((group.size for group in groups), Fraction(0))
    mean = sum((place * group.size for place, group in enumerate(groups)), Fraction(0)) / everybody
    weights = [group.size * (place - mean) / everybody for place, group in enumerate(groups)]
    if len(groups) == 1:
        assert null is not None
        weights, distance = [Fraction(1)], groups[0].value - null
    else:
        pairs = zip(weights, groups, strict=True)
        distance = sum((weight * group.value for weight, group in pairs), Fraction(0))

    def spread(variances: Sequence[Fraction]) -> Fraction:
        terms = zip(weights, groups, variances, strict=True)
        return sum((weight**2 * one / group.size for weight, group, one in terms), Fraction(0))

    true = spread([group.variance for group in groups])
    claimed = spread([group.null_variance for group in groups])
    # In units of the true deviation, so that sizes may be as large as they like.
    return Comparison(
        squared=distance**2 / true,
        critical=critical_value(alpha, sides) * math.sqrt(float(claimed / true)),
        deviation=1.0,
        sides=sides,
    )
