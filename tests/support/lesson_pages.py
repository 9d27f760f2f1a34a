"""The teaching pages in every state, for the walk over all: with every choice, refused, and a class that plays.

Besides, what it takes to show a difference.
"""

import re
from typing import TYPE_CHECKING

from tests.support import factories
from tests.support.catalogue_words import pseudo

if TYPE_CHECKING:
    from tests.support.every_page import Reader

CHOICES = (
    *("", "/again", "/again?kept=60&times=1", "/again?kept=90&times=30", "/again?kept=1", "/again?times=31"),
    *("/difference", "/difference?whose=Ana&loss=0.1", "/difference?whose=%3F"),
    *("/noise", "/noise?noise=laplace&loss=0.1&draws=1000", "/noise?loss=3", "/audit"),
    *("/class", "/class?red=0", "/class?red=x", "/cards", "/cards?cards=2&red=2", "/cards?cards=2&red=3"),
)


PLANS = (
    *("", "?compared=fixed&planned=500&sides=1", "?planned=0&coin=x", "?other=10", "?compared=%3F"),
    "?true_share=0&other=100&alpha=50&power=1&ratio=100",
    *("?measured=answer&answers=3", "?measured=number&high=5&true_share=1&other=2", "?measured=scale"),
    *("?measured=scale&true_share=20;30;50&other=50;30", "?measured=number&high=0", "?compared=waves"),
    *("?compared=waves&other=15/20", "?compared=waves&other=20/10"),
)


def walk_lessons(stranger: "Reader", owner: "Reader", database_url: str) -> None:
    """What everybody may open, and the board of a class that was made, is played, and is over."""
    for choice in PLANS:
        owner.get(f"/manage/power{choice}")
    for choice in CHOICES:
        stranger.get(f"/teach{choice}")
    owner.get("/manage/class")
    owner.post("/manage/class", {"language": "?"})
    owner.post("/manage/class", {"language": "es"})
    slug = re.findall(r"/manage/surveys/(\w+)/board", str(owner.requests))[-1]
    several = [factories.question("red_card", pseudo("Red?")), factories.question("other", pseudo("Other?"))]
    document = {**factories.definition(title=pseudo("Cards"), questions=several), "language": "es"}
    factories.save(database_url, slug, document)  # so that lists of surveys show words that are known again
    survey = factories.publish(database_url, document, minimum=1)
    board = f"/manage/surveys/{survey.slug}/board"
    owner.get(board)
    factories.store(database_url, survey, [([1, 0], 20), ([0, 0], 20)])
    owner.get(board)
    owner.post(f"/manage/surveys/{survey.slug}/close", {"back": "board"})
    for dealt in ("red=20&cards=40", "red=0&cards=40", "red=41&cards=40"):
        owner.get(f"{board}?{dealt}")
