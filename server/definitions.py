"""What a survey asks: the definition, its published form and its hash."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import rfc8785

from server.privacy.designs import Design, coin_flip, round_up

FORMAT = 1


@dataclass(frozen=True)
class CoinFlip:
    """The researcher's choice of a coin-flip design."""

    gamma: float

    def design(self) -> Design:
        return coin_flip(self.gamma)

    def as_json(self) -> dict[str, Any]:
        return {"mechanism": "coin_flip", "gamma": self.gamma}


@dataclass(frozen=True)
class Question:
    """One question and the design its answers pass through."""

    name: str
    kind: str
    text: str
    choice: CoinFlip

    @cached_property
    def designs(self) -> tuple[Design, ...]:
        """One design for each byte that the question adds to a response."""
        return (self.choice.design(),)

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "kind": self.kind, "text": self.text, "design": self.choice.as_json()}


@dataclass(frozen=True)
class Definition:
    """A survey as its researcher designs it; `as_json` is what import and export exchange."""

    language: str
    title: str
    introduction: str
    questions: tuple[Question, ...]

    @property
    def designs(self) -> tuple[Design, ...]:
        """The designs of a response's bytes, in order."""
        return tuple(design for question in self.questions for design in question.designs)

    @property
    def epsilon(self) -> float:
        """What one respondent spends: the sum over all designs, rounded up to four decimals."""
        return round_up(sum(design.epsilon for design in self.designs))

    def as_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "language": self.language,
            "title": self.title,
            "introduction": self.introduction,
            "questions": [question.as_json() for question in self.questions],
        }

    def published(self) -> bytes:
        """The canonical bytes (RFC 8785) that are frozen at publication.

        The definition with its designs written out, so that the browser draws from the
        very integers that the estimator inverts.
        """
        document = self.as_json()
        for question, entry in zip(self.questions, document["questions"], strict=True):
            entry["designs"] = [_published_design(design) for design in question.designs]
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
