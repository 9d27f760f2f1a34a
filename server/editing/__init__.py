"""The steps of the editor, each a function from a draft document to the next one.

A draft document has the form of a definition and need not be finished: names, texts and
numbers may be missing or wrong. What is done here never fails for that.
"""

from server.editing.actions import Step, act, new_document
from server.editing.cards import Card, cards
from server.editing.fields import Fields
from server.editing.remarks import find_brackets, find_repeated
from server.editing.settling import settle
from server.editing.shapes import KINDS, NOT_SENT
from server.editing.shares import Spending, equal_division, gamma_of_share, slider_gamma, spending

__all__ = [
    "KINDS",
    "NOT_SENT",
    "Card",
    "Fields",
    "Spending",
    "Step",
    "act",
    "cards",
    "equal_division",
    "find_brackets",
    "find_repeated",
    "gamma_of_share",
    "new_document",
    "settle",
    "slider_gamma",
    "spending",
]
