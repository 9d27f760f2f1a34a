"""Data from elsewhere: a study file and a table -> the `Report` that they would give had they been collected here."""

from server.reports.elsewhere.foreign_report import ForeignData, read_foreign_data
from server.reports.elsewhere.study_file import STUDY_LIMIT, WHOLE, StudyFile, parse_study
from server.reports.elsewhere.study_file_writer import write_study_file
