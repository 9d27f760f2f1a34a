"""Designs for a choice among options: k-ary response, unary encodings, ordered scales."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from server.privacy._checks import flag, positive, whole_number
from server.privacy.designs.coins import REPORTS_LIMIT, TOTAL
from server.privacy.designs.design import Design, require_design
from server.privacy.designs.rounding import exp_from_below, log_from_above


@dataclass(frozen=True)
class BestChoice:
    """The better of two mechanisms for one choice among options, and why.

    Attributes
    ----------
    mechanism : {"k_ary", "unary"}
        Which one.
    design : Design
        `k_ary(options, epsilon)`, or the design of each box, `unary(epsilon)`.
    k_ary_variance, unary_variance : float
        Variance of the estimated share of a rare option, times the number of respondents,
        under each of the two.
    reason : str
        One English sentence.
    """

    mechanism: Literal["k_ary", "unary"]
    design: Design
    k_ary_variance: float
    unary_variance: float
    reason: str


def k_ary(options: int, epsilon: float) -> Design:
    """K-ary (generalised) randomised response: keep the option, or report one of the others.

    Parameters
    ----------
    options : int
        In [2, 256]: a report is one byte.
    epsilon : float
        Privacy loss of the answer in nats; the design's own is at most this, and within
        about options**2 * 2**-32 of it where epsilon is of order 1.

    Returns
    -------
    Design
        Shape (options, options): the option is kept with probability
        e**epsilon / (e**epsilon + options - 1), rounded down; the others are equally likely.

    Raises
    ------
    ValueError
        If options is not a whole number in [2, 256], or epsilon is not positive and finite,
        or is too small for 32-bit coins to tell the options apart.

    References
    ----------
    Kairouz, P., Bonawitz, K. and Ramage, D. (2016). Discrete distribution estimation under
    local privacy. *ICML*, 2436-2444. Wang et al. (2017), section 4.1 ("direct encoding").

    Examples
    --------
    >>> design = k_ary(4, 1.0986122886681098)
    >>> design.matrix[0].round(6).tolist()
    [0.5, 0.166667, 0.166667, 0.166667]
    """
    whole_number("options", options, 2, REPORTS_LIMIT)
    ratio = exp_from_below(positive("epsilon", epsilon))
    lie = math.ceil(TOTAL / (ratio + options - 1))
    keep = TOTAL - (options - 1) * lie
    if keep <= lie:
        least = log_from_above(Fraction(TOTAL, (TOTAL - 1) // options) - options + 1)
        raise ValueError(
            f"epsilon must be at least {least:.3g} for 32-bit coins to tell {options} options apart; "
            f"it is {epsilon!r}"
        )
    weights = np.full((options, options), lie, dtype=np.int64)
    np.fill_diagonal(weights, keep)
    return Design(weights)


def unary(epsilon: float, optimised: bool = True) -> Design:
    """Unary encoding: one box per option, exactly one of them ticked, each randomised by itself.

    Changing the answer changes two boxes, and what their reports lose together is epsilon:
    `one_hot_epsilon` of the design. Where a respondent may tick any number of boxes, each
    box is a question of its own, and the loss is the sum of `Design.epsilon` over all of them.

    Parameters
    ----------
    epsilon : float
        Privacy loss of the whole one-of-k answer, in nats.
    optimised : bool
        True: Pr(1 | 1) = 1/2 and Pr(1 | 0) = 1 / (e**epsilon + 1) (OUE), the smallest variance
        for rare options. False: Pr(1 | 1) = Pr(0 | 0) = e**(epsilon/2) / (e**(epsilon/2) + 1)
        (SUE, basic RAPPOR).

    Returns
    -------
    Design
        Shape (2, 2), of one box, ordered (not ticked, ticked); rounded so that the loss of the
        answer never exceeds epsilon.

    Raises
    ------
    ValueError
        If epsilon is not positive and finite, or is too small for 32-bit coins.

    References
    ----------
    Wang et al. (2017), section 4.3. Erlingsson, U., Pihur, V. and Korolova, A. (2014). RAPPOR:
    randomized aggregatable privacy-preserving ordinal response. *ACM CCS*, 1054-1067.

    Examples
    --------
    >>> unary(1.0986122886681098).matrix.tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    positive("epsilon", epsilon)
    if flag("optimised", optimised):
        noise = math.ceil(TOTAL / (exp_from_below(epsilon) + 1))
        design = Design([[TOTAL - noise, noise], [TOTAL // 2, TOTAL // 2]])
    else:
        ratio = exp_from_below(epsilon / 2)
        noise = math.ceil(TOTAL / (ratio + 1))
        design = Design([[TOTAL - noise, noise], [noise, TOTAL - noise]])
    if noise == TOTAL // 2:
        least = "2**-30" if optimised else "2**-29"
        raise ValueError(f"epsilon must be above {least}, or 32-bit coins show nothing; it is {epsilon!r}")
    return design


def one_hot_epsilon(design: Design) -> float:
    """Privacy loss of a one-of-k answer sent as k boxes under this design, in nats.

    Two answers differ in two boxes, so the worst case is the worst ratio of a box that
    becomes ticked times the worst of one that ceases to be. The smallest float that is not
    below the exact value.

    Parameters
    ----------
    design : Design
        Shape (2, m), of one box, rows ordered (not ticked, ticked).

    Raises
    ------
    ValueError
        If the design has not two truths.

    Examples
    --------
    >>> one_hot_epsilon(unary(1.0)) <= 1.0
    True
    """
    if require_design(design).weights.shape[0] != 2:
        raise ValueError(f"design must have 2 rows, one box; its shape is {design.weights.shape}")
    ratios = [Fraction(ticked, empty) for empty, ticked in design.weights.T.tolist() if empty]
    return log_from_above(max(ratios) / min(ratios))


def best_choice(options: int, epsilon: float) -> BestChoice:
    """K-ary response or optimised unary encoding, whichever estimates a share better.

    Compared by the variance of the estimated share of a rare option, as Wang et al. do:
    for n respondents it is (e**epsilon + k - 2) / (e**epsilon - 1)**2 / n for k-ary response
    and 4 e**epsilon / (e**epsilon - 1)**2 / n for unary encoding. The first is smaller when
    k < 3 e**epsilon + 2.

    Parameters
    ----------
    options : int
        In [2, 256].
    epsilon : float
        Privacy loss of the answer, in nats.

    Returns
    -------
    BestChoice
        Its variances are those of the integer designs.

    Raises
    ------
    ValueError
        As `k_ary` and `unary`.

    References
    ----------
    Wang et al. (2017), section 5.

    Examples
    --------
    >>> choice = best_choice(4, 1.0)
    >>> choice.mechanism
    'k_ary'
    >>> best_choice(20, 1.0).reason
    '20 options are not fewer than 3 e^epsilon + 2 = 10.15, so unary encoding has the smaller variance.'
    """
    whole, boxes = k_ary(options, epsilon), unary(epsilon)
    bound = 3 * exp_from_below(epsilon) + 2
    few = options < bound
    return BestChoice(
        mechanism="k_ary" if few else "unary",
        design=whole if few else boxes,
        k_ary_variance=_rare_variance(whole),
        unary_variance=_rare_variance(boxes),
        reason=(
            f"{options} options are {'' if few else 'not '}fewer than 3 e^epsilon + 2 = {float(bound):.2f}, "
            f"so {'k-ary response' if few else 'unary encoding'} has the smaller variance."
        ),
    )


def split_answer(design: Design) -> Design:
    """Of a design that treats options alike, whether one of them arrived: a report of whether it was given.

    Raises
    ------
    ValueError
        If it does not.

    Examples
    --------
    >>> split_answer(k_ary(3, 1.0986122886681098)).matrix.round(6).tolist()
    [[0.8, 0.2], [0.4, 0.6]]
    """
    if not require_design(design).treats_options_alike():
        raise ValueError(f"design must treat options alike; its chances are {design.matrix.tolist()}")
    keep, other = design.weights[0, :2].tolist()
    return Design([[TOTAL - other, other], [TOTAL - keep, keep]])


def _rare_variance(design: Design) -> float:
    """Variance, times n, of the estimated share of an option that nobody chose."""
    by_noise, by_truth = (
        Fraction(int(design.weights[0, 1]), TOTAL),
        Fraction(int(design.weights[1, 1]), TOTAL),
    )
    return float(by_noise * (1 - by_noise) / (by_truth - by_noise) ** 2)
