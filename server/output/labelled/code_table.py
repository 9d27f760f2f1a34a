"""A table whose cells are codes, and what its variables and their codes are called."""

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

MISSING = -1
"""In a row, in place of a code that is not there."""
_DOTS = "…"
_JOINER = "\N{ZERO WIDTH JOINER}"


@dataclass(frozen=True)
class CodeVariable:
    """A variable: its name (of `name_variables`), its label, what its codes from 0 on stand for, and a missing one.

    `most` is the largest code. Where no cell is missing, `missing` is empty. Codes of something that is in
    an order are `ordered`.
    """

    name: str
    label: str
    codes: Mapping[int, str]
    most: int
    missing: str = ""
    ordered: bool = False


@dataclass(frozen=True, eq=False)
class CodeTable:
    """A table of `n` rows, which `parts` gives in their order, anew each time: codes, rows x variables."""

    label: str
    day: date
    notes: Sequence[str]
    variables: Sequence[CodeVariable]
    n: int
    parts: Callable[[], Iterator[NDArray[np.int32]]]


def shorten_label(text: str, most: int, measure: Callable[[str], int]) -> str:
    """A label in one line that measures at most `most`; one that is longer ends in three dots.

    What is written onto a letter stays with it, or goes with it.
    """
    line = " ".join(text.split())
    if measure(line) <= most:
        return line
    room = most - measure(_DOTS)
    kept = line
    while measure(kept) > room:
        kept = kept[:-1]
    while kept and (
        unicodedata.category(line[len(kept)])[0] == "M" or _JOINER in (kept[-1], line[len(kept)])
    ):
        kept = kept[:-1]
    return kept.rstrip() + _DOTS


def shorten_labels(codes: Mapping[int, str], most: int, measure: Callable[[str], int]) -> dict[int, str]:
    """The labels of a variable's codes; those that shortening would make alike end in their code instead."""
    whole = {code: " ".join(text.split()) for code, text in codes.items()}
    short = {code: shorten_label(text, most, measure) for code, text in whole.items()}
    texts = list(short.values())
    for code, text in short.items():
        if text != whole[code] and texts.count(text) > 1:
            end = f" ({code})"
            short[code] = shorten_label(whole[code], most - len(end), measure) + end
    return short


def count_bytes(text: str) -> int:
    """How many bytes a text is in UTF-8."""
    return len(text.encode())
