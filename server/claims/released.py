"""What pages and commands release, on trial: each kind of item, with each noise, under both kinds of neighbours."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from server.claims.people import Person, Survey, coin, from_table, question
from server.inputs.releases import Item, Kind
from server.privacy import designs
from server.privacy.auditing.cases import Case, Finding, approximate, by_comparing, by_dealing
from server.privacy.auditing.dealing import frozen
from server.privacy.auditing.reported import coins_of
from server.privacy.designs import TOTAL
from server.releases.kinds import query_of, shuffling_of
from server.releases.kinds.shuffled import Shuffling

DELTA = 1e-6
_ROWS = "no,tea,6,north\nyes,coffee,0,south"
_NEIGHBOURS = {
    "unbounded": (_ROWS, f"{_ROWS}\nyes,water,12,south"),
    "bounded": (f"{_ROWS}\nno,tea,0,north", f"{_ROWS}\nyes,water,12,south"),
}
"""Tables that differ in one row: one more, or another one."""
_CROWD = 100
_QUESTIONS = 5


def covered(kind: str, noise: str, neighbours: str) -> str:
    """What of the registry of kinds a case is."""
    return f"{kind} with {noise} noise, {neighbours}"


def cases() -> list[Case]:
    """Of tables as the command line reads them, of surveys as their responses arrive."""
    return [*_tables(), *_means(), *_selections(), *_exceeding(), _shuffled()]


def _tables() -> list[Case]:
    items: list[dict[str, Any]] = [
        {"kind": "count", "stratum": ["south"], "noise": "geometric"},
        {"kind": "count", "stratum": ["south"], "noise": "laplace"},
        *(
            {**item, "noise": noise}
            for noise in ("geometric", "laplace")
            for item in (
                {"kind": "share", "question": "smokes", "option": "yes"},
                {"kind": "histogram", "question": "drink"},
                {"kind": "table", "questions": ["smokes", "drink"]},
                {"kind": "mean", "question": "hours"},
            )
        ),
        {"kind": "table", "questions": ["drink"], "by_stratum": True, "noise": "geometric"},
        {"kind": "mean", "question": "hours", "stratum": ["south"], "noise": "geometric"},
        {"kind": "mean", "question": "hours", "noise": "gaussian", "delta": str(DELTA)},
        {"kind": "hierarchy", "noise": "geometric"},
    ]
    made = [_of_table([item], neighbours) for item in items for neighbours in _NEIGHBOURS]
    whole = [_of_table([{"kind": "count"}], "unbounded")]
    plans = [
        _of_table([items[0], {"kind": "histogram", "question": "drink"}, items[-1]], neighbours)
        for neighbours in _NEIGHBOURS
    ]
    return [*made, *whole, *plans]


def _of_table(items: Sequence[Mapping[str, Any]], neighbours: str) -> Case:
    name = " and ".join(_name(item) for item in items)
    covers = ""
    if len(items) == 1:
        covers = covered(items[0]["kind"], items[0].get("noise", "geometric"), neighbours)
    gaussian = any(item.get("noise") == "gaussian" for item in items)
    return by_dealing(
        f"release(1) of a table, {neighbours}: {name}",
        1.0,
        from_table(items, neighbours, "1"),
        *_NEIGHBOURS[neighbours],
        DELTA if gaussian else 0.0,
        covers=covers,
    )


def _name(item: Mapping[str, Any]) -> str:
    where = " in a stratum" if "stratum" in item else " by stratum" if "by_stratum" in item else ""
    return f"{item['kind']}{where}, {item.get('noise', 'geometric')}"


def _means() -> list[Case]:
    """Of answers that arrived as one end of a range, or as a point of a scale: their reports are what is perturbed."""
    line = question("hours", (), [coin()], (0.0, 12.0), 2)
    scale = question("mood", ("bad", "fair", "good"), [designs.ordinal(3, 1.0)], (1.0, 2.0, 3.0))
    boxes = question("uses", ("tram", "bike"), [coin()] * 2)
    asked: list[tuple[dict[str, Any], Sequence[int], Sequence[int]]] = [
        ({"kind": "mean", "question": "hours", "noise": "geometric"}, [0], [1]),
        ({"kind": "mean", "question": "hours", "noise": "laplace"}, [0], [1]),
        ({"kind": "mean", "question": "hours", "noise": "gaussian", "delta": str(DELTA)}, [0], [1]),
        ({"kind": "mean", "question": "mood", "noise": "geometric"}, [0], [2]),
        ({"kind": "histogram", "question": "uses", "noise": "geometric"}, [0, 0], [1, 1]),
        ({"kind": "share", "question": "uses", "option": "bike", "noise": "geometric"}, [0, 0], [1, 1]),
    ]
    return [
        _of_survey([item], Survey((line, scale, boxes), neighbours), first, second)
        for item, first, second in asked
        for neighbours in _NEIGHBOURS
    ]


def _of_survey(
    items: Sequence[Mapping[str, Any]], survey: Survey, first: Sequence[int], second: Sequence[int]
) -> Case:
    """One response more, or another one: reports of the question of the first item."""
    (item,) = items
    return by_dealing(
        f"release(1) of a survey, {survey.neighbours}: {_name(item)}, {item['question']}",
        1.0,
        survey.releasing(items, "1"),
        *_differing(survey, item["question"], [], first, second),
        DELTA if item["noise"] == "gaussian" else 0.0,
        covers=covered(item["kind"], item["noise"], survey.neighbours),
    )


def _differing(
    survey: Survey, name: str, others: Sequence[Sequence[int]], first: Sequence[int], second: Sequence[int]
) -> tuple[list[Person], list[Person]]:
    """Two sets of responses that differ in one."""
    rest: list[Person] = [(0, {name: report}) for report in others]
    without = rest if survey.neighbours == "unbounded" else [*rest, (0, {name: first})]
    return without, [*rest, (0, {name: second})]


def _selections() -> list[Case]:
    """The most common of two answers: by reports as they arrived, or by what was estimated from them."""
    alike = question("party", ("red", "blue"), [coin()])
    apart = question("party", ("red", "blue"), [designs.forced_response(0.5, 0.125)])
    boxes = question("party", ("red", "blue"), [coin()] * 2)
    found = []
    for neighbours in _NEIGHBOURS:
        for noise in ("noisy_maximum", "exponential"):
            for name, variable, others, first, second in (
                ("reports", alike, [[0]] * 4, [0], [1]),
                ("estimates", apart, [[0]] * 4, [0], [1]),
                ("boxes", boxes, [[1, 0]] * 4, [1, 0], [0, 1]),
            ):
                survey = Survey((variable,), neighbours)
                item = {"kind": "most_common", "question": "party", "noise": noise}
                found.append(
                    by_dealing(
                        f"release(1) of a survey, {neighbours}: most_common, {noise}, by {name}",
                        1.0,
                        survey.releasing([item], "1"),
                        *_differing(survey, "party", others, first, second),
                        covers=covered("most_common", noise, neighbours),
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
    for neighbours in _NEIGHBOURS:
        without: list[Person] = [] if neighbours == "unbounded" else [(0, opposite)]
        for values in (False, True):
            item = {"kind": "exceeding", "questions": names, "share": "0.5", "values": values}
            found.append(
                by_comparing(
                    f"release(4) of a survey, {neighbours}: exceeding{', with values' if values else ''}",
                    4.0,
                    Survey(asked, neighbours).releasing([item], "4"),
                    (without, [(0, said)]),
                    _QUESTIONS,
                    covers=covered("exceeding", "geometric", neighbours),
                )
            )
    return found


def _shuffled() -> Case:
    """All reports exactly as they arrived, one person's among those of others who entered No."""
    price = _price()
    return Case(
        f"release of a survey, bounded: shuffled, {_CROWD} responses",
        float(price.epsilon),
        partial(_shuffled_loss, float(price.delta)),
        lambda: _exactly(1),
        covered("shuffled", "geometric", "bounded"),
    )


