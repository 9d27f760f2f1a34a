"""What the editor needs to know of an entry to show it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from server.privacy.designs import BestChoice
from server.study.answer_texts import word_answer
from server.study.definitions import Question
from server.study.editing.budget_shares import Spending, find_chosen_design, sketch_question
from server.study.editing.entry_shapes import NOT_SENT, mechanisms, parameters, strength_name
from server.study.kinds import KINDS, PREFER_NOT_TO_SAY, Kind

Entry = Mapping[str, Any]


@dataclass(frozen=True)
class Card:
    """An entry in its place.

    Attributes
    ----------
    answers
        Its answers: the name of each and its text.
    gates
        The questions before it that a condition can ask for: name, number, wording.
    gate
        The question that its condition asks for, if there is such a one.
    parameters
        The chances and wordings that its design needs.
    sketch
        The question as far as chance goes; None while its design is unfinished, or where nothing is sent.
    """

    entry: Entry
    place: int
    epsilon: float | None
    answers: Sequence[tuple[str, str]]
    gates: Sequence[tuple[str, int, str]]
    gate: Entry | None
    gate_answers: Sequence[tuple[str, str]]
    mechanisms: Sequence[str]
    parameters: Sequence[str]
    strength: str | None
    best_choice: BestChoice | None
    sketch: Question | None

    @property
    def path(self) -> str:
        return f"questions[{self.place}]"

    @property
    def traits(self) -> Kind | None:
        """What its kind says of it; None if it is no question."""
        return KINDS.get(self.entry["kind"])

    @property
    def is_sent(self) -> bool:
        return self.entry["kind"] not in NOT_SENT

    @property
    def gate_is_number(self) -> bool:
        """Whether its condition asks for a range of numbers."""
        return "low" in self.gate if self.gate is not None else "from" in self.entry.get("show_if", {})


def cards(document: Mapping[str, Any], spending: Spending) -> list[Card]:
    """Every entry of a draft."""
    made: list[Card] = []
    for place, entry in enumerate(document["questions"]):
        before = [card for card in made if card.is_sent]
        wanted = entry.get("show_if", {}).get("question")
        gate = next((card.entry for card in before if card.entry["name"] == wanted), None)
        made.append(
            Card(
                entry=entry,
                place=place,
                epsilon=spending.entries[place],
                answers=_answers(entry, document["language"]),
                gates=[(card.entry["name"], card.place + 1, card.entry["text"]) for card in before],
                gate=gate,
                gate_answers=() if gate is None else _answers(gate, document["language"]),
                mechanisms=mechanisms(entry),
                parameters=parameters(entry),
                strength=strength_name(entry),
                best_choice=find_chosen_design(entry, spending.share),
                sketch=sketch_question(entry, spending.share),
            )
        )
    return made


def _answers(entry: Entry, language: str) -> list[tuple[str, str]]:
    kind = KINDS.get(entry["kind"])
    answers = [(name, word_answer(name, language)) for name in (kind.fixed if kind else ())]
    answers += [(option["name"], option["text"]) for option in entry.get("options", ()) if option["name"]]
    if entry.get("prefer_not_to_say"):
        answers.append((PREFER_NOT_TO_SAY, word_answer(PREFER_NOT_TO_SAY, language)))
    return answers
