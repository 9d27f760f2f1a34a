"""What a survey asks: the definition, its designs, its published form and its hash.

An entry is a question, which every respondent reports, or a text, a section or a
comprehension check, which are shown and never sent. Whatever its kind, a question is one
design for each byte that it adds to a response; `Question.truths` turns an answer into
rows of these designs.
"""

from server.study.definitions.budget_division import (
    BudgetError,
    Strength,
    allot_share,
    divide,
    left_of,
    spent_of,
)
from server.study.definitions.definition import FORMAT, Definition, StudyPlan, version_of
from server.study.definitions.entries import Check, Condition, Entry, Option, SurveySection, SurveyText
from server.study.definitions.question import Question, same_wording
from server.study.definitions.translated_definition import list_languages, translate_definition
from server.study.kinds import PREFER_NOT_TO_SAY, Answer, Truth
from server.study.kinds.designing import Choice
from server.study.kinds.grids import Grid, GridPoint, simplify_number
