"""Reads the sentences of results back into numbers: by the wording of the catalogues, and by nothing that made them.

A claim is what a sentence leaves possible, as somebody who has only the sentence must take it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from babel.numbers import parse_decimal

from server.output.languages import load_catalogue

BEST_GUESS = "Best guess: %(guess)s."
SCALE = "The scale goes from 1 (%(first)s) to %(number)s (%(end)s)."
SHARE = {
    "between": "“%(answer)s” is true of %(low)s to %(high)s of 100.",
    "at_most": "“%(answer)s” is true of at most %(high)s of 100.",
    "at_least": "“%(answer)s” is true of at least %(low)s of 100.",
    "impossible": (
        "Of how many of 100 “%(answer)s” is true, these responses do not tell: no possible number fits them well."
    ),
    "not_told": "These responses do not tell: “%(answer)s” may be true of %(low)s to %(high)s of 100.",
}
MEAN = {
    "between": "On average %(low)s to %(high)s.",
    "at_most": "On average at most %(high)s.",
    "at_least": "On average at least %(low)s.",
    "impossible": "These responses do not tell the average: no possible one fits them well.",
    "not_told": "These responses do not tell the average: it may be %(low)s to %(high)s.",
}
EXTENT = {
    "impossible": "not told, as no possible number fits well",
    "at_most": "at most %(high)s",
    "at_least": "at least %(low)s",
    "between": "%(low)s to %(high)s",
}
DISTANCE = {
    "impossible": "These responses do not tell where the average is higher: no possible difference fits them well.",
    "not_told": (
        "These responses do not tell where the average is higher: in %(first)s it may be up to %(high)s more than in "
        "%(second)s, or up to %(low)s less."
    ),
    "between": "On average %(low)s to %(high)s more in %(higher)s than in %(lower)s.",
    "at_most": "The average is higher in %(higher)s than in %(lower)s, by at most %(high)s.",
}
_LEADS = "“%(answer)s” is the most common of these answers"
LEADER = {
    "between": f"{_LEADS}: it is true of %(low)s to %(high)s of 100.",
    "at_most": f"{_LEADS}: it is true of at most %(high)s of 100.",
    "at_least": f"{_LEADS}: it is true of at least %(low)s of 100.",
    "impossible": (
        f"{_LEADS}. Of how many of 100 it is true, these responses do not tell: no possible number fits them well."
    ),
    "not_told": (
        f"{_LEADS}. These responses do not tell of how many of 100 it is true: it may be %(low)s to %(high)s."
    ),
}
NO_LEADER = "These responses do not tell which answer is the most common."


@dataclass(frozen=True)
class Claim:
    """Which numbers a sentence leaves possible, and its best guess.

    Attributes
    ----------
    kind : str
        Which of the sentences it is.
    low, high : float
        Infinite where it names no limit.
    guess : float or None
    parts : mapping
        Everything that is filled in, as text.
    """

    kind: str
    low: float
    high: float
    guess: float | None
    parts: Mapping[str, str]

    def leaves_out(
        self, interval: tuple[float, float], ends: tuple[float, float], near: float = 1e-9
    ) -> bool:
        """Whether the interval holds a number, from one end to the other, that the sentence does not.

        `near`: numbers that are no further apart are the same.
        """
        if self.kind == "impossible":
            return ends[0] + near < interval[1] and interval[0] < ends[1] - near
        low, high = (min(max(end, ends[0]), ends[1]) for end in interval)
        return not (self.low <= low + near and high - near <= self.high)


class SentenceReader:
    """Reads a language; behind a number may stand a unit."""

    def __init__(self, language: str, unit: str = "") -> None:
        self.language = language
        self.unit = unit
        self._patterns: dict[tuple[str, ...], re.Pattern[str]] = {}

    def fill(self, text: str, *messages: str) -> Mapping[str, str] | None:
        """What is filled in where these messages, one behind the other, are the text; None where it is another."""
        if messages not in self._patterns:
            self._patterns[messages] = self._compile(messages)
        found = self._patterns[messages].fullmatch(_plain(text))
        return None if found is None else found.groupdict()

    def number(self, text: str) -> float:
        """A number as this language writes it, with its unit or without."""
        plain = text.removesuffix(self.unit).strip().replace("\N{MINUS SIGN}", "-")
        return float(parse_decimal(plain, locale=self.language))

    def read(self, text: str, messages: Mapping[str, str]) -> Claim:
        """What one of some sentences claims; behind it perhaps a best guess, and what a scale's numbers stand for."""
        # The longest first: a sentence that ends earlier would take what follows for a number.
        for behind in ((BEST_GUESS, SCALE), (SCALE,), (BEST_GUESS,), ()):
            for kind, message in messages.items():
                parts = self.fill(text, message, *behind)
                if parts is not None:
                    low, high, guess = (
                        self.number(parts[name]) if name in parts else None
                        for name in ("low", "high", "guess")
                    )
                    low, high = (-inf if low is None else low), (inf if high is None else high)
                    return Claim(kind, low, high, guess, parts)
        raise AssertionError(f"none of the sentences: {text!r}")

    def _compile(self, messages: tuple[str, ...]) -> re.Pattern[str]:
        translate, named = load_catalogue(self.language).gettext, set[str]()

        def name(found: re.Match[str]) -> str:
            """A group; what has one of this name already must be the same there."""
            if found[1] in named:
                return f"(?P={found[1]})"
            named.add(found[1])
            return f"(?P<{found[1]}>.+?)"

        said = re.escape(_plain(" ".join(map(translate, messages))))
        return re.compile(re.sub(r"%\\\((\w+)\\\)s", name, said))


def _plain(text: str) -> str:
    return " ".join(text.split())
