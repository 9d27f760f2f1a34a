"""What pages and commands release, on trial: each kind of item, with each noise, under both kinds of neighbours."""

from collections.abc import Mapping, Sequence
from typing import Any

from server.privacy import designs
from server.privacy.auditing.cases import Case, by_choosing, by_dealing
from server.releases.budgets import NEIGHBOURS
from server.releases.claims import selection_cases, shuffle_cases
from server.releases.claims.invented_people import (
    COLUMNS,
    InventedSurvey,
    Person,
    coin,
    from_table,
    make_neighbours,
    name_case,
    question,
)
from server.releases.kinds import KINDS

DELTA = 1e-6
_ROWS = "no,tea,6,north\nyes,coffee,0,south"
_TABLES = {
    "unbounded": (_ROWS, f"{_ROWS}\nyes,water,12,south"),
    "bounded": (f"{_ROWS}\nno,tea,0,north", f"{_ROWS}\nyes,water,12,south"),
}
"""Tables that differ in one row: one more, or another one."""


def cases() -> list[Case]:
    """Of tables as the command line reads them, of surveys as their responses arrive."""
    return [
        *_tables(),
        *_sums(),
        *_quantiles(),
        *_of_persons(),
        *_means(),
        *_strata(),
        *selection_cases.cases(),
        *shuffle_cases.cases(),
    ]


def _tables() -> list[Case]:
    items: list[dict[str, Any]] = [
        *(
            {
                "kind": kind,
                **entry.example,
                "noise": noise,
                **({"delta": str(DELTA)} if noise == "gaussian" else {}),
            }
            for kind, entry in KINDS.items()
            if entry.example is not None
            for noise in entry.noises
        ),
        *(
            {**item, "where": [{"column": "smokes", "equal": "yes"}, {"column": "hours", "at_least": "11.5"}]}
            for item in (
                {"kind": "count"},
                {"kind": "histogram", "question": "drink"},
                {"kind": "mean", "question": "hours"},
                {"kind": "sum", "question": "hours"},
                {"kind": "variance", "question": "hours"},
            )
        ),
        {"kind": "histogram", "question": "hours", "breaks": [1, 3, 11]},
        {"kind": "table", "questions": ["drink"], "by_stratum": True, "noise": "geometric"},
        {"kind": "mean", "question": "hours", "stratum": ["south"], "noise": "geometric"},
    ]
    made = [_of_table([item], neighbours) for item in items for neighbours in NEIGHBOURS]
    whole = [_of_table([{"kind": "count"}], "unbounded")]
    plans = [
        _of_table(
            [items[0], {"kind": "histogram", "question": "drink"}, {"kind": "hierarchy"}],
            neighbours,
        )
        for neighbours in NEIGHBOURS
    ]
    return [*made, *whole, *plans]


def _of_table(items: Sequence[Mapping[str, Any]], neighbours: str) -> Case:
    name = " and ".join(_name(item) for item in items)
    covers = ""
    if len(items) == 1:
        covers = name_case(items[0]["kind"], items[0].get("noise", "geometric"), neighbours)
    gaussian = any(item.get("noise") == "gaussian" for item in items)
    return by_dealing(
        f"release(1) of a table, {neighbours}: {name}",
        1.0,
        from_table(items, neighbours, "1"),
        *_TABLES[neighbours],
        DELTA if gaussian else 0.0,
        covers=covers,
    )


def _name(item: Mapping[str, Any]) -> str:
    where = " in a stratum" if "stratum" in item else " by stratum" if "by_stratum" in item else ""
    where += " under conditions" if "where" in item else " with breaks" if "breaks" in item else ""
    return f"{item['kind']}{where}, {item.get('noise', 'geometric')}"


def _sums() -> list[Case]:
    """Of numbers whose ends are both below 0, or above, or one of them: how far one row moves a sum follows from both.

    A spread is moved furthest by a number from one end to a little beyond the middle: its squares move, too.
    """
    both, above, usual = (-12, 4), (4, 12), (0, 12)
    total, spread = ({"kind": kind, "question": "hours"} for kind in ("sum", "variance"))
    narrowed = {**total, "where": [{"column": "smokes", "equal": "yes"}]}
    found = []
    for neighbours, item, ends, first, second in (
        ("unbounded", total, both, "", "yes,water,-12,south"),
        ("bounded", total, both, "no,tea,4,north", "yes,water,-12,south"),
        ("bounded", narrowed, above, "no,tea,4,north", "yes,water,12,south"),
        ("bounded", spread, usual, "no,tea,0,north", "yes,water,8,south"),
    ):
        hours = dict(zip(("low", "high"), ends, strict=True))
        released = from_table([item], neighbours, "1", columns={**COLUMNS, "hours": hours})
        name = f"release(1) of a table, {neighbours}: {_name(item)}, from {ends[0]} to {ends[1]}"
        found.append(
            by_dealing(name, 1.0, released, f"no,tea,4,north\n{first}".rstrip(), f"no,tea,4,north\n{second}")
        )
    return found


