"""What an entry of each kind holds, and how an entry becomes one of another kind."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from server.inputs.schema import schema
from server.study.kinds import KINDS as QUESTIONS

NOT_SENT = ("text", "section", "check")
KINDS = (*QUESTIONS, *NOT_SENT)

# Each protects as gamma = 1/4 does: 75 of 100 and 25 of 100 are recorded as Yes.
_DEVICES: Mapping[str, Mapping[str, Any]] = {
    "warner": {"truth": 0.75},
    "forced_response": {"truth": 0.5, "yes": 0.25},
    "unrelated_question": {"truth": 0.5, "prevalence": 0.5, "innocuous": ""},
    "kuk": {"if_yes": 0.75, "if_no": 0.25},
    "crosswise": {"prevalence": 0.25, "innocuous": ""},
}

_STARTS: Mapping[str, Any] = {"low": 0, "high": 100, "step": 1, "cuts": [25, 50, 75], "feedback": ""}
"""What a new kind begins with where the old one had nothing to keep."""

Entry = dict[str, Any]


def mechanisms(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """The designs that an entry may have, the usual one first."""
    kind = QUESTIONS.get(entry.get("kind", ""))
    if kind is None:
        return ()
    if entry.get("prefer_not_to_say"):
        return kind.with_refusal or _known_mechanisms(kind.name)
    return tuple(name for name in _known_mechanisms(kind.name) if name not in kind.refusal_only)


def strength_name(entry: Mapping[str, Any]) -> str | None:
    """What the strength of an entry's design is called: gamma or epsilon; None if a device fixes it."""
    mechanism = entry.get("design", {}).get("mechanism")
    if mechanism is None or mechanism in _DEVICES:
        return None
    kind = QUESTIONS.get(entry.get("kind", ""))
    return "gamma" if kind is not None and mechanism in kind.by_gamma else "epsilon"


def reshape_entry(entry: Mapping[str, Any], before: Mapping[str, Any]) -> Entry:
    """An entry that was of another kind or design before: what still fits is kept, the rest begins anew."""
    entry = dict(entry)
    other = entry["kind"] != before.get("kind")
    if other:
        entry = _of_its_kind(entry)
    if entry["kind"] in NOT_SENT:
        return entry
    design = dict(entry.get("design", {}))
    usual = mechanisms(entry)
    mechanism = design["mechanism"] if design.get("mechanism") in usual else usual[0]
    if other or mechanism != before.get("design", {}).get("mechanism"):
        fixed = _DEVICES.get(mechanism, {})
        design = {"mechanism": mechanism} | {name: design.get(name, start) for name, start in fixed.items()}
    return {**entry, "design": design}


def _of_its_kind(entry: Entry) -> Entry:
    rules = schema()["$defs"][entry["kind"]]
    kept = {name: value for name, value in entry.items() if name in rules["properties"]}
    for name in rules["required"]:
        if name in _STARTS:
            kept.setdefault(name, _STARTS[name])
    if "options" in rules["properties"]:
        options = kept.get("options") or []
        kept["options"] = options + [{"name": "", "text": ""} for _ in range(2 - len(options))]
    if entry["kind"] == "section":
        kept["text"] = " ".join(str(kept.get("text", "")).split())
    if "show_if" in kept:
        kept.pop("otherwise", None)
    return kept


@cache
def _known_mechanisms(kind: str) -> tuple[str, ...]:
    return tuple(schema()["$defs"][kind]["properties"]["design"]["properties"]["mechanism"]["enum"])


def parameters(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """The chances and wordings that an entry's design states, the wording first."""
    design = entry.get("design", {})
    stated = {*_DEVICES.get(design.get("mechanism", ""), ())}
    return tuple(name for name in _PARAMETERS if name in stated)


_PARAMETERS = ("innocuous", "truth", "yes", "prevalence", "if_yes", "if_no")
