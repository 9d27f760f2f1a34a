"""The price of privacy: how many respondents stand where one direct answer would do."""

from fractions import Fraction

from server.privacy._checks import exact_probability, to_float
from server.privacy.designs import Design
from server.privacy.planning.comparison import DIRECT, channel
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
