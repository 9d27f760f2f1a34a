"""What is said before everything else: the first questions that tell something, and how many do not."""

from collections.abc import Sequence
from dataclasses import dataclass

from server.reports.estimate_values import QuestionReport
from server.reports.findings import QuestionFinding, interpret_question

MOST_LEADING = 3
"""Findings that are said in front, in the order of the questions: chosen by their place, never by their size."""


@dataclass(frozen=True)
class LeadingFindings:
    """Some findings of all questions that have responses.

    Attributes
    ----------
    findings : tuple of QuestionFinding
    more : int
        Questions that tell something, beside those that are said.
    untold : int
        Questions that do not.
    """

    findings: tuple[QuestionFinding, ...]
    more: int
    untold: int


def lead_with(questions: Sequence[QuestionReport], anytime: bool) -> LeadingFindings:
    """What to begin with, by the intervals of one look or of any number of them."""
    answered = [interpret_question(entry, anytime) for entry in questions if entry.n]
    told = [one for one in answered if one.tells]
    return LeadingFindings(
        tuple(told[:MOST_LEADING]), max(len(told) - MOST_LEADING, 0), len(answered) - len(told)
    )
