"""The same question asked again and again, each time with a new coin: what an observer comes to believe."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from server.privacy.designs import Design, coin_flip, draw_coins
from server.privacy.planning import count_guesses

COINS = {"60": Fraction(1, 10), "75": Fraction(1, 4), "90": Fraction(2, 5)}
"""By how many of 100 answers stay as they are: gamma, which is how far that is from a half."""
MOST_TIMES = 30


@dataclass(frozen=True)
class Repetition:
    """One asking.

    Attributes
    ----------
    reported : int
        1 for red, 0 for black.
    belief : float
        What somebody who thought red and black equally likely believes of red, after this report and those before.
    """

    reported: int
    belief: float


@dataclass(frozen=True)
class Knowledge:
    """What so many reports of one person tell.

    Attributes
    ----------
    times : int
    right : float
        Of guesses whether the card is red, the part that is right, by whoever guesses as well as can be.
    most : int
        Of 100 guesses, as many are right at most, for the reports that tell most: as a survey's first screen counts.
    """

    times: int
    right: float
    most: int


def find_coin(kept: str) -> Design:
    """The coin by its name in `COINS`."""
    return coin_flip(COINS[kept])


def ask_repeatedly(coin: Design, card: int, times: int) -> list[Repetition]:
    """The reports of one person with a card (1 for red), a new coin for each, and beliefs by Bayes' rule."""
    reports = coin.report(np.full(times, card), draw_coins(times)).tolist()
    belief, asked = 0.5, []
    for reported in reports:
        after = np.asarray(coin.posterior(np.array([1 - belief, belief])))
        belief = float(after[1, reported])
        asked.append(Repetition(reported, belief))
    return asked


def count_knowledge(coin: Design, times: int) -> Knowledge:
    """How much so many reports tell: on average over all that chance may do, and in the worst case."""
    # The number of red reports is all that matters of them: its chances under either card.
    under = [np.ones(1), np.ones(1)]
    for _ in range(times):
        under = [np.convolve(chances, row) for chances, row in zip(under, coin.matrix, strict=True)]
    right = float(np.maximum(*under).sum() / 2)
    return Knowledge(times, right, count_guesses([coin.epsilon] * times).right)
