"""What is worth a second look in a draft, although it may stand: wording asked twice, text in square brackets."""

import itertools
import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from server.study.definitions import same_wording
from server.study.editing.entry_shapes import NOT_SENT

# A link of Markdown is no gap that somebody forgot to fill.
_BRACKETS = re.compile(r"\[[^\[\]\n]*\w[^\[\]\n]*\](?!\()")
_ARTICLES = frozenset("a an the el la lo los las un una unos unas".split())
_ALIKE = 0.8
"""The least share of two texts that they have in common, in order, where they are worded almost alike.

"Have you ever copied" and "Have you copied" have 0.87. It holds for every word that stands in another's place as well:
"cannabis" and "cocaine" have 0.4, so that a battery of items in one frame, however long that is, is not taken for one
question asked many times."""
_TEXTS = ("text", "body", "feedback", "unit")


def find_repeated(document: Mapping[str, Any]) -> list[tuple[int, ...]]:
    """Questions in the same words, by their places from 1: each such wording once."""
    places: dict[str, list[int]] = {}
    for place, entry in enumerate(document["questions"], start=1):
        text = entry.get("text")
        if entry.get("kind") not in NOT_SENT and isinstance(text, str) and text.strip():
            places.setdefault(same_wording(text), []).append(place)
    return [tuple(same) for same in places.values() if len(same) > 1]


def find_alike(document: Mapping[str, Any]) -> list[tuple[int, ...]]:
    """Questions worded almost alike, by their places from 1: each group once, but for those in the same words."""
    texts: dict[str, list[int]] = {}
    for place, entry in enumerate(document["questions"], start=1):
        text = entry.get("text")
        if entry.get("kind") not in NOT_SENT and isinstance(text, str) and text.strip():
            words = [word for word in same_wording(text).split() if word not in _ARTICLES]
            texts.setdefault(" ".join(words), []).append(place)
    groups = [{text} for text in texts]
    for written, other in itertools.combinations(texts, 2):
        if _are_alike(written, other):
            joined = [group for group in groups if group & {written, other}]
            groups = [group for group in groups if group not in joined] + [set().union(*joined)]
    same = find_repeated(document)
    found = sorted(tuple(sorted(place for text in group for place in texts[text])) for group in groups)
    return [places for places in found if len(places) > 1 and places not in same]


# A draft is looked at after every change, of which most texts know nothing.
@lru_cache(maxsize=10_000)
def _are_alike(text: str, other: str) -> bool:
    first, second = text.split(), other.split()
    common = 0.0
    for tag, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        left, right = "".join(first[a:b]), "".join(second[c:d])
        share = 1.0 if tag == "equal" else SequenceMatcher(None, left, right, autojunk=False).ratio()
        if tag == "replace" and share < _ALIKE:
            return False
        common += share * (len(left) + len(right))
    return common >= _ALIKE * sum(map(len, first + second))


def find_brackets(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Texts in square brackets, as templates leave them to be filled in: the path of the field and the text."""
    return [
        (path, found)
        for path, text in _find_texts(document)
        if isinstance(text, str)
        for found in _BRACKETS.findall(text)
    ]


def _find_texts(document: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    yield from ((name, document.get(name)) for name in ("title", "introduction", "consent"))
    for place, entry in enumerate(document["questions"]):
        path = f"questions[{place}]"
        yield from ((f"{path}.{name}", entry.get(name)) for name in _TEXTS)
        yield f"{path}.design.innocuous", entry.get("design", {}).get("innocuous")
        for number, option in enumerate(entry.get("options", ())):
            yield f"{path}.options[{number}].text", option.get("text")
