"""A page that was served, held against the shells that it may be: its data by slot, or where the nearest differs."""

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from typing import Any

_TEXT = r"""(?:[^<>&"'\n]|&(?:amp|lt|gt|#34|#39);)+"""
_NUMBER = r"\d{1,3}(?:[.,٬\u202f]?\d{3})*"
_DAYS = "[1-9][0-9]{0,4}|[١-٩][٠-٩]{0,4}"
_SLOTS = {
    "version": "[0-9a-f]{64}",
    "family": "[0-9a-f]{32}",
    "round": "[0-9a-f]{32}",
    "spends": "[0-9]{1,16}",
    "group": _TEXT,
    "population": _NUMBER,
    "opens": _TEXT,
    "zone": _TEXT,
    "rows": _DAYS,
    "counts": _DAYS,
    "rest": _DAYS,
}
"""What may stand in each slot."""
_MARK = re.compile("zq([a-z]+)qz")


@dataclass(frozen=True)
class Shell:
    """A page with marks where data go, what it says of the survey, and of which variant it is."""

    state: str
    text: str
    variant: tuple[Any, ...] = ()


@dataclass(frozen=True)
class PageMatch:
    """The shell that a page is, and its data by slot, with its state."""

    shell: Shell
    data: dict[str, str]


@dataclass(frozen=True)
class PageDifference:
    """The first line of a page that the nearest shell does not have."""

    line: int
    served: str
    expected: str

    @property
    def same(self) -> int:
        """How many letters of the line do not differ yet."""
        pairs = enumerate(zip_longest(self.served, self.expected))
        return next((place for place, (ours, theirs) in pairs if ours != theirs), 0)

    def describe(self) -> str:
        """Where it is, and both from a little before the first letter that differs."""
        begin = max(0, self.same - 20)
        served, expected = (text[begin : begin + 100] for text in (self.served, self.expected))
        return f"line {self.line} has {served!r} instead of {expected!r}"


def match_page(served: str, shells: Iterable[Shell]) -> PageMatch | PageDifference:
    """Which of the shells a page is; where it is none, how the nearest differs."""
    nearest = PageDifference(0, "", "")
    for shell in shells:
        found = _match_lines(served.split("\n"), shell.text.split("\n"))
        if isinstance(found, dict):
            return PageMatch(shell, {"state": shell.state, **found})
        if (found.line, found.same) > (nearest.line, nearest.same):
            nearest = found
    return nearest


def _match_lines(served: list[str], shell: list[str]) -> dict[str, str] | PageDifference:
    data: dict[str, str] = {}
    for number, (line, expected) in enumerate(zip_longest(served, shell, fillvalue=""), start=1):
        if line == expected and number <= min(len(served), len(shell)):
            continue
        names = _MARK.findall(expected)
        matched = _compile_line(expected).fullmatch(line) if names else None
        if matched is None:
            return PageDifference(number, line, expected)
        for name, value in zip(names, matched.groups(), strict=True):
            if data.setdefault(name, value) != value:
                return PageDifference(number, line, expected)
    return {name: html.unescape(value) for name, value in data.items()}


@lru_cache(maxsize=4096)
def _compile_line(expected: str) -> re.Pattern[str]:
    pieces = _MARK.split(expected)
    texts, names = pieces[::2], pieces[1::2]
    slots = [f"({_SLOTS[name]})" for name in names]
    return re.compile(
        "".join(text + slot for text, slot in zip(map(re.escape, texts), [*slots, ""], strict=True))
    )
