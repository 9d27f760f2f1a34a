"""A survey's budget, divided over its questions."""

import math
from collections.abc import Sequence
from dataclasses import replace

from server.privacy.designs import round_up
from server.study.definitions.entries import Entry
from server.study.definitions.question import Question

LEAST_SHARE = 0.001
"""The least privacy loss of a question, in nats: below it, hardly any sample says anything."""


class BudgetError(ValueError):
    """The questions and the budget do not fit together."""

    def __init__(self, spent: float, sharing: int) -> None:
        self.spent = spent
        self.sharing = sharing
        super().__init__(f"stated: {spent}; {sharing} questions share the rest")


def spent_of(budget: float, epsilon: float) -> float:
    """What is spent of a budget as it is shown beside it: rounded up to a thousandth, but not beyond the budget.

    Rounding must not look like overspending; what is beyond the budget stays so.
    """
    shown = round_up(epsilon, 3)
    return budget if epsilon <= budget + 1e-9 and shown > budget else shown


def left_of(budget: float, epsilon: float) -> float:
    """What is left of a budget, by what is shown as spent: of one that was divided nothing, and not 1e-9."""
    return max(0.0, round(budget - spent_of(budget, epsilon), 4))


def divide(entries: Sequence[Entry], budget: float) -> tuple[Entry, ...]:
    """Give each question that states no strength an equal share of what the others leave.

    Raises
    ------
    BudgetError
        If the questions that state theirs take more than the budget, or leave less than
        0.001 nats for each of the others.
    """
    questions = [entry for entry in entries if isinstance(entry, Question)]
    sharing = sum(question.choice.by_share for question in questions)
    spent = math.fsum(question.epsilon for question in questions if not question.choice.by_share)
    share = (budget - spent) / sharing if sharing else 0.0
    if (sharing and share < LEAST_SHARE) or (not sharing and spent > budget):
        raise BudgetError(spent, sharing)
    return tuple(
        replace(entry, share=share) if isinstance(entry, Question) and entry.choice.by_share else entry
        for entry in entries
    )