def _quantiles() -> list[Case]:
    """Of three rows with one far from the others, so that few numbers are below them and many above."""
    few = "no,tea,1,north\nyes,coffee,0,south"
    inputs = {
        "unbounded": (few, f"{few}\nyes,water,12,south"),
        "bounded": (f"{few}\nno,tea,1,north", "no,tea,1,north\nyes,water,12,south\nno,tea,1,north"),
    }
    return [
        by_choosing(
            f"release(1) of a table, {neighbours}: quantiles {' and '.join(levels)}",
            1.0,
            from_table([{"kind": "quantiles", "question": "hours", "levels": levels}], neighbours, "1"),
            inputs[neighbours],
            covers=name_case("quantiles", "exponential", neighbours),
        )
        for neighbours in NEIGHBOURS
        for levels in (["0.75"], ["0.25", "0.5"])
    ]


def _of_persons() -> list[Case]:
    """One person more, with three rows of which two are counted, between the rows of another one."""
    rows = ["no,tea,0,north,ann", "no,tea,1,north,ann", "no,tea,3,north,ann"]
    added = ["yes,water,12,south,bea"] * 3
    inputs = "\n".join(rows), "\n".join([*added[:1], *rows[:2], *added[1:], *rows[2:]])
    items: list[dict[str, Any]] = [
        {"kind": "count"},
        {"kind": "histogram", "question": "drink"},
        {"kind": "sum", "question": "hours"},
        {"kind": "variance", "question": "hours"},
    ]
    person = {"column": "who", "rows": 2}
    return [
        by_dealing(
            f"release(1) of a table, unbounded: {_name(item)}, two rows a person",
            1.0,
            from_table([item], "unbounded", "1", person=person),
            *inputs,
        )
        for item in items
    ]


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
        _of_survey([item], InventedSurvey((line, scale, boxes), neighbours), first, second)
        for item, first, second in asked
        for neighbours in NEIGHBOURS
    ]


def _strata() -> list[Case]:
    """Responses from places: another one comes from elsewhere, and says something else."""
    places: dict[str, list[tuple[int, list[int]]]] = {
        "unbounded": [(1, [0])],
        "bounded": [(1, [0]), (0, [0])],
    }
    variable = question("smokes", ("no", "yes"), [coin()])
    line = question("hours", (), [coin()], (0.0, 12.0), 2)
    found = []
    for neighbours, start in places.items():
        survey = InventedSurvey((variable, line), neighbours, strata=True)
        without: list[Person] = [(place, {"smokes": report, "hours": report}) for place, report in start]
        other: list[Person] = [*without[:1], (2, {"smokes": [1], "hours": [1]})]
        items: list[dict[str, Any]] = [
            {"kind": "table", "questions": ["smokes"], "by_stratum": True},
            {"kind": "mean", "question": "hours", "by_stratum": True},
            {"kind": "hierarchy"},
        ]
        found += [
            by_dealing(
                f"release(1) of a survey, {neighbours}: {_name(item)}",
                1.0,
                survey.releasing([item], "1"),
                without,
                other,
                covers=name_case(item["kind"], "geometric", neighbours),
            )
            for item in items
        ]
    return found


def _of_survey(
    items: Sequence[Mapping[str, Any]], survey: InventedSurvey, first: Sequence[int], second: Sequence[int]
) -> Case:
    """One response more, or another one: reports of the question of the first item."""
    (item,) = items
    return by_dealing(
        f"release(1) of a survey, {survey.neighbours}: {_name(item)}, {item['question']}",
        1.0,
        survey.releasing(items, "1"),
        *make_neighbours(survey, item["question"], [], first, second),
        DELTA if item["noise"] == "gaussian" else 0.0,
        covers=name_case(item["kind"], item["noise"], survey.neighbours),
    )
