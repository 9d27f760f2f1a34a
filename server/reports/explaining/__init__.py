"""Explain an answer: what it goes with, of what is known and of what other questions' coins let through."""

from server.reports.explaining.chosen_columns import list_weekly
from server.reports.explaining.explained_answer import ExplainedAnswer, ExplainedPredictor, explain_answer
from server.reports.explaining.explained_rows import ExplainableRows, RowBlock, of_foreign, of_report
from server.reports.explaining.explained_texts import (
    cut_letter,
    explanation_json,
    explanation_lines,
    explanation_rows,
    say_effect,
    write_p,
)
from server.reports.explaining.offered_columns import OfferedColumn, list_outcomes, list_predictors
