"""How strong questions are that state no strength of their own: by the survey's, or by an equal part of its budget."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from server.privacy.designs import coin_flip, round_up
from server.study.definitions.entries import Entry
from server.study.definitions.question import Question
from server.study.kinds.grids import Number

LEAST_SHARE = 0.001
"""The least privacy loss of a question, in nats: below it, hardly any sample says anything."""


class BudgetError(ValueError):
    """The questions and the budget do not fit together."""

    def __init__(self, spent: float, sharing: int) -> None:
        self.spent = spent
        self.sharing = sharing
        super().__init__(f"stated: {spent}; {sharing} questions share the rest")


@dataclass(frozen=True)
class Strength:
    """What each question loses that states no strength: as much as a coin flip with a gamma, or an epsilon in nats."""

    name: str
    value: Number

    @classmethod
    def from_json(cls, document: Mapping[str, Number]) -> "Strength":
        """The strength that a document states."""
        ((name, value),) = document.items()
        return cls(name, value)

    @property
    def epsilon(self) -> float:
        return coin_flip(self.value).epsilon if self.name == "gamma" else self.value

    def as_json(self) -> dict[str, Number]:
        return {self.name: self.value}


def allot_share(budget: Number, spent: float, sharing: int) -> float:
    """What each of so many questions has of a budget, where the others spend this; of none, what a first one would."""
    return (budget - spent) / max(1, sharing)


def spent_of(budget: float, epsilon: float) -> float:
    """What is spent of a budget as it is shown beside it: rounded up to a thousandth, but not beyond the budget.

    Rounding must not look like overspending; what is beyond the budget stays so.
    """
    shown = round_up(epsilon, 3)
    return budget if epsilon <= budget + 1e-9 and shown > budget else shown


def left_of(budget: float, epsilon: float) -> float:
    """What is left of a budget, by what is shown as spent: of one that was divided nothing, and not 1e-9."""
    return max(0.0, round(budget - spent_of(budget, epsilon), 4))


def divide(entries: Sequence[Entry], chosen: Strength | Number) -> tuple[Entry, ...]:
    """Give each question that states no strength the survey's, or else an equal share of what the others leave.

    Raises
    ------
    BudgetError
        If the questions that state theirs take more than the budget, or leave less than
        0.001 nats for each of the others.
    """
    questions = [entry for entry in entries if isinstance(entry, Question)]
    sharing = sum(question.choice.by_share for question in questions)
    spent = math.fsum(question.epsilon for question in questions if not question.choice.by_share)
    share = chosen.epsilon if isinstance(chosen, Strength) else allot_share(chosen, spent, sharing)
    if share < (LEAST_SHARE if sharing else 0):
        raise BudgetError(spent, sharing)
    return tuple(
        replace(entry, share=share) if isinstance(entry, Question) and entry.choice.by_share else entry
        for entry in entries
    )
