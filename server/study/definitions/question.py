"""A question of any kind: its answers, its designs, and the truths an answer stands for."""

import math
import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from server.privacy.designs import Design, one_hot_epsilon
from server.study.definitions.entries import Entry, Option
from server.study.kinds import KINDS, PREFER_NOT_TO_SAY, Answer, Encoding, Kind, Truth
from server.study.kinds.designing import Choice
from server.study.kinds.grids import Grid, Number

TAKEN = frozenset({"day", "stratum", "stratum_path", "version"})
"""Columns of exports of responses that are no question's."""

# Of Latin, Greek and Cyrillic letters; other scripts write vowels in this way.
_ACCENTS = re.compile("[\u0300-\u036f]")


def same_wording(text: str) -> str:
    """What the same question has in common, however it is spaced, capitalised, punctuated and accented."""
    letters = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    words = "".join(" " if unicodedata.category(letter)[0] == "P" else letter for letter in letters).split()
    return " ".join(words or text.split())


@dataclass(frozen=True, kw_only=True)
class Question(Entry):
    """A question, which every respondent reports.

    `share` is the privacy loss that the survey's budget allots where the choice states none.
    `otherwise` is the truth of people to whom `show_if` does not show it. `stored_designs` are the
    designs of a published version, which stay what they are in whatever release reads them.
    """

    choice: Choice
    options: tuple[Option, ...] = ()
    grid: Grid | None = None
    unit: str | None = None
    prefer_not_to_say: bool = False
    control: bool = False
    otherwise: Answer | None = None
    share: float | None = None
    stored_designs: tuple[Design, ...] = ()

    @property
    def traits(self) -> Kind:
        """What its kind says of it."""
        return KINDS[self.kind]

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of the designs' rows, or of the boxes, in the order of the reports' codes.

        A number's are "low" and "high", between which it lies; a bin's say what it holds.
        """
        names = self.traits.name_answers(self)
        return (*names, PREFER_NOT_TO_SAY) if self.prefer_not_to_say else names

    @property
    def first_answer(self) -> int:
        """How many of `answers` are no answers of anybody: the two ends of a number."""
        return 2 if self.encoding.between_ends else 0

    @property
    def encoding(self) -> Encoding:
        """How an answer becomes truths."""
        if self.traits.encoding is not None:
            return self.traits.encoding
        return Encoding.WHOLE if len(self.designs) == 1 else Encoding.ONE_HOT

    @cached_property
    def designs(self) -> tuple[Design, ...]:
        """One design for each byte that the question adds to a response."""
        if self.stored_designs:
            return self.stored_designs
        return self.traits.make_designs(self.choice, len(self.answers), self.share)

    @cached_property
    def epsilon(self) -> float:
        """Privacy loss of the whole answer, in nats.

        Boxes add up. Where exactly one is ticked, another answer changes two of them, and
        the loss is theirs together (`one_hot_epsilon`).
        """
        if self.encoding is Encoding.ONE_HOT:
            return one_hot_epsilon(self.designs[0])
        return math.fsum(design.epsilon for design in self.designs)

    @property
    def ends(self) -> tuple[Number, Number] | None:
        """The numbers that the first and the last numeric truth stand for; None where answers are no numbers.

        The levels of a scale count as 1, 2, 3, ...
        """
        return self.traits.give_ends(self)

    @property
    def spans(self) -> tuple[tuple[Number, Number], ...]:
        """The lowest and the highest number of each answer that is a number or a range; empty without any."""
        return self.traits.give_spans(self)

    @property
    def columns(self) -> tuple[str, ...]:
        """A name for each byte in exports. Names hold no dot, so that these are unique in a survey."""
        if not self.encoding.by_answer:
            return (f"{self.name}.report" if self.name in TAKEN else self.name,)
        return tuple(f"{self.name}.{answer.replace(' ', '_')}" for answer in self.answers)

    def truths(self, answer: Answer) -> tuple[Truth, ...]:
        """What an answer enters into each design.

        Raises
        ------
        ValueError
            If it is no answer to this question.
        """
        return self.traits.give_truths(self, answer)

    def _own_json(self) -> dict[str, Any]:
        document: dict[str, Any] = {}
        if self.options:
            document["options"] = [option.as_json() for option in self.options]
        if self.grid is not None:
            document |= self.grid.as_json()
        if self.unit is not None:
            document["unit"] = self.unit
        if self.control:
            document["control"] = True
        if self.prefer_not_to_say:
            document["prefer_not_to_say"] = True
        document["design"] = self.choice.as_json()
        if self.otherwise is not None:
            boxes = not isinstance(self.otherwise, str | int | float)
            document["otherwise"] = list(self.otherwise) if boxes else self.otherwise  # type: ignore[arg-type]
        return document
