"""Yes/no designs under the names that survey methodology gives them.

All of them are two probabilities, Pr(yes | yes) and Pr(yes | no). What differs is the
device: a spinner, dice, a deck of cards, a birthday. Rows and columns are ordered (no, yes).
"""

import math
from fractions import Fraction

from server.privacy._checks import exact_probability
from server.privacy.designs.coins import TOTAL
from server.privacy.designs.design import Design
from server.privacy.designs.rounding import nearest_weight


def warner(truth: float | Fraction) -> Design:
    """Warner's mirrored question: asked as it is, or as its opposite.

    Parameters
    ----------
    truth : float
        Probability of being asked the question as it is, in (0, 1) and not 1/2. Below 1/2
        a report of "yes" speaks for "no", which the estimator undoes.

    Returns
    -------
    Design
        Shape (2, 2): Pr(yes | yes) = Pr(no | no) = truth, rounded towards 1/2 to a multiple of
        2**-32, so that it stays symmetric and `warner(1/2 + gamma)` is `coin_flip(gamma)`.

    Raises
    ------
    ValueError
        If truth is outside (0, 1) (0 and 1 give every answer away) or within 2**-32 of 1/2.

    References
    ----------
    Warner (1965).

    Examples
    --------
    >>> warner(0.75).weights.tolist()
    [[3221225472, 1073741824], [1073741824, 3221225472]]
    """
    return _mirror_design("truth", truth)


def crosswise(prevalence: float | Fraction) -> Design:
    """The crosswise model: "are your two answers the same, or different?"

    The sensitive question is asked together with an innocuous one, and only whether the two
    answers agree is reported. A report of "yes" is "the same".

    Parameters
    ----------
    prevalence : float
        Share of "yes" to the innocuous question, known, in (0, 1) and not 1/2. The two
        answers must be independent.

    Returns
    -------
    Design
        `warner(prevalence)`.

    Raises
    ------
    ValueError
        As `warner`.

    References
    ----------
    Yu, J.-W., Tian, G.-L. and Tang, M.-L. (2008). Two new models for survey sampling with
    sensitive characteristic. *Metrika* 67, 251-263.

    Examples
    --------
    >>> round(crosswise(1 / 6).epsilon, 6)
    1.609438
    """
    return _mirror_design("prevalence", prevalence)


def forced_response(truth: float | Fraction, yes: float | Fraction) -> Design:
    """A die says: answer truthfully, or say "yes", or say "no".

    Parameters
    ----------
    truth : float
        Probability of answering truthfully, in (0, 1).
    yes : float
        Probability of being told to say "yes", in (0, 1 - truth). "No" takes the rest: were
        either of the two forced answers missing, one report would give its sender away.

    Returns
    -------
    Design
        Shape (2, 2): Pr(yes | yes) = truth + yes, Pr(yes | no) = yes, to the nearest
        multiple of 2**-32.

    Raises
    ------
    ValueError
        If truth or yes is outside its range, or truth is too small for 32-bit coins.

    References
    ----------
    Boruch, R. F. (1971). Assuring confidentiality of responses in social research. *The
    American Sociologist* 6, 308-311.

    Examples
    --------
    Two dice: sums 2 to 4 are a forced "yes", 11 and 12 a forced "no".

    >>> design = forced_response(Fraction(27, 36), Fraction(6, 36))
    >>> design.matrix.round(4).tolist()
    [[0.8333, 0.1667], [0.0833, 0.9167]]
    """
    honest = exact_probability("truth", truth)
    forced = exact_probability("yes", yes)
    if honest + forced >= 1:
        raise ValueError(
            f"yes must be in (0, 1 - truth), so that some answers are forced to be no; it is {yes!r} "
            f"and truth is {truth!r}"
        )
    return _two_chances(
        honest + forced, forced, f"truth must be in (0, 1) and at least 2**-32; it is {truth!r}"
    )


def unrelated_question(truth: float | Fraction, prevalence: float | Fraction) -> Design:
    """A card asks the sensitive question, or an innocuous one whose share of "yes" is known.

    Where that share is not known, two groups with two values of `truth` tell it:
    `estimators.estimate_unknown_prevalence`.

    Parameters
    ----------
    truth : float
        Probability of the sensitive question, in (0, 1).
    prevalence : float
        Share of "yes" to the innocuous question, in (0, 1); independent of the sensitive one.

    Returns
    -------
    Design
        Shape (2, 2): Pr(yes | yes) = truth + (1 - truth) prevalence,
        Pr(yes | no) = (1 - truth) prevalence, to the nearest multiple of 2**-32.

    Raises
    ------
    ValueError
        If truth or prevalence is outside (0, 1), or truth is too small for 32-bit coins.

    References
    ----------
    Greenberg, B. G., Abul-Ela, A.-L. A., Simmons, W. R. and Horvitz, D. G. (1969). The
    unrelated question randomized response model: theoretical framework. *JASA* 64, 520-539.

    Examples
    --------
    >>> unrelated_question(0.5, 0.5) == warner(0.75)
    True
    """
    honest = exact_probability("truth", truth)
    innocuous = (1 - honest) * exact_probability("prevalence", prevalence)
    return _two_chances(
        honest + innocuous, innocuous, f"truth must be in (0, 1) and at least 2**-32; it is {truth!r}"
    )


def kuk(if_yes: float | Fraction, if_no: float | Fraction) -> Design:
    """Kuk's two decks: the truth chooses the deck, and the colour of the card is reported.

    Parameters
    ----------
    if_yes : float
        Share of red cards in the deck for "yes", in (0, 1).
    if_no : float
        Share of red cards in the deck for "no", in (0, 1); another number than `if_yes`.

    Returns
    -------
    Design
        Shape (2, 2), red reported as "yes": Pr(yes | yes) = if_yes, Pr(yes | no) = if_no, to the
        nearest multiple of 2**-32. Every yes/no design is one of these.

    Raises
    ------
    ValueError
        If a share is outside (0, 1), or the two are within 2**-32 of each other.

    References
    ----------
    Kuk, A. Y. C. (1990). Asking sensitive questions indirectly. *Biometrika* 77, 436-438.

    Examples
    --------
    >>> kuk(0.75, 0.25) == warner(0.75)
    True
    """
    return _two_chances(
        exact_probability("if_yes", if_yes),
        exact_probability("if_no", if_no),
        f"if_yes and if_no must be in (0, 1) and differ by at least 2**-32; they are {if_yes!r} and {if_no!r}",
    )


def _mirror_design(name: str, truth: float | Fraction) -> Design:
    exact = exact_probability(name, truth) * TOTAL
    weight = math.floor(exact) if exact > TOTAL // 2 else math.ceil(exact)
    if weight == TOTAL // 2:
        raise ValueError(
            f"{name} must be in (0, 1) and at least 2**-32 away from 1/2, where reports say nothing; it is {truth!r}"
        )
    return _yes_no(weight, TOTAL - weight)


def _two_chances(if_yes: Fraction, if_no: Fraction, too_close: str) -> Design:
    yes, no = nearest_weight(if_yes), nearest_weight(if_no)
    if yes == no:
        raise ValueError(too_close)
    return _yes_no(yes, no)


def _yes_no(yes_if_yes: int, yes_if_no: int) -> Design:
    return Design([[TOTAL - yes_if_no, yes_if_no], [TOTAL - yes_if_yes, yes_if_yes]])
