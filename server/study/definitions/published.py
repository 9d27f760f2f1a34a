"""A decoded published version -> the definition that it froze."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from server.privacy.designs import Design
from server.study.definitions import Definition, Question
from server.study.definitions.definition_reader import read_definition


def parse_published(document: Mapping[str, Any]) -> Definition:
    """The definition in a decoded published version, with the very designs that it wrote out."""
    plain: list[dict[str, Any]] = []
    written: dict[str, tuple[Design, ...]] = {}
    for entry in document["questions"]:
        if "designs" in entry:
            written[entry["name"]] = tuple(Design(design["weights"]) for design in entry["designs"])
        plain.append({name: value for name, value in entry.items() if name not in ("designs", "epsilon")})
    kept = {name: value for name, value in document.items() if name != "epsilon"}
    definition = read_definition({**kept, "questions": plain})
    return replace(
        definition,
        entries=tuple(
            replace(entry, written=written[entry.name]) if isinstance(entry, Question) else entry
            for entry in definition.entries
        ),
    )
