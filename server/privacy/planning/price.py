"""The price of privacy: how many respondents stand where one direct answer would do."""

from fractions import Fraction

from numpy.typing import ArrayLike

from server.privacy._checks import exact_probability, to_float
from server.privacy.designs import Design
from server.privacy.planning.comparison import DIRECT, channel
from server.privacy.planning.estimand import Estimand, mean_of, shares_of, true_shares, variances
from server.privacy.planning.one_sample import compare, respondents_for_power


def price_of_privacy(
    design: Design,
    share: float = 0.5,
    null: float | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    sides: int = 2,
) -> float:
    """Respondents needed under a design for each one needed by a direct question.

    It compares with a direct question that everybody answers truthfully, which is the premise that
    sensitive questions fail; the other side of the scales is the bias of evasive answers.

    Parameters
    ----------
    design : Design
        Shape (2, 2).
    share : float
        The true share of "yes", in (0, 1): at 0 and 1 a direct question has no variance.
    null : float, optional
        None: the price of an equally wide interval, which depends neither on its width nor on
        its confidence. A share in (0, 1) other than `share`: the price of a test against it
        with the same power.
    power, alpha, sides
        Of that test, as in `respondents_for_power`; not used without `null`.

    Returns
    -------
    float
        For an interval lam (1 - lam) / (slope**2 share (1 - share)); for a test the ratio of the two
        numbers of respondents, both whole.

    Raises
    ------
    ValueError
        If an argument is outside its range, or the design is not 2 x 2 or cannot be inverted.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> price_of_privacy(coin_flip(0.25))
    4.0
    >>> round(price_of_privacy(coin_flip(0.25), share=0.1), 2)
    9.33
    """
    true = exact_probability("share", share)
    if null is None:
        line = channel(design)
        return to_float(line.variance(true) / line.slope**2 / DIRECT.variance(true))
    exact_probability("null", null)
    private = respondents_for_power(share, null, design, power, alpha, sides)
    return to_float(Fraction(private, compare(share, null, DIRECT, alpha, sides).respondents(power)))


def price_of_privacy_shares(design: Design, shares: ArrayLike | None = None) -> float:
    """Respondents needed under a design for each one needed by a direct question, for the widest of its intervals.

    Parameters
    ----------
    design : Design
        Shape (k, m), invertible.
    shares : array_like, shape (k,), optional
        The true shares, with the sum 1, none of them 1. None: the worst true shares of each of the two, that is,
        the ratio of the sizes that keep the margin whatever the true shares are. Under a direct question the
        worst share is 1/2.

    Returns
    -------
    float
        The ratio of the two largest variances of a share; it depends neither on the margin nor on the confidence.

    Raises
    ------
    ValueError
        If the shares are outside their range, or the design cannot be inverted.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip, k_ary
    >>> round(price_of_privacy_shares(coin_flip(0.25)), 6)
    4.0
    >>> round(price_of_privacy_shares(k_ary(4, 1.0986122886681098)), 4)
    9.0
    """
    return _price(design, shares_of(design), shares)


def price_of_privacy_mean(
    design: Design, shares: ArrayLike | None = None, answered: float | None = None
) -> float:
    """Respondents needed under a design for each one needed by a direct question, for the interval of a mean.

    Parameters
    ----------
    design : Design
        Shape (k, m), invertible; its truths stand for k equally spaced values. With k = 2, and a number in
        between, the direct question asks for a number that was rounded at random to one of the two ends.
    shares : array_like, shape (k,), optional
        The true shares, with the sum 1, none of them 1. None: the worst true shares of each of the two; under
        a direct question half of the people at each end.
    answered : float, optional
        As in `margin_mean`.

    Returns
    -------
    float
        The ratio of the two variances; it depends on neither unit, margin nor confidence.

    Raises
    ------
    ValueError
        If the shares are outside their range, or the design cannot be inverted.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip, ordinal
    >>> round(price_of_privacy_mean(coin_flip(0.25)), 6)
    4.0
    >>> round(price_of_privacy_mean(ordinal(5, 2.0)), 2)
    2.9
    """
    return _price(design, [mean_of(design, answered)], shares, answered)


def _price(
    design: Design, estimands: list[Estimand], shares: ArrayLike | None, answered: float | None = None
) -> float:
    asked = [estimand.direct() for estimand in estimands]
    without = max(variances(asked, true_shares(design, asked, shares, answered)))
    if without == 0:  # only for given shares: at the worst ones it is 1/4 or more
        raise ValueError(
            f"shares must leave a direct question uncertain, none of them 1; they are {shares!r}"
        )
    return to_float(max(variances(estimands, true_shares(design, estimands, shares, answered))) / without)
