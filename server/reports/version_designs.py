"""With which coins each version of a survey was answered, and what that cost a respondent."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from server.study.definitions import Definition, Question


@dataclass(frozen=True, eq=False)
class VersionedQuestion:
    """A question, and the versions that asked it in the same words, with the same answers and the same coins."""

    definition: Definition
    question: Question
    versions: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class VersionDesigns:
    """The definitions of some versions by their numbers, the newest first; there is one at least."""

    definitions: Mapping[int, Definition]

    @cached_property
    def questions(self) -> tuple[VersionedQuestion, ...]:
        """Every question of every version once: those of the newest first, each before those of its name before it."""
        found: dict[str, dict[str, tuple[Definition, Question, list[int]]]] = {}
        for number, definition in self.definitions.items():
            for question in definition.questions:
                alike = found.setdefault(question.name, {})
                alike.setdefault(_coins(question), (definition, question, []))[2].append(number)
        return tuple(
            VersionedQuestion(definition, question, tuple(sorted(numbers)))
            for alike in found.values()
            for definition, question, numbers in alike.values()
        )

    @cached_property
    def losses(self) -> tuple[tuple[tuple[int, ...], float], ...]:
        """What a respondent loses by all questions together, in nats, and in which versions; once for each loss."""
        found: dict[float, list[int]] = {}
        for number, definition in self.definitions.items():
            found.setdefault(definition.epsilon, []).append(number)
        return tuple((tuple(sorted(numbers)), loss) for loss, numbers in found.items())

    @property
    def largest_loss(self) -> float:
        """The most that a respondent to any of the versions loses, in nats."""
        return max(loss for _, loss in self.losses)

    @property
    def differ(self) -> bool:
        """Whether some version asked something else, or with other coins."""
        every = tuple(sorted(self.definitions))
        return any(asked.versions != every for asked in self.questions)

    def loss(self, name: str, versions: tuple[int, ...]) -> float:
        """The most that a respondent to any of these versions loses by the question of this name, in nats."""
        return max(
            question.epsilon
            for number in versions
            for question in self.definitions[number].questions
            if question.name == name
        )


def _coins(question: Question) -> str:
    """What makes a question the same one here: all but who was shown it."""
    document = {
        name: value for name, value in question.as_json().items() if name not in ("show_if", "otherwise")
    }
    # A question that the budget gives a share states no strength: its designs tell.
    return json.dumps([document, [design.weights.tolist() for design in question.designs]], sort_keys=True)
