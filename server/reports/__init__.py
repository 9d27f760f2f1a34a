"""What a survey found: one `Report` value, and its writers.

A report is a function of a published version and the pattern tally; no writer computes
anything. The HTML report is one file that needs nothing else; numbers in CSV and JSON are
full precision, and texts in CSV cannot start a spreadsheet formula.
"""

from server.reports.documents import estimate_json, mean_json, to_json
from server.reports.page import to_html
from server.reports.report import Column, Mean, QuestionReport, Report, ShareRow, build, value_range
from server.reports.tables import codebook_csv, responses_csv, to_csv

__all__ = [
    "Column",
    "Mean",
    "QuestionReport",
    "Report",
    "ShareRow",
    "build",
    "codebook_csv",
    "estimate_json",
    "mean_json",
    "responses_csv",
    "to_csv",
    "to_html",
    "to_json",
    "value_range",
]
