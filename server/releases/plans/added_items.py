"""What the buttons of a form of releases add to its plan: a table, a comparison, answers, something of one stratum."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from server.inputs.decoding import parse_json
from server.inputs.definition_forms import number_or_text
from server.inputs.problems import N_, refuse
from server.releases.plans.plan_forms import (
    INSTEAD,
    STRATA,
    PlanForm,
    base_item,
    key_of,
    of_hundred,
    read_keyed_item,
)
from server.releases.plans.plan_reader import Item, ItemKind, item_json

CHOSEN: Mapping[str, tuple[str, ...]] = {
    "table": ("side1", "side2", "side3"),
    "top": ("top",),
    "exceeding": ("exceeding",),
    "part": ("stratum",),
}
"""The fields that are empty until something is chosen for the button of this name, which adds it."""
_LONGEST = 100_000


def with_added(typed: PlanForm, fields: Sequence[tuple[str, str]]) -> PlanForm:
    """The same with the item that the form's button adds, if it is one that adds.

    Raises
    ------
    InputError
        Naming the fields that describe that item.
    """
    texts = dict(fields)
    action = texts.get("action", "")
    if action.startswith(INSTEAD):
        return _with_histogram(typed, action.removeprefix(INSTEAD))
    match action:
        case "table":
            added = _table([texts.get(f"side{place}", "") for place in (1, 2, 3)])
        case "exceeding":
            added = _exceeding([text for name, text in fields if name == "exceeding"], texts)
        case "top":
            added = _top(texts)
        case "part":
            names = _names(texts.get("stratum", ""))
            _key, item = read_keyed_item(texts.get("part", ""), "part")
            added = {**item_json(item), "stratum": names}
        case _:
            return typed
    item = base_item(added)
    return replace(typed, items={**typed.items, key_of(item): item})


def _with_histogram(typed: PlanForm, key: str) -> PlanForm:
    """The same with the shares of all answers in place of the comparison of this key, if it is there."""
    items = dict(typed.items)
    compared = items.pop(key, None)
    if compared is None or compared.kind != ItemKind.EXCEEDING:
        return typed
    item = Item(ItemKind.HISTOGRAM, compared.questions, stratum=compared.stratum)
    return replace(typed, items={**items, key_of(item): item})


def _table(sides: Iterable[str]) -> dict[str, Any]:
    chosen = [side for side in sides if side]
    if len(chosen) < 2:
        raise refuse(422, "side2", N_("is required"))
    questions = [side for side in chosen if side != STRATA]
    table: dict[str, Any] = {"kind": ItemKind.TABLE.value, "questions": questions}
    return table | ({"by_stratum": True} if STRATA in chosen else {})


def _exceeding(questions: Sequence[str], form: Mapping[str, str]) -> dict[str, Any]:
    item: dict[str, Any] = {
        "kind": ItemKind.EXCEEDING.value,
        "questions": list(questions),
        "share": of_hundred(form.get("share", "")),
        "positives": number_or_text(form.get("positives", "")),
    }
    return item | ({"values": True} if "values" in form else {})


def _top(form: Mapping[str, str]) -> dict[str, Any]:
    question = form.get("top", "")
    if not question:
        raise refuse(422, "top", N_("is required"))
    how_many = number_or_text(form.get("how_many", ""))
    return {"kind": ItemKind.TOP.value, "questions": [question], "how_many": how_many}


def _names(text: str) -> Any:
    """The names of a stratum, which a page wrote as JSON."""
    if not text:
        raise refuse(422, "stratum", N_("is required"))
    return parse_json(text.encode(), _LONGEST)
