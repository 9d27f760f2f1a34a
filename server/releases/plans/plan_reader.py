"""What a researcher asks to release: untrusted JSON and forms -> `Plan`."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from server.inputs.decimals import format_decimal, parse_decimal
from server.inputs.decoding import check_text
from server.inputs.problems import N_, InputError, Problem
from server.inputs.schema import violations
from server.releases.kinds import KINDS
from server.releases.plans.item_rules import NOT_HERE, REQUIRED, broken_rules
from server.releases.plans.items import LARGEST_NUMBER, Division, Item, ItemKind, ReleasePlan
from server.releases.plans.row_conditions import conditions_json, parse_conditions

__all__ = [
    "LEAST_EPSILON",
    "MOST_DELTA",
    "MOST_EPSILON",
    "PLAN_LIMIT",
    "Division",
    "Item",
    "ItemKind",
    "ReleasePlan",
    "format_decimal",
    "item_json",
    "parse_decimal",
    "parse_item",
    "parse_plan",
    "plan_json",
    "read_item",
]

PLAN_LIMIT = 1024 * 1024
"""Largest plan, in bytes."""
LEAST_EPSILON = Decimal("0.0001")
MOST_EPSILON = Decimal(100)
"""Of one item; of a budget from above 0."""
MOST_DELTA = Decimal("0.001")
FORMAT = 1


def parse_plan(document: object) -> ReleasePlan:
    """A decoded plan of releases -> a `Plan`; whether the survey has what it asks for is checked later.

    Raises
    ------
    InputError
        With every problem of the first kind found: of its form, of its numbers, or of what goes together.
    """
    check_text(document)
    problems = [
        Problem("plan" if problem.field == "definition" else problem.field, problem.template, problem.values)
        for problem in violations(document, "release")
    ]
    if problems:
        raise InputError(422, problems)
    assert isinstance(document, dict)  # the schema says so
    division = Division(document.get("division", Division.EQUALLY))
    items = tuple(_item(entry, f"items[{place}]") for place, entry in enumerate(document["items"]))
    problems = [
        problem
        for place, item in enumerate(items)
        for problem in broken_rules(item, document["items"][place], division, f"items[{place}]")
    ]
    divided = division in (Division.EQUALLY, Division.PROPORTIONS)
    alone = [place for place, item in enumerate(items) if KINDS[item.kind].own_price]
    if alone and len(items) > 1:
        template = N_("must stand alone in its plan; its price is not divided")
        problems.append(Problem(f"items[{alone[0]}].kind", template, {}))
    if divided and not alone and "epsilon" not in document:
        problems.append(Problem("epsilon", REQUIRED, {}))
    if not divided and "epsilon" in document:
        problems.append(Problem("epsilon", NOT_HERE, {"limit": division.value}))
    if problems:
        raise InputError(422, problems)
    return ReleasePlan(
        items=items,
        division=division,
        epsilon=None if alone else _decimal(document, "epsilon", "", (LEAST_EPSILON, MOST_EPSILON)),
        people=None if document.get("people") is None else int(document["people"]),
        confidence=float(document.get("confidence", 0.95)),
    )


def parse_item(document: Mapping[str, Any]) -> Item:
    """One item by itself: what it asks, before anything is said of its loss.

    Raises
    ------
    InputError
        As `parse_plan`, with the fields of the item.
    """
    check_text(document)
    problems = violations(document, "release", "properties", "items", "items")
    if not problems:
        item = _item(document, "")
        problems = list(broken_rules(item, document, None, ""))
    if problems:
        fields = [problem.field.lstrip(".") for problem in problems]
        raise InputError(
            422,
            [
                replace(problem, field="item" if field in ("", "definition") else field)
                for problem, field in zip(problems, fields, strict=True)
            ],
        )
    return item


def noises(kind: str) -> tuple[str, ...]:
    """The kinds of noise that such an item can have, the usual one first."""
    return KINDS[kind].noises


def plan_json(plan: ReleasePlan) -> dict[str, Any]:
    """What `parse_plan` reads back; numbers are texts, which keep every digit."""
    document: dict[str, Any] = {"format": FORMAT, "items": [item_json(item) for item in plan.items]}
    document["division"] = plan.division.value
    if plan.epsilon is not None:
        document["epsilon"] = format_decimal(plan.epsilon)
    if plan.people is not None:
        document["people"] = plan.people
    return {**document, "confidence": plan.confidence}


def item_json(item: Item) -> dict[str, Any]:
    """An item; what is as it is by itself is left out."""
    document: dict[str, Any] = {"kind": item.kind}
    if item.questions:
        document["questions"] = list(item.questions)
    if item.stratum:
        document["stratum"] = list(item.stratum)
    if item.noise != KINDS[item.kind].noises[0]:
        document["noise"] = item.noise
    if "positives" in KINDS[item.kind].fields:
        document["positives"] = item.positives
    for name in ("option", "how_many", "share", "limit", "most", "weight", "error", "epsilon"):
        value = getattr(item, name)
        if value is not None:
            document[name] = format_decimal(value) if isinstance(value, Decimal) else value
    if item.delta:
        document["delta"] = format_decimal(item.delta)
    if item.where:
        document["where"] = conditions_json(item.where)
    if item.people is not None:
        document["people"] = item.people
    for name in ("breaks", "levels"):
        if values := getattr(item, name):
            document[name] = [format_decimal(value) for value in values]
    return document | {name: True for name in ("by_stratum", "values", "anew") if getattr(item, name)}


def read_item(document: Mapping[str, Any]) -> Item:
    """An item that `item_json` wrote."""
    return _item(document, "")


def _decimal(
    document: Mapping[str, Any],
    name: str,
    field: str,
    limits: tuple[Decimal, Decimal],
    *,
    above: bool = False,
) -> Decimal | None:
    value = document.get(name)
    if value is None:
        return None
    return parse_decimal(value, f"{field}.{name}".lstrip("."), *limits, above=above)


def _decimals(
    document: Mapping[str, Any], name: str, field: str, limits: tuple[Decimal, Decimal]
) -> tuple[Decimal, ...]:
    at = f"{field}.{name}".lstrip(".")
    return tuple(
        parse_decimal(value, f"{at}[{place}]", *limits) for place, value in enumerate(document.get(name, ()))
    )


_MOST_PEOPLE = Decimal(10**9)
_MOST_ERROR = {
    "share": Decimal(1),
    "people": _MOST_PEOPLE,
    "value": _MOST_PEOPLE * LARGEST_NUMBER,
    "value squared": LARGEST_NUMBER**2,
}
"""By the unit of an error, more than any could be: all of them, everybody, or the largest sum or spread of numbers."""


def unit_of_error(kind: str, entry: Mapping[str, Any]) -> str:
    """What the error of an item is of; of a table by strata, of numbers of people."""
    unit = KINDS[kind].unit
    return "people" if unit == "share" and entry.get("by_stratum") else unit


def _item(document: Mapping[str, Any], field: str) -> Item:
    kind = document["kind"]
    questions = document.get("questions", [document["question"]] if "question" in document else [])
    return Item(
        kind=kind,
        questions=tuple(questions),
        option=document.get("option"),
        by_stratum=document.get("by_stratum", False),
        stratum=tuple(document.get("stratum", ())),
        noise=document.get("noise", KINDS[kind].noises[0]),
        how_many=None if document.get("how_many") is None else int(document["how_many"]),
        share=_decimal(document, "share", field, (Decimal("0.0001"), Decimal("0.9999"))),
        limit=document.get("limit"),
        positives=int(document.get("positives", 1)),
        most=document.get("most"),
        values=document.get("values", False),
        where=parse_conditions(document.get("where", ()), field),
        people=None if document.get("people") is None else int(document["people"]),
        breaks=_decimals(document, "breaks", field, (-LARGEST_NUMBER, LARGEST_NUMBER)),
        levels=_decimals(document, "levels", field, (Decimal("0.0001"), Decimal("0.9999"))),
        weight=_decimal(document, "weight", field, (Decimal("0.001"), Decimal(1000))),
        error=_decimal(
            document, "error", field, (Decimal(0), _MOST_ERROR[unit_of_error(kind, document)]), above=True
        ),
        epsilon=_decimal(document, "epsilon", field, (LEAST_EPSILON, MOST_EPSILON)),
        delta=_decimal(document, "delta", field, (Decimal(0), MOST_DELTA)) or Decimal(0),
        anew=document.get("anew", False),
    )
