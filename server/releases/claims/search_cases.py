"""Searches of a survey on trial: the whole of what is told, of one person more or another one."""

from collections.abc import Sequence
from decimal import Decimal
from functools import partial

from server.privacy import designs
from server.privacy.auditing.cases import Case, by_searching
from server.privacy.selection import OngoingSearch
from server.releases.budgets import NEIGHBOURS
from server.releases.claims.invented_people import InventedSurvey, Person, question
from server.releases.searches.search_questions import SearchQuestion
from server.releases.searches.search_terms import SearchTerms, draw_search
from server.releases.survey_shapes import Source

_QUESTIONS = 6


def cases() -> list[Case]:
    """A person who says Yes to all questions but the last, asked for one after the other: all comparisons move.

    With delta, what is computed is the sum of two searches' losses, which are composed by what is on trial elsewhere.
    """
    names = [f"question {number}" for number in range(_QUESTIONS)]
    asked = tuple(question(name, ("no", "yes"), [designs.for_epsilon(12.0)]) for name in names)
    said = {name: [int(name != names[-1])] for name in names}
    opposite = {name: [1 - report] for name, (report,) in said.items()}
    share = Decimal("0.5")
    found = []
    for neighbours in NEIGHBOURS:
        survey = InventedSurvey(asked, neighbours)
        without: list[Person] = [] if neighbours == "unbounded" else [(0, opposite)]
        for name, claim, terms, questions in (
            ("search(4), share", 4.0, SearchTerms(share, None, 1, Decimal(4), Decimal(0), None), names),
            ("search(4), people", 4.0, SearchTerms(None, 1, 1, Decimal(4), Decimal(0), None), names),
            (
                "search(1, c = 2, delta = 0.1), share, at delta = 0",
                1.267,
                SearchTerms(share, None, 2, Decimal(1), Decimal("0.1"), None),
                names[1:] * 2,
            ),
        ):
            inputs = [
                [_ask_of(survey, people, terms, each) for each in questions]
                for people in (without, [(0, said)])
            ]
            found.append(
                by_searching(
                    f"{name}, of a survey, {neighbours}",
                    claim,
                    partial(draw_search, terms),
                    _compare,
                    (inputs[0], inputs[1]),
                )
            )
    return found


def _ask_of(
    survey: InventedSurvey, people: Sequence[Person], terms: SearchTerms, name: str
) -> tuple[SearchQuestion, Source]:
    """Whether Yes is above the limit, as pages ask it, of these people."""
    source = survey.source(people)
    return SearchQuestion.of(terms.item, source.shape, name, "yes", ()), source


def _compare(search: OngoingSearch, case: tuple[SearchQuestion, Source]) -> tuple[bool, OngoingSearch | None]:
    wanted, source = case
    above, after = wanted.compare(search, source)
    return above, after if after.left else None
