"""A decoded published version -> the definition that it froze."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from server.inputs.problems import N_, refuse
from server.privacy.designs import Design
from server.study.definitions import Definition, Question
from server.study.definitions.definition import LINK_NAME_LENGTH, NamedKeys
from server.study.definitions.definition_reader import read_definition

_DIGITS = re.compile(r"[0-9a-f]+")
_FINGERPRINT_LENGTH = 64


def parse_published(document: Mapping[str, Any]) -> Definition:
    """The definition in a decoded published version, with the very designs that it wrote out."""
    plain: list[dict[str, Any]] = []
    written: dict[str, tuple[Design, ...]] = {}
    for entry in document["questions"]:
        if "designs" in entry:
            written[entry["name"]] = tuple(Design(design["weights"]) for design in entry["designs"])
        plain.append({name: value for name, value in entry.items() if name not in ("designs", "epsilon")})
    added = ("epsilon", "ticket_keys", "completion_key")
    kept = {name: value for name, value in document.items() if name not in added}
    definition = read_definition({**kept, "questions": plain})
    return replace(
        definition,
        ticket_keys=_read_ticket_keys(document.get("ticket_keys", [])),
        completion_key=_read_completion_key(document),
        entries=tuple(
            replace(entry, stored_designs=written[entry.name]) if isinstance(entry, Question) else entry
            for entry in definition.entries
        ),
    )


def _read_ticket_keys(value: object) -> NamedKeys:
    """By links; of a version from before links were named, a list."""
    if isinstance(value, dict):
        return tuple(
            (
                _read_digits(link, LINK_NAME_LENGTH, "ticket_keys"),
                _read_digits(key, _FINGERPRINT_LENGTH, f"ticket_keys.{link}"),
            )
            for link, key in sorted(value.items())
        )
    keys = value if isinstance(value, list) else [value]
    return tuple(
        ("", _read_digits(key, _FINGERPRINT_LENGTH, f"ticket_keys[{place}]"))
        for place, key in enumerate(keys)
    )


def _read_completion_key(document: Mapping[str, Any]) -> str:
    if "completion_key" not in document:
        return ""
    return _read_digits(document["completion_key"], _FINGERPRINT_LENGTH, "completion_key")


def _read_digits(text: object, length: int, field: str) -> str:
    if not (isinstance(text, str) and len(text) == length and _DIGITS.fullmatch(text)):
        raise refuse(422, field, N_("must be %(limit)d hexadecimal digits in lower case"), limit=length)
    return text
