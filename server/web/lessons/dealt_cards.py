"""The cards that a teacher handed out, beside what the coins let the class estimate."""

from dataclasses import dataclass

from flask import request

from server.reports import QuestionReport
from server.web.lessons.lesson_fields import read_whole

MOST_CARDS = 10_000


@dataclass(frozen=True)
class ComparedCards:
    """What was dealt, and whether the interval of the estimate holds it.

    Attributes
    ----------
    red, cards : int
    share : float
        Of red cards among all that were dealt.
    held : bool
        Whether it is in the interval for one look.
    """

    red: int
    cards: int
    share: float
    held: bool


def read_cards() -> tuple[int, int] | None:
    """How many red cards were dealt, and how many in all, as the address says; None where it says nothing."""
    if not request.args.get("cards"):
        return None
    cards = read_whole("cards", 0, 1, MOST_CARDS)
    return read_whole("red", 0, 0, cards), cards


def compare_cards(entry: QuestionReport, dealt: tuple[int, int]) -> ComparedCards:
    """Put the cards beside the estimate of a yes/no question."""
    red, cards = dealt
    (yes,) = entry.shown
    low, high = yes.interval(False)
    return ComparedCards(red, cards, red / cards, low <= red / cards <= high)