def _crowd(yes: int) -> tuple[Survey, list[Person]]:
    survey = Survey((question("smokes", ("no", "yes"), [coin()]),), "bounded", local_epsilon=coin().epsilon)
    return survey, [(0, {"smokes": [int(place < yes)]}) for place in range(_CROWD)]


def _price() -> Shuffling:
    survey, people = _crowd(0)
    found = shuffling_of(survey.source(people).shape)
    assert isinstance(found, Shuffling)
    return found


def _exactly(yes: int) -> Any:
    survey, people = _crowd(yes)
    source = survey.source(people)
    drawn = query_of(Item(Kind.SHUFFLED), source.shape, "items[0]").draw(source, 1.0, 0.0, 0.95)
    return frozen((drawn.figures, dict(drawn.notes)))


def _shuffled_loss(delta: float) -> Finding:
    """What is told of each number of reports, with its chance: that of the others' coins and of one person's."""
    no, yes = (coins_of(coin())[:, 1] / TOTAL).tolist()
    others = np.array(
        [math.comb(_CROWD - 1, k) * no**k * (1 - no) ** (_CROWD - 1 - k) for k in range(_CROWD)]
    )
    chances = [np.convolve(others, [1 - own, own]) for own in (no, yes)]
    told: dict[Any, list[float]] = {}
    for number, both in enumerate(zip(*chances, strict=True)):
        known = told.setdefault(_exactly(number), [0.0, 0.0])
        known[0], known[1] = known[0] + both[0], known[1] + both[1]
    first, second = np.array(list(told.values())).T
    return approximate(np.minimum(first, 1.0), np.minimum(second, 1.0), delta)
