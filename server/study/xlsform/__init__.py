"""XLSForm workbooks, as KoboToolbox, ODK and SurveyCTO write them -> a `Definition`, and one written from it.

A subset is taken: what can be randomised in the respondent's browser. Everything else is
listed, with its place and the reason. docs/definition.md has the table.
"""

from server.study.xlsform.form_reader import Imported, parse_xlsform
from server.study.xlsform.form_writer import WrittenForm, write_xlsform
from server.study.xlsform.notes import SkippedCells
from server.study.xlsform.workbook import WORKBOOK_LIMIT, looks_like_workbook
