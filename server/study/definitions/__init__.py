"""What a survey asks: the definition, its designs, its published form and its hash.

An entry is a question, which every respondent reports, or a text, a section or a
comprehension check, which are shown and never sent. Whatever its kind, a question is one
design for each byte that it adds to a response; `Question.truths` turns an answer into
rows of these designs.
"""

from server.study.definitions.budget import BudgetError, divide, left_of, spent_of
from server.study.definitions.entries import Check, Condition, Entry, Option, Section, Text
from server.study.definitions.questions import Question, same_wording
from server.study.definitions.surveys import FORMAT, Definition, Plan, version_of
from server.study.kinds import PREFER_NOT_TO_SAY, Answer, Truth
from server.study.kinds.designing import Choice
from server.study.kinds.grids import Grid, Point, plain

__all__ = [
    "FORMAT",
    "PREFER_NOT_TO_SAY",
    "Answer",
    "BudgetError",
    "Check",
    "Choice",
    "Condition",
    "Definition",
    "Entry",
    "Grid",
    "Option",
    "Plan",
    "Point",
    "Question",
    "Section",
    "Text",
    "Truth",
    "divide",
    "left_of",
    "plain",
    "same_wording",
    "spent_of",
    "version_of",
]
