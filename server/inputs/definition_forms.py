"""A definition document as the fields of a form, and back: the editor's pages hold the whole document.

A field is named by its path, `questions[3].options[1].text`. The schema says what each is;
a number that is none stays as it was typed, so that it can be shown again with its error.
Browsers send line ends as CR LF; documents hold LF.
"""

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cache
from typing import Any

from server.inputs.decoding import check_text
from server.inputs.problems import N_, refuse, shorten_value
from server.inputs.schema import schema

_STEP = re.compile(r"([a-z_]{1,40})(?:\[(\d{1,4})\])?")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
MARGIN = "plan.margin"
"""The field whose number may be typed in points or in percent."""
_DECIMAL_COMMA = re.compile(r"([+-]?(?:0|\d+(?=,(?!\d{3}$)))),(\d+)", re.ASCII)


def form_fields(document: Mapping[str, Any]) -> dict[str, str | list[str]]:
    """The fields of a document but for its format and translations: the text of each, or those of a list of names."""
    fields: dict[str, str | list[str]] = {}
    _flatten(
        {name: value for name, value in document.items() if name not in ("format", "translations")},
        "",
        fields,
    )
    return fields


def parse_form(fields: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Fields and their texts -> a document without its format, still to be checked by `parse_definition`.

    What is left empty and may be absent is absent. A name may stand several times: in a list of names.

    Raises
    ------
    InputError
        If a field is none of a definition, or holds what no text may.
    """
    tree: dict[str, Any] = {}
    for name, text in fields:
        check_text(text, shorten_value(name))
        if name == MARGIN:
            text = margin_text(text)
        _plant(tree, name, text.replace("\r\n", "\n").replace("\r", "\n"))
    read: dict[str, Any] = _read(tree, schema(), "")
    return read


def number_or_text(text: str) -> int | float | str:
    """What was typed into a field for a number. A comma is a decimal one where it can be nothing else."""
    plain = _point_decimal(text)
    if _NUMBER.fullmatch(plain) is None or len(plain) > 300:
        return text.strip()
    if re.fullmatch(r"[+-]?\d+", plain):
        return int(plain)
    number = float(plain)
    return number if abs(number) < float("inf") else text.strip()


def _point_decimal(text: str) -> str:
    comma = _DECIMAL_COMMA.fullmatch(text.strip())
    return f"{comma[1]}.{comma[2]}" if comma else text.strip()


def margin_text(text: str) -> str:
    """A margin as a fraction, from one as people type it: "5 %", "5" and "0.05" are all 5 points."""
    percent = text.strip().removesuffix("%")
    number = number_or_text(percent)
    # What no margin can be stays as it was typed, for the refusal that names it.
    if isinstance(number, str) or number > 50 or (percent == text.strip() and number < 1):
        return text
    # Of what was typed, as a float of it would already be rounded once.
    return repr(float(Decimal(_point_decimal(percent)) / 100))


def points_text(text: str) -> str:
    """A margin as its field shows it, "5%" for "0.05"; `margin_text` reads the same number from it."""
    number = number_or_text(text)
    if isinstance(number, str) or not 0 < number <= 0.5:
        return text
    return f"{(Decimal(repr(number)) * 100).normalize():f}%"


def _flatten(value: Any, path: str, fields: dict[str, str | list[str]]) -> None:
    if isinstance(value, dict):
        for name, item in value.items():
            _flatten(item, f"{path}.{name}" if path else name, fields)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for index, item in enumerate(value):
            _flatten(item, f"{path}[{index}]", fields)
    elif isinstance(value, list):
        texts = [_text(item) for item in value]
        fields[path] = ", ".join(texts) if path.endswith(".cuts") else texts
    else:
        fields[path] = _text(value)


def _text(value: Any) -> str:
    if value is True:
        return "true"
    return value if isinstance(value, str) else repr(value)


def _plant(tree: dict[str, Any], name: str, text: str) -> None:
    """Hang a text into the tree: objects by name, lists by number, at the end the texts of one field."""
    node: Any = tree
    *steps, last = name.split(".")
    for step in steps:
        found = _STEP.fullmatch(step)
        for key in (found[1], found[2]) if found else (None,):
            if key is not None and isinstance(node, dict):
                node = node.setdefault(int(key) if key.isdigit() else key, {})
    texts = node.setdefault(last, []) if isinstance(node, dict) else None
    if (
        not isinstance(texts, list)
        or not all(_STEP.fullmatch(step) for step in (*steps, last))
        or "[" in last
    ):
        raise _unknown(name)
    texts.append(text)


def _read(node: Any, rules: Mapping[str, Any], path: str) -> Any:
    """A node of the tree as the schema reads it; None where it is left out."""
    rules = _resolve_rules(rules)
    kind = rules.get("type")
    if kind == "array" and "properties" in _resolve_rules(rules["items"]):
        if not isinstance(node, dict) or not all(isinstance(key, int) for key in node):
            raise _unknown(path)
        if len(node) > 2 * rules["maxItems"]:  # nobody typed these; a few too many are shown again instead
            template = N_("must have at most %(limit)s entries; it has %(length)d")
            raise refuse(422, path, template, limit=rules["maxItems"], length=len(node))
        return [_read(node[key], rules["items"], f"{path}[{key}]") for key in sorted(node)]
    if "properties" in rules or path == "" or kind == "object":
        return _read_object(node, rules, path)
    if not isinstance(node, list):
        raise _unknown(path)
    return _read_texts(node, rules)


def _read_object(node: Any, rules: Mapping[str, Any], path: str) -> dict[str, Any]:
    if not isinstance(node, dict) or any(isinstance(key, int) for key in node):
        raise _unknown(path)
    members: Mapping[str, Any] = rules["properties"]
    if path == "":
        members = _mark_optional(rules)
    elif re.fullmatch(r"questions\[\d+\]", path):
        kind = node.get("kind", [""])
        members = _members(kind[-1] if isinstance(kind, list) else "")
    read = {}
    for name, item in node.items():
        where = f"{path}.{name}" if path else name
        if name not in members:
            raise _unknown(where)
        value = _read(item, members[name], where)
        if value is not None and value != {}:
            read[name] = value
    return read


def _read_texts(texts: list[str], rules: Mapping[str, Any]) -> Any:
    stated = rules.get("type")
    if stated == "array":
        if _resolve_rules(rules["items"]).get("type") == "number":
            parts = re.split(r"[;\s]+|,\s*", texts[-1].strip())
            return [number_or_text(part) for part in parts if part] or None
        return [text for text in texts if text]
    text = texts[-1]
    if rules.get("const") is True:
        return True if "true" in texts else None
    if stated in ("number", "integer", ["number", "string"]):
        return number_or_text(text) if text.strip() else None
    return text if text.strip() or not rules.get("optional") else None


@cache
def _members(kind: str) -> Mapping[str, Any]:
    """What an entry may have: everything that any kind has, read as this kind reads it.

    A form whose kind was just changed still holds the fields of the kind before.
    """
    members: dict[str, Any] = {}
    design: dict[str, Any] = {}
    definitions = schema()["$defs"]
    entries = {name: rules for name, rules in definitions.items() if "kind" in rules.get("properties", {})}
    for entry in (*entries.values(), entries.get(kind, {"properties": {}})):
        members.update(_mark_optional(entry))
        for case in entry["properties"].get("design", {}).get("allOf", ()):
            design.update(case["then"]["properties"])
    # `true` in the schema: stated elsewhere.
    members["kind"] = design["mechanism"] = {"type": "string"}
    members["design"] = {"type": "object", "properties": design}
    return members


def _mark_optional(rules: Mapping[str, Any]) -> Mapping[str, Any]:
    """The members of an object; those that may be absent say so."""
    needed = rules.get("required", ())
    return {
        name: member if name in needed else {**_resolve_rules(member), "optional": True}
        for name, member in rules["properties"].items()
    }


def _resolve_rules(rules: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = rules.get("$ref")
    return rules if reference is None else {**schema()["$defs"][reference.rpartition("/")[2]], **rules}


def _unknown(name: str) -> Exception:
    return refuse(422, shorten_value(name), N_("is not a field of a survey"))
