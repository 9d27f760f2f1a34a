"""What is worth a second look in a draft, although it may stand: wording asked twice, text in square brackets."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from server.study.definitions import same_wording
from server.study.editing.shapes import NOT_SENT

# A link of Markdown is no gap that somebody forgot to fill.
_BRACKETS = re.compile(r"\[[^\[\]\n]*\w[^\[\]\n]*\](?!\()")
_TEXTS = ("text", "body", "feedback", "unit")


def find_repeated(document: Mapping[str, Any]) -> list[tuple[int, ...]]:
    """Questions in the same words, by their places from 1: each such wording once."""
    places: dict[str, list[int]] = {}
    for place, entry in enumerate(document["questions"], start=1):
        text = entry.get("text")
        if entry.get("kind") not in NOT_SENT and isinstance(text, str) and text.strip():
            places.setdefault(same_wording(text), []).append(place)
    return [tuple(same) for same in places.values() if len(same) > 1]


def find_brackets(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Texts in square brackets, as templates leave them to be filled in: the path of the field and the text."""
    return [
        (path, found)
        for path, text in _find_texts(document)
        if isinstance(text, str)
        for found in _BRACKETS.findall(text)
    ]


def _find_texts(document: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    yield from ((name, document.get(name)) for name in ("title", "introduction"))
    for place, entry in enumerate(document["questions"]):
        path = f"questions[{place}]"
        yield from ((f"{path}.{name}", entry.get(name)) for name in _TEXTS)
        yield f"{path}.design.innocuous", entry.get("design", {}).get("innocuous")
        for number, option in enumerate(entry.get("options", ())):
            yield f"{path}.options[{number}].text", option.get("text")
