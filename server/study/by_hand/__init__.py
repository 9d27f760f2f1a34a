"""Surveys answered with coins, dice or a disc of one's own: on a respondent's page, or on paper."""

from server.study.by_hand.answer_keys import (
    KEYS,
    PaperQuestion,
    list_paper_obstacles,
    list_paper_questions,
    read_key,
)
from server.study.by_hand.paper_form import make_paper_form
from server.study.by_hand.throwing import arrives_as_answer, plan_by_hand
