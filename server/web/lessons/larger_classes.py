"""Made-up classes of growing size: real coins, the site's own estimator, and an error that shrinks."""

from dataclasses import dataclass

import numpy as np

from server.privacy.designs import coin_flip, draw_coins
from server.privacy.estimators import estimate_shares

SIZES = (10, 20, 50, 100, 200, 500, 1000)
"""After how many answers the board is looked at."""
COIN = coin_flip(0.25)


@dataclass(frozen=True)
class BoardLook:
    """The board after so many answers.

    Attributes
    ----------
    answers, reported : int
        How many arrived, and how many of them say red.
    share : float
        Estimated of red cards; unclipped.
    interval : tuple of float
        At 95 %, for one look.
    """

    answers: int
    reported: int
    share: float
    interval: tuple[float, float]


def play_class(red: int) -> list[BoardLook]:
    """Deal cards of which so many of 100 are red, flip a coin for each, and look after each of `SIZES`."""
    dealt = np.zeros(SIZES[-1], dtype=np.int64)
    dealt[: SIZES[-1] * red // 100] = 1
    # In the order of coins of their own the cards are shuffled.
    truths = dealt[np.argsort(draw_coins(len(dealt)), kind="stable")]
    reports = COIN.report(truths, draw_coins(len(truths)))
    return [_estimate_board(int(reports[:size].sum()), size) for size in SIZES]


def _estimate_board(reported: int, answers: int) -> BoardLook:
    estimate = estimate_shares([answers - reported, reported], COIN)
    low, high = estimate.intervals[1].tolist()
    return BoardLook(answers, reported, float(estimate.shares[1]), (low, high))
