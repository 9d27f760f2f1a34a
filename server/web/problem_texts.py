"""Refusals as their readers are told them: the field as its page calls it, and what is wrong with it.

What a field is called stands in the room that reads it; a field that several forms have, once.
"""

import re
from decimal import Decimal
from types import MappingProxyType

from flask_babel import gettext

from server.collect.code_fields import CODE_FIELDS
from server.inputs import N_, Problem
from server.inputs.decimals import format_decimal
from server.inputs.definition_forms import number_or_text
from server.output.languages import RESPONDENT_LANGUAGES
from server.people.account_fields import ACCOUNT_FIELDS
from server.releases.plans.release_fields import ITEM_PARTS, RELEASE_FIELDS
from server.reports.elsewhere.foreign_fields import CELL, COLUMN, FOREIGN_FIELDS, ROW, STUDY_FILE, TABLE
from server.study.study_sheets.sheet_fields import AUTHOR_PARTS, IN_LANGUAGE, STUDY_FIELDS
from server.study.study_sheets.sheet_values import BY_LANGUAGE
from server.study.survey_fields import QUESTION_PARTS, SURVEY_FIELDS
from server.web.digit_choice import write_message
from server.web.lessons.lesson_fields import LESSON_FIELDS
from server.web.power_form import POWER_FIELDS
from server.web.webhooks.webhook_fields import WEBHOOK_FIELDS

PAGE_FIELDS = {
    "body": N_("What was sent"),
    "column": N_("Columns"),
    "confirmation": N_("The survey’s title"),
    "document": N_("PDF or picture"),
    "figure": N_("Figure"),
    "first_stratum": N_("First"),
    "together": N_("Together"),
    "row": N_("Rows"),
    "second_stratum": N_("Second"),
    "survey": N_("Survey"),
    "withdrawals": N_("List of what was taken back"),
}
"""Of addresses, of whole messages, and of what is asked twice before a survey is deleted."""
TABLES = (
    ACCOUNT_FIELDS,
    CODE_FIELDS,
    FOREIGN_FIELDS,
    LESSON_FIELDS,
    PAGE_FIELDS,
    POWER_FIELDS,
    RELEASE_FIELDS,
    STUDY_FIELDS,
    SURVEY_FIELDS,
    WEBHOOK_FIELDS,
)
FIELDS = MappingProxyType({name: called for table in TABLES for name, called in table.items()})
_QUESTION = re.compile(r"questions\[(\d{1,9})\](?:\.(.+))?")
_ITEM = re.compile(r"items\[(\d{1,9})\](?:\.(\w+))?")
_CELL = re.compile(r"data(?:\[(\d{1,9})\])?(?:\.(.+))?", re.DOTALL)
_STATED = re.compile(r"study_file\.(.+)", re.DOTALL)
_LINE = re.compile(r"lines\[(\d{1,9})\]")
_AUTHOR = re.compile(r"authors\[(\d{1,9})\](?:\.(\w+))?")
_IN_LANGUAGE = re.compile(rf"({'|'.join(BY_LANGUAGE)})\.([a-z]{{2}})")
_TRANSLATIONS = re.compile(r"translations\.([a-z]{2})\b.*", re.DOTALL)
_OPTION = re.compile(r"options\[(\d{1,9})\](\.name)?.*")


def describe(problem: Problem) -> tuple[str, str]:
    """A problem as its reader is told it: the name of the field, and what is wrong with it.

    A field that no page has keeps its path in the definition file.
    """
    message = write_message(problem.template, **problem.values)
    question = _QUESTION.fullmatch(problem.field)
    if question is not None:
        text = gettext("Question %(number)d", number=int(question[1]) + 1)
        part = _part(question[2] or "")
        return (gettext("%(whole)s, %(part)s", whole=text, part=part) if part else text), message
    item = _ITEM.fullmatch(problem.field)
    if item is not None:
        text = gettext("Item %(number)d", number=int(item[1]) + 1)
        part = gettext(ITEM_PARTS.get(item[2], item[2])) if item[2] else ""
        return (gettext("%(whole)s, %(part)s", whole=text, part=part) if part else text), message
    line = _LINE.fullmatch(problem.field)
    if line is not None:
        return gettext("Line %(number)d", number=int(line[1])), message
    cell = _CELL.fullmatch(problem.field)
    if cell is not None:
        return _say_cell(cell[1], cell[2]), message
    stated = _STATED.fullmatch(problem.field)
    if stated is not None:
        whole = gettext(STUDY_FILE)
        return gettext("%(whole)s, %(part)s", whole=whole, part=stated[1]), message
    author = _AUTHOR.fullmatch(problem.field)
    if author is not None:
        part = AUTHOR_PARTS.get(author[2], AUTHOR_PARTS["name"])
        return gettext(part, number=int(author[1]) + 1), message
    translated = _IN_LANGUAGE.fullmatch(problem.field)
    if translated is not None and translated[2] in RESPONDENT_LANGUAGES:
        language = RESPONDENT_LANGUAGES[translated[2]].name
        return gettext(IN_LANGUAGE, field=gettext(FIELDS[translated[1]]), language=language), message
    other = _TRANSLATIONS.fullmatch(problem.field)
    if other is not None and other[1] in RESPONDENT_LANGUAGES:
        called, part = FIELDS["translations"], RESPONDENT_LANGUAGES[other[1]].name
        return gettext("%(whole)s, %(part)s", whole=gettext(called), part=part), message
    name = FIELDS.get(problem.field)
    return gettext(name) if name else problem.field, message


def state_in_percent(problem: Problem) -> Problem:
    """A problem of a share as a form tells it that takes percent: its limits and its value in percent, too."""
    if problem.field.rpartition(".")[2] != "share":
        return problem
    values = {name: _write_percent(value) for name, value in problem.values.items()}
    return Problem(problem.field, problem.template, values)


def state_in_points(problem: Problem) -> Problem:
    """A problem of a share's error, in points of a hundred: its limits and its value."""
    values = {name: _write_points(value) for name, value in problem.values.items()}
    return Problem(problem.field, problem.template, values)


def _write_points(value: object) -> object:
    percent = _write_percent(value)
    if percent is value:
        return value
    return gettext("%(points)s points", points=str(percent).removesuffix(" %"))


def _write_percent(value: object) -> object:
    # What the form did not take for a number was not divided by a hundred, and is told as it was typed.
    number = number_or_text(value) if isinstance(value, str) else ""
    return value if isinstance(number, str) else f"{format_decimal(Decimal(str(number)) * 100)} %"


def _say_cell(row: str | None, column: str | None) -> str:
    """A place in a table from elsewhere, as its reader finds it there."""
    if row and column:
        return gettext(CELL, row=row, column=column)
    if row:
        return gettext(ROW, row=row)
    return gettext(COLUMN, column=column) if column else gettext(TABLE)


def _part(path: str) -> str:
    """What a part of a question is called; one that has no name of its own is called as the whole it is in."""
    option = _OPTION.fullmatch(path)
    if option is not None:
        number = int(option[1]) + 1
        if option[2]:
            return gettext("name of answer %(number)d in downloaded files", number=number)
        return gettext("answer %(number)d", number=number)
    while path and path not in QUESTION_PARTS:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return gettext(QUESTION_PARTS[path]) if path else ""
