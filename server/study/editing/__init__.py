"""The steps of the editor, each a function from a draft document to the next one.

A draft document has the form of a definition and need not be finished: names, texts and
numbers may be missing or wrong. What is done here never fails for that.
"""

from server.study.editing.actions import carry_out_action, insert_entries, insert_list, new_document
from server.study.editing.advising import Advice, advise, foresee_draft
from server.study.editing.budget_shares import (
    Spending,
    equal_division,
    find_gamma,
    place_slider,
    shown_budget,
    spending,
)
from server.study.editing.cards import Card, cards
from server.study.editing.draft_remarks import find_alike, find_brackets, find_repeated
from server.study.editing.entry_shapes import KINDS, NOT_SENT
from server.study.editing.fields import Fields
from server.study.editing.question_lists import ListedQuestion, list_room, read_list
from server.study.editing.selected_actions import LEAST_STRENGTH, MOST_STRENGTH
from server.study.editing.settling import settle_document
from server.study.editing.steps import Step
