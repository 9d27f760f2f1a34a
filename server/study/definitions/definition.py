"""The definition of a survey, its published form and its hash."""

import hashlib
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import rfc8785

from server.privacy.designs import Design, round_up
from server.privacy.planning import Guesses, count_guesses, list_room
from server.study.definitions.budget_division import Strength
from server.study.definitions.entries import Entry
from server.study.definitions.own_texts import Translations, keep_used
from server.study.definitions.question import Question
from server.study.kinds.grids import Number

FORMAT = 2
"""Of what is written anew. What was written in format 1, before there was a `Strength`, stays so."""

LINK_NAME_LENGTH = 16
"""Hexadecimal digits of what a published definition calls a link."""
NamedKeys = tuple[tuple[str, str], ...]
"""What links are called in a definition, each with the SHA-256 of its key's modulus. In versions from before they were
called something, all are empty: whose keys are whose is not said."""


@dataclass(frozen=True)
class StudyPlan:
    """What the researcher plans: so many respondents, and intervals of ± `margin`, a fraction."""

    respondents: int
    margin: float

    def as_json(self) -> dict[str, Any]:
        return {"respondents": self.respondents, "margin": self.margin}


@dataclass(frozen=True)
class Definition:
    """A survey as its researcher designs it; `as_json` is what import and export exchange."""

    language: str
    title: str
    introduction: str
    entries: tuple[Entry, ...]
    consent: str = ""
    least_age: int | None = None
    format: int = FORMAT
    budget: Number | None = None
    strength: Strength | None = None
    plan: StudyPlan | None = None
    family: str = ""
    """A random id that duplicates keep: who answered one is told at the others. Empty before there is one."""
    translations: Translations = field(default_factory=dict, hash=False)
    ticket_keys: NamedKeys = ()
    """Of a published survey whose codes buy tickets: one for each link, in their order."""
    completion_key: str = ""
    """Of a published survey with completion codes: the SHA-256 of the modulus of the key that signs them."""

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """The entries that every respondent reports, in order."""
        return tuple(entry for entry in self.entries if isinstance(entry, Question))

    @property
    def designs(self) -> tuple[Design, ...]:
        """The designs of a response's bytes, in order."""
        return tuple(design for question in self.questions for design in question.designs)

    @property
    def epsilon(self) -> float:
        """What one respondent spends: the sum over all questions, rounded up to four decimals."""
        return round_up(self.loss)

    @property
    def loss(self) -> float:
        """The same, not rounded; in nats."""
        return math.fsum(question.epsilon for question in self.questions)

    @cached_property
    def guesses(self) -> Guesses:
        """How often somebody who sees a whole response guesses right, at most."""
        return count_guesses([question.epsilon for question in self.questions])

    @cached_property
    def rooms(self) -> tuple[int, ...]:
        """What a device may have spent in other rounds while 99, 98, ... of 100 guesses are right at most."""
        return list_room(self.loss)

    def as_json(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "format": self.format,
            "language": self.language,
            "title": self.title,
            "introduction": self.introduction,
        }
        if self.consent:
            document["consent"] = self.consent
        if self.least_age is not None:
            document["least_age"] = self.least_age
        if self.family:
            document["family"] = self.family
        if self.budget is not None:
            document["budget"] = self.budget
        if self.strength is not None:
            document["strength"] = self.strength.as_json()
        if self.plan is not None:
            document["plan"] = self.plan.as_json()
        if self.translations:
            document["translations"] = {code: dict(texts) for code, texts in self.translations.items()}
        return {**document, "questions": [entry.as_json() for entry in self.entries]}

    def to_canonical(self) -> bytes:
        """The canonical bytes (RFC 8785) that are frozen at publication.

        The definition without the researcher's plan and with its designs written out, so that
        the browser draws from the very integers that the estimator inverts; of translations those of its texts.
        """
        whole = self.as_json()
        document = {name: value for name, value in whole.items() if name not in ("plan", "translations")}
        if used := keep_used(whole):
            document["translations"] = used
        for entry, written in zip(self.entries, document["questions"], strict=True):
            if isinstance(entry, Question):
                written["designs"] = [_published_design(design) for design in entry.designs]
                written["epsilon"] = round_up(entry.epsilon)
        if self.ticket_keys:
            named = all(link for link, _key in self.ticket_keys)
            document["ticket_keys"] = (
                dict(self.ticket_keys) if named else [key for _, key in self.ticket_keys]
            )
        if self.completion_key:
            document["completion_key"] = self.completion_key
        return rfc8785.dumps({**document, "epsilon": self.epsilon})


def version_of(published: bytes) -> str:
    """The name of a published version: SHA-256 of its canonical bytes, in hexadecimal."""
    return hashlib.sha256(published).hexdigest()


def _published_design(design: Design) -> dict[str, Any]:
    return {
        "weights": design.weights.tolist(),
        "epsilon": round_up(design.epsilon),
        "odds": {"people": design.odds.people, "counts": [list(row) for row in design.odds.counts]},
    }
