"""A study as its researchers describe it: who asks, whom, how and when; filled once, and said by every report."""

from server.study.study_sheets.senders import OwnWords, SurveySender, read_sender, split_line
from server.study.study_sheets.sheet_reader import parse_study_sheet
from server.study.study_sheets.sheet_rows import StoredSheet, read_study_sheet, save_logo, save_study_sheet
from server.study.study_sheets.sheet_values import (
    UNSTATED,
    Author,
    StudySheet,
    choose_language,
    find_unwritten,
)

__all__ = [
    "UNSTATED",
    "Author",
    "OwnWords",
    "StoredSheet",
    "StudySheet",
    "SurveySender",
    "choose_language",
    "find_unwritten",
    "parse_study_sheet",
    "read_sender",
    "read_study_sheet",
    "save_logo",
    "save_study_sheet",
    "split_line",
]
