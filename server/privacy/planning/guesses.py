"""How often somebody who sees a whole response guesses right, and what may be said of it in one line."""

import math
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile

from numpy.typing import ArrayLike

from server.privacy._checks import finite, real_numbers
from server.privacy.planning.belief import belief_after_report

_SLACK = 1e-6
"""Of 100 guesses: designs stated by their chances are rounded to 2**-32, which makes no guess more."""


_MOST = 1e6
"""Nats; far beyond any loss of a question."""

_BILLION = 10**9


class Headline(StrEnum):
    """What a survey may say of itself: nobody can be sure; much is hidden, not all; chance changes only some."""

    NOBODY_SURE = "nobody_sure"
    MUCH = "much"
    SOME = "some"


LIMITS = {Headline.NOBODY_SURE: 80, Headline.MUCH: 95}
"""Of 100 guesses, as many may be right at most. Beyond them all, `Headline.SOME`."""


@dataclass(frozen=True)
class Guesses:
    """Guesses between two people, from what one of them sent.

    Attributes
    ----------
    right
        Of 100 guesses from all answers together, as many are right at most. By chance alone, 50.
    alone
        The same from the one answer that tells most.
    headline
        What may be said of all answers together.
    """

    right: int
    alone: int
    headline: Headline


def count_guesses(losses: ArrayLike) -> Guesses:
    """What a response tells at most: the worst case over all pairs of complete answers.

    Whoever must say which of two people sent a response, and finds both equally likely before, is right with the
    probability that Bayes' rule gives to the likelier one. The losses of the questions add up, so it is at most
    e**total / (1 + e**total): for the two complete answers that are told apart best, and for the response that tells
    most. Conditions only forbid complete answers, and never add one.

    Parameters
    ----------
    losses : array_like, shape (questions,)
        Privacy loss of each question in nats, those of routed questions too. Every respondent reports all of them.

    Raises
    ------
    ValueError
        If there is no loss, or one of them is not in (0, 10**6].

    References
    ----------
    Dwork and Roth (2014), theorem 3.16 (losses add up). Kasiviswanathan and Smith (2014), as in `belief_after_report`.

    Examples
    --------
    Two fair coins for each of one, two and 21 questions:

    >>> import math
    >>> count_guesses([math.log(3)])
    Guesses(right=75, alone=75, headline=<Headline.NOBODY_SURE: 'nobody_sure'>)
    >>> count_guesses([math.log(3)] * 2)
    Guesses(right=90, alone=75, headline=<Headline.MUCH: 'much'>)
    >>> count_guesses([math.log(3)] * 21)
    Guesses(right=100, alone=75, headline=<Headline.SOME: 'some'>)
    """
    stated = real_numbers("losses", losses, largest=_MOST)
    if stated.ndim != 1 or stated.min() <= 0:
        raise ValueError(f"losses must be one positive number for each question; they are {stated.tolist()}")
    right, alone = _count_right(math.fsum(stated)), _count_right(float(stated.max()))
    headline = next((named for named, most in LIMITS.items() if right <= most), Headline.SOME)
    return Guesses(right, alone, headline)


def most_loss(headline: Headline) -> float:
    """The greatest loss of all answers together with which a headline may be said, in nats; infinite for the last.

    Raises
    ------
    ValueError
        If it is no headline.

    Examples
    --------
    >>> round(most_loss(Headline.NOBODY_SURE), 6), round(most_loss(Headline.MUCH), 6)
    (1.386294, 2.944439)
    """
    if not isinstance(headline, Headline):
        raise ValueError(f"headline must be a Headline; it is {headline!r}")
    most = LIMITS.get(headline)
    return math.inf if most is None else math.log(most / (100 - most))


def count_spent(loss: float) -> int:
    """A loss in whole billionths of a nat, rounded up: what devices keep and add.

    Raises
    ------
    ValueError
        If the loss is not in (0, 10**6].

    Examples
    --------
    >>> count_spent(math.log(3))
    1098612289
    """
    return math.ceil(_checked_loss(loss) * _BILLION)


def list_room(loss: float) -> tuple[int, ...]:
    """What somebody may have spent elsewhere, so that of 100 guesses 99 are right at most, then 98, and so on.

    Whoever adds what was spent elsewhere (`count_spent`) counts the rooms that are not exceeded: with so many
    fewer than 100, both together let somebody guess right, and nothing had to be computed.

    Parameters
    ----------
    loss : float
        Of the response, in nats.

    Returns
    -------
    tuple of int
        From the largest; in billionths of a nat. Empty where 100 guesses can be right from this response alone.

    Raises
    ------
    ValueError
        If the loss is not in (0, 10**6].

    Examples
    --------
    Of two responses of two fair coins each, 9 to 1:

    >>> once = math.log(3)
    >>> 100 - sum(count_spent(once) <= room for room in list_room(once))
    90
    """
    own = _checked_loss(loss)
    odds = ((right + _SLACK) / (100 - right - _SLACK) for right in range(99, 50, -1))
    rooms = (math.floor((math.log(each) - own) * _BILLION) for each in odds)
    return tuple(takewhile(lambda room: room > 0, rooms))


def _checked_loss(loss: float) -> float:
    if not 0 < finite("loss", loss) <= _MOST:
        raise ValueError(f"loss must be in (0, {_MOST:g}]; it is {loss!r}")
    return float(loss)


def _count_right(loss: float) -> int:
    return math.ceil(100 * belief_after_report(loss, 0.5) - _SLACK)
