"""A plan of releases as the fields of a form, and back: what is ticked, and what stands beside it.

A ticked item is a field `item` whose text is the item itself, JSON, without what can be chosen
for it: that stands in fields named by it, such as `amount {"kind":"count"}`. So a form holds any
plan, whatever the page offers by itself.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from server.inputs.decoding import parse_json
from server.inputs.definition_forms import number_or_text
from server.inputs.problems import N_, refuse
from server.releases.kinds import KINDS
from server.releases.plans.item_rules import NOT_HERE
from server.releases.plans.plan_reader import (
    FORMAT,
    Division,
    Item,
    ReleasePlan,
    format_decimal,
    item_json,
    noises,
    parse_item,
    unit_of_error,
)

ASKED = tuple(
    "kind questions option by_stratum stratum how_many share positives values where breaks levels".split()
)
"""What makes an item another one; the rest is how it is released."""
AMOUNTS: Mapping[str, str] = {
    Division.PROPORTIONS: "weight",
    Division.ERRORS: "error",
    Division.GIVEN: "epsilon",
}
"""What each item states, by how the loss is divided."""
INSTEAD = "instead "
"""Begins the button that takes a histogram in place of a comparison, whose key follows."""
STRATA = "*strata"
"""Chosen for a side of a table: no question can be named so."""
_CHOICES = ("noise", "amount", "anew")
_LONGEST = 100_000
_HUNDRED = Decimal(100)


@dataclass(frozen=True)
class PlanForm:
    """What a form holds, as it was typed.

    Attributes
    ----------
    items : mapping
        What is ticked, by its key.
    chosen : mapping
        By the name of a field: "noise", "amount" or "anew", a space and a key.
    division, epsilon, people, confidence, delta : str
        For the plan as a whole; `delta` is that of each item with Gaussian noise.
    """

    items: Mapping[str, Item] = field(default_factory=dict)
    chosen: Mapping[str, str] = field(default_factory=dict)
    division: str = Division.EQUALLY.value
    epsilon: str = ""
    people: str = ""
    confidence: str = "0.95"
    delta: str = ""

    def amount(self, key: str) -> str:
        """What was typed beside an item."""
        return self.chosen.get(f"amount {key}", "").strip()

    def noise(self, key: str) -> str:
        """The noise that was chosen for an item; empty for the usual one."""
        return self.chosen.get(f"noise {key}", "")

    def anew(self, key: str) -> str:
        """The entry of the ledger that an item shall be newer than; empty if any will do."""
        return self.chosen.get(f"anew {key}", "")

    @property
    def complete(self) -> bool:
        """Whether every item states what the division of the loss needs."""
        return self.division not in AMOUNTS or all(map(self.amount, self.items))

    def document(self) -> dict[str, Any]:
        """The plan as JSON, for `parse_plan`."""
        document: dict[str, Any] = {"format": FORMAT, "division": self.division}
        document["items"] = [self._item(key, item) for key, item in self.items.items()]
        if self.division not in (Division.ERRORS, Division.GIVEN):
            document["epsilon"] = _number(self.epsilon)
        if self.people.strip():
            document["people"] = number_or_text(self.people)
        document["confidence"] = number_or_text(self.confidence)
        return document

    def _item(self, key: str, item: Item) -> dict[str, Any]:
        document = item_json(item)
        if self.noise(key) not in ("", noises(item.kind)[0]):
            document["noise"] = self.noise(key)
        if document.get("noise") == "gaussian":
            document["delta"] = _number(self.delta)
        if name := AMOUNTS.get(self.division):
            amount = _number(self.amount(key))
            document[name] = of_hundred(amount) if name == "error" and in_percent(item) else amount
        return document


def in_percent(item: Item) -> bool:
    """Whether the error of an item is one of shares, which people type in percent."""
    return unit_of_error(item.kind, {"by_stratum": item.by_stratum}) == "share"


def key_of(item: Item) -> str:
    """What identifies an item on a page, whatever its noise and its loss."""
    document = item_json(item)
    asked = {name: document[name] for name in ASKED if name in document}
    return json.dumps(asked, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def typed_plan(plan: ReleasePlan) -> PlanForm:
    """A plan as it would have been typed."""
    chosen, items = {}, {}
    for item in plan.items:
        key = key_of(item)
        items[key] = base_item(item_json(item))
        if noise := item_json(item).get("noise"):
            chosen[f"noise {key}"] = noise
        if name := AMOUNTS.get(plan.division):
            amount = getattr(item, name)
            chosen[f"amount {key}"] = format_decimal(
                amount * _HUNDRED if name == "error" and in_percent(item) else amount
            )
    deltas = [item.delta for item in plan.items if item.delta]
    return PlanForm(
        items=items,
        chosen=chosen,
        division=plan.division.value,
        epsilon="" if plan.epsilon is None else format_decimal(plan.epsilon),
        people="" if plan.people is None else str(plan.people),
        confidence=str(plan.confidence),
        delta=format_decimal(max(deltas)) if deltas else "",
    )


def read_typed(fields: Sequence[tuple[str, str]]) -> PlanForm:
    """What a form sends.

    Raises
    ------
    InputError
        If a field that a page wrote holds something else.
    """
    texts = dict(fields)
    return PlanForm(
        items=dict(map(read_keyed_item, (text for name, text in fields if name == "item"))),
        chosen={name: text for name, text in texts.items() if name.partition(" ")[0] in _CHOICES},
        division=texts.get("division", Division.EQUALLY.value),
        epsilon=texts.get("epsilon", ""),
        people=texts.get("people", ""),
        confidence=texts.get("confidence", "0.95"),
        delta=texts.get("delta", ""),
    )


def read_keyed_item(text: str, name: str = "item") -> tuple[str, Item]:
    """An item that a page wrote as JSON, and its key."""
    document = parse_json(text.encode("utf-8", "replace"), _LONGEST) if text else None
    if not isinstance(document, dict):
        raise refuse(422, name, N_("is required"))
    item = base_item(document)
    return key_of(item), item


def base_item(document: Mapping[str, Any]) -> Item:
    """What is asked, whatever is chosen for it; problems are named without the place in a plan."""
    asked = {name: document[name] for name in ASKED if name in document}
    item = parse_item(asked)
    if KINDS[item.kind].own_price:  # it has a button of its own
        raise refuse(422, "epsilon", NOT_HERE, limit=item.kind)
    return item


def _number(text: str) -> str:
    """A number with a decimal point; else what was typed, to be refused by name."""
    return str(number_or_text(text))


def of_hundred(percent: str) -> str:
    """A share that was typed in percent, with the sign or without it; what is no number stays as it was typed."""
    number = number_or_text(percent.strip().removesuffix("%"))
    return percent if isinstance(number, str) else format_decimal(Decimal(str(number)) / _HUNDRED)
