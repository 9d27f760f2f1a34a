"""What is released by choosing, on trial: the most common answer, and answers that exceed a share."""

from typing import Any

from server.privacy import designs
from server.privacy.auditing.cases import Case, by_choosing, by_comparing, by_dealing
from server.releases.budgets import NEIGHBOURS
from server.releases.claims.invented_people import (
    InventedSurvey,
    Person,
    coin,
    make_neighbours,
    name_case,
    question,
)

_QUESTIONS = 5


def cases() -> list[Case]:
    """Under both kinds of neighbours."""
    return [*_most_common(), *_top(), *_exceeding()]


def _most_common() -> list[Case]:
    """The most common of two answers: by reports as they arrived, or by what was estimated from them."""
    alike = question("party", ("red", "blue"), [coin()])
    apart = question("party", ("red", "blue"), [designs.forced_response(0.5, 0.125)])
    boxes = question("party", ("red", "blue"), [coin()] * 2)
    found = []
    for neighbours in NEIGHBOURS:
        for noise in ("noisy_maximum", "exponential"):
            for name, variable, others, first, second in (
                ("reports", alike, [[0]] * 4, [0], [1]),
                ("estimates", apart, [[0]] * 4, [0], [1]),
                ("boxes", boxes, [[1, 0]] * 4, [1, 0], [0, 1]),
            ):
                survey = InventedSurvey((variable,), neighbours)
                item = {"kind": "most_common", "question": "party", "noise": noise}
                found.append(
                    by_dealing(
                        f"release(1) of a survey, {neighbours}: most_common, {noise}, by {name}",
                        1.0,
                        survey.releasing([item], "1"),
                        *make_neighbours(survey, "party", others, first, second),
                        covers=name_case("most_common", noise, neighbours),
                    )
                )
    return found


def _top() -> list[Case]:
    """Two of four answers, by reports as they arrived or by estimates; of boxes, by somebody who ticks two of them."""
    names = ("red", "blue", "green", "white")
    uneven = designs.custom(
        [[0.7, 0.1, 0.1, 0.1], [0.1, 0.5, 0.2, 0.2], [0.1, 0.2, 0.5, 0.2], [0.1, 0.2, 0.2, 0.5]]
    )
    found = []
    for neighbours in NEIGHBOURS:
        for name, made, others, first, second in (
            ("reports", [designs.k_ary(4, 1.0)], [[0], [1]] * 9, [2], [1]),
            ("estimates", [uneven], [[0], [1]] * 9, [2], [1]),
            ("boxes", [coin()] * 4, [[1, 1, 0, 0]] * 5, [0, 0, 1, 1], [1, 1, 0, 0]),
        ):
            survey = InventedSurvey((question("party", names, made),), neighbours)
            found.append(
                by_choosing(
                    f"release(1) of a survey, {neighbours}: top 2 of 4 by {name}",
                    1.0,
                    survey.releasing([{"kind": "top", "question": "party", "how_many": 2}], "1"),
                    make_neighbours(survey, "party", others, first, second),
                    covers=name_case("top", "exponential", neighbours),
                )
            )
    return found


def _exceeding() -> list[Case]:
    """A person who says Yes to all questions but the last, under coins that hide little: all comparisons move."""
    names = [f"question {number}" for number in range(_QUESTIONS)]
    asked = tuple(question(name, ("no", "yes"), [designs.for_epsilon(12.0)]) for name in names)
    said = {name: [int(name != names[-1])] for name in names}
    opposite = {name: [1 - report] for name, (report,) in said.items()}
    found = []
    for neighbours in NEIGHBOURS:
        without: list[Person] = [] if neighbours == "unbounded" else [(0, opposite)]
        for values in (False, True):
            item: dict[str, Any] = {"kind": "exceeding", "questions": names, "share": "0.5", "values": values}
            item |= {"positives": 2} if values else {}  # which share the loss of values
            found.append(
                by_comparing(
                    f"release(4) of a survey, {neighbours}: exceeding{', with values' if values else ''}",
                    4.0,
                    InventedSurvey(asked, neighbours).releasing([item], "4"),
                    (without, [(0, said)]),
                    _QUESTIONS,
                    covers=name_case("exceeding", "geometric", neighbours),
                )
            )
    return found
