"""A question of any kind: its answers, its designs, and the truths an answer stands for."""

import bisect
import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from server.privacy.designs import Design, one_hot_epsilon
from server.study.definitions.designing import Choice, make_designs
from server.study.definitions.entries import PREFER_NOT_TO_SAY, Entry, Option
from server.study.definitions.grids import Grid, Number, Point

Answer = str | Number | Collection[str]
"""An answer's name; the number; the names of the boxes that are ticked."""

Truth = int | Point
"""A row of a design, or a point between its first two."""

TAKEN = frozenset({"day", "stratum", "stratum_path", "version"})
"""Columns of exports of responses that are no question's."""

KINDS = ("yes_no", "select_one", "select_multiple", "scale", "number", "binned_number")


def same_wording(text: str) -> str:
    """What the same question has in common, however it is spaced and capitalised."""
    return " ".join(text.split()).casefold()


@dataclass(frozen=True, kw_only=True)
class Question(Entry):
    """A question, which every respondent reports.

    `share` is the privacy loss that the survey's budget allots where the choice states none.
    `otherwise` is the truth of people to whom `show_if` does not show it. `written` are the
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
    written: tuple[Design, ...] = ()

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of the designs' rows, or of the boxes, in the order of the reports' codes.

        A number's are "low" and "high", between which it lies; a bin's say what it holds.
        """
        names: tuple[str, ...]
        if self.kind == "yes_no":
            names = ("no", "yes")
        elif self.kind == "number":
            names = ("low", "high")
        elif self.grid is not None:
            names = tuple(f"{low}" if low == high else f"{low} to {high}" for low, high in self.grid.bins)
        else:
            names = tuple(option.name for option in self.options)
        return (*names, PREFER_NOT_TO_SAY) if self.prefer_not_to_say else names

    @property
    def encoding(self) -> Literal["whole", "one_hot", "boxes", "line"]:
        """How an answer becomes truths.

        whole: one design whose rows are the answers; one_hot: a design for each answer, exactly
        one of them ticked; boxes: the same, any number ticked; line: a point between two rows.
        """
        if self.kind == "number":
            return "line"
        if self.kind == "select_multiple":
            return "boxes"
        return "whole" if len(self.designs) == 1 else "one_hot"

    @cached_property
    def designs(self) -> tuple[Design, ...]:
        """One design for each byte that the question adds to a response."""
        if self.written:
            return self.written
        return make_designs(self.choice, len(self.answers), self.kind, self.share)

    @cached_property
    def epsilon(self) -> float:
        """Privacy loss of the whole answer, in nats.

        Boxes add up. Where exactly one is ticked, another answer changes two of them, and
        the loss is theirs together (`one_hot_epsilon`).
        """
        if self.encoding == "one_hot":
            return one_hot_epsilon(self.designs[0])
        return math.fsum(design.epsilon for design in self.designs)

    @property
    def ends(self) -> tuple[Number, Number] | None:
        """The numbers that the first and the last numeric truth stand for; None where answers are no numbers.

        The levels of a scale count as 1, 2, 3, ...
        """
        if self.kind == "number" and self.grid is not None:
            return self.grid.low, self.grid.high
        return (1, len(self.options)) if self.kind == "scale" else None

    @property
    def columns(self) -> tuple[str, ...]:
        """A name for each byte in exports. Names hold no dot, so that these are unique in a survey."""
        if self.encoding in ("whole", "line"):
            return (f"{self.name}.report" if self.name in TAKEN else self.name,)
        return tuple(f"{self.name}.{answer.replace(' ', '_')}" for answer in self.answers)

    def truths(self, answer: Answer) -> tuple[Truth, ...]:
        """What an answer enters into each design.

        Raises
        ------
        ValueError
            If it is no answer to this question.
        """
        if self.kind == "select_multiple":
            if isinstance(answer, str | int | float) or not set(answer) <= set(self.answers):
                raise ValueError(f"an answer to {self.name} must be a list of its boxes; it is {answer!r}")
            return tuple(int(name in answer) for name in self.answers)
        if self.grid is not None and answer != PREFER_NOT_TO_SAY:
            if not isinstance(answer, int | float) or not self.grid.holds(answer):
                raise ValueError(f"an answer to {self.name} must be on its grid; it is {answer!r}")
            steps = self.grid.steps(answer)
            if self.kind == "number":
                return (Point(steps, self.grid.of),)
            row = bisect.bisect(self.grid.first_steps, steps) - 1
        elif answer in self.answers:
            row = self.answers.index(str(answer))
        else:
            raise ValueError(f"an answer to {self.name} must be one of its own; it is {answer!r}")
        if self.encoding == "one_hot":
            return tuple(int(row == other) for other in range(len(self.answers)))
        return (row,)

    def _own_json(self) -> dict[str, Any]:
        document: dict[str, Any] = {}
        if self.options:
            document["options"] = [option.as_json() for option in self.options]
        if self.grid is not None:
            document |= self.grid.as_json()
            if self.kind == "binned_number":
                document["cuts"] = list(self.grid.cuts)
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
