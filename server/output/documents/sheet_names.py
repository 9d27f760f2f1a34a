"""What the sheets of a workbook are called: valid, all different, and of whole words."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

LIMIT: Final = 31
"""Letters that Excel allows."""

_FORBIDDEN = re.compile(r"[\[\]:*?/\\\x00-\x1f\ud800-\udfff\ufffe\uffff]")


def choose_name(caption: str, short: str) -> str:
    """The caption where it fits, else what is shorter; without either, as many whole words as fit."""
    clean, shorter = _clean(caption), _clean(short)
    if len(clean) <= LIMIT or not shorter:
        return _cut(clean, LIMIT) or "-"
    return _cut(shorter, LIMIT)


def number_names(names: Sequence[str], taken: Iterable[str] = ("history",)) -> list[str]:
    """The same, whatever their case each once: with a number where it must be. Excel keeps "History" for itself."""
    found: list[str] = []
    known = set(taken)
    for name in names:
        free, number = name, 2
        while free.lower() in known:
            ending = f" ({number})"
            free, number = _cut(name, LIMIT - len(ending)) + ending, number + 1
        known.add(free.lower())
        found.append(free)
    return found


def _clean(text: str) -> str:
    return " ".join(_FORBIDDEN.sub(" ", text).split()).strip("' ")


def _cut(text: str, most: int) -> str:
    """As many whole words as fit; a word that is longer than that is cut."""
    if len(text) <= most:
        return text
    whole = text[: most + 1].rpartition(" ")[0] or text[:most]
    return whole.rstrip(" '")
