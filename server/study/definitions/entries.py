"""Entries that are shown and never sent, and what every entry has: a name and a condition."""

from dataclasses import dataclass, field
from typing import Any

from server.study.kinds.grids import Number


@dataclass(frozen=True)
class Option:
    """One of the answers that a respondent is offered."""

    name: str
    text: str

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "text": self.text}


@dataclass(frozen=True)
class Condition:
    """Shown if an earlier question was answered so: one of `any_of`, or a number in `span`."""

    question: str
    any_of: tuple[str, ...] = ()
    span: tuple[Number, Number] | None = None

    def as_json(self) -> dict[str, Any]:
        if self.span is None:
            return {"question": self.question, "any_of": list(self.any_of)}
        return {"question": self.question, "from": self.span[0], "to": self.span[1]}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What stands in a survey, in its place."""

    name: str
    kind: str
    text: str
    show_if: Condition | None = None

    def as_json(self) -> dict[str, Any]:
        document = {"name": self.name, "kind": self.kind, "text": self.text, **self._own_json()}
        return document if self.show_if is None else {**document, "show_if": self.show_if.as_json()}

    def _own_json(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True, kw_only=True)
class SurveyText(Entry):
    """A text in the safe Markdown subset, on a screen of its own."""

    kind: str = field(default="text", init=False)


@dataclass(frozen=True, kw_only=True)
class SurveySection(Entry):
    """A heading over the entries that follow, with an optional text."""

    body: str | None = None
    kind: str = field(default="section", init=False)

    def _own_json(self) -> dict[str, Any]:
        return {} if self.body is None else {"body": self.body}


@dataclass(frozen=True, kw_only=True)
class Check(Entry):
    """A question about the procedure, answered for oneself: it is never sent."""

    options: tuple[Option, ...]
    correct: str
    feedback: str
    kind: str = field(default="check", init=False)

    def _own_json(self) -> dict[str, Any]:
        return {
            "options": [option.as_json() for option in self.options],
            "correct": self.correct,
            "feedback": self.feedback,
        }
