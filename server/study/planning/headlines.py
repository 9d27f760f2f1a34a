"""The headline that respondents will read, and what would have to change for a better one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile

from server.privacy.designs import gamma_of
from server.privacy.planning import Guesses, Headline, count_guesses, most_loss
from server.study.planning.consequences import Consequences, consequences


@dataclass(frozen=True)
class BetterHeadline:
    """A headline that says more, and each of the ways to it.

    Attributes
    ----------
    loss
        What all answers together may lose then, in nats, rounded down to three decimals: the budget.
    equally
        A yes/no question, and what it takes, where as many questions as now share this loss equally; None where they
        could not be told from chance.
    questions
        How many of the questions may stay as they are, those that lose least.
    """

    headline: Headline
    loss: float
    equally: Consequences | None
    questions: int


@dataclass(frozen=True)
class Promise:
    """What respondents will read of all answers together, for so many questions, and the headlines above it."""

    guesses: Guesses
    questions: int
    better: tuple[BetterHeadline, ...]


def make_promise(losses: Sequence[float], margin: float) -> Promise:
    """What the losses of the questions let the first screen say; `margin` is that of a share's interval.

    Raises
    ------
    ValueError
        If there is no question, a loss is not positive and finite, or the margin is not in (0, 1).
    """
    guesses = count_guesses(losses)
    above = list(Headline)[: list(Headline).index(guesses.headline)]
    return Promise(guesses, len(losses), tuple(_improve(headline, losses, margin) for headline in above))


def _improve(headline: Headline, losses: Sequence[float], margin: float) -> BetterHeadline:
    loss = math.floor(most_loss(headline) * 1e3) / 1e3
    kept = sum(1 for _ in takewhile(lambda total: total <= loss, accumulate(sorted(losses))))
    return BetterHeadline(headline, loss, _divide(loss, len(losses), margin), kept)


def _divide(loss: float, questions: int, margin: float) -> Consequences | None:
    gamma = math.floor(gamma_of(loss / questions) * 1e3) / 1e3
    return consequences(gamma, margin) if gamma > 0 else None
