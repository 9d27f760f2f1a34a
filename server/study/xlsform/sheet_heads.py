"""The head of a sheet -> what its columns mean, and its rows by these meanings."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from server.inputs.problems import N_
from server.output.languages import RESPONDENT_LANGUAGES
from server.study.xlsform.notes import Notes
from server.study.xlsform.workbook import WorkbookRow, join_spaces

TITLE = "moneda_title"
"""The title in another language: other programs know one title alone, and pass over this column."""
_LANGUAGE_NAMES = {name: code for code, language in RESPONDENT_LANGUAGES.items() for name in language.called}
_OTHER_NAMES = {
    "relevance": "relevant",
    "caption": "label",
    "list name": "list_name",
    "value": "name",
    "default language": "default_language",
    "form title": "form_title",
    "title": "form_title",
}
_TRANSLATED = (
    TITLE,
    "label",
    "hint",
    "guidance_hint",
    "constraint_message",
    "required_message",
    "media",
)

_NOT_SHOWN = N_("respondents see the wording and the answers only; put what matters into the wording")
_CALCULATED = N_("nothing is calculated from answers")
_REASONS = {
    "hint": _NOT_SHOWN,
    "guidance_hint": _NOT_SHOWN,
    "required": N_("everyone answers every question, so that a blank says nothing"),
    "required_message": N_("everyone answers every question, so that a blank says nothing"),
    "appearance": N_("questions look the same in all surveys"),
    "calculation": _CALCULATED,
    "trigger": _CALCULATED,
    "default": N_("no answer is filled in beforehand"),
    "choice_filter": N_("all choices are always shown"),
    "constraint_message": N_("the page itself says which numbers are allowed"),
    "media": N_("pictures and sounds are not shown"),
    "image": N_("pictures and sounds are not shown"),
    "audio": N_("pictures and sounds are not shown"),
    "video": N_("pictures and sounds are not shown"),
}
_UNKNOWN = N_("this column has no counterpart here")
_OTHER_LANGUAGE = N_("respondents’ pages are not in this language")
_TWICE = N_("a column of this meaning stands before this one")
_ERROR = N_("the cell holds an error instead of a value")
_FORMULA = N_("the cell holds a formula without its result; save the file with a spreadsheet program first")


@dataclass(frozen=True)
class HeadedText:
    """A text and the heading of its column, as it is written."""

    header: str
    text: str


@dataclass(frozen=True)
class SheetRow:
    """A row by the meanings of its columns."""

    number: int
    cells: dict[str, HeadedText]
    label: HeadedText | None
    hint: HeadedText | None = None

    def text(self, meaning: str) -> str:
        """What a cell says; empty if there is none."""
        return self.cells[meaning].text if meaning in self.cells else ""

    def header(self, meaning: str) -> str:
        """How the column's heading is written."""
        return self.cells[meaning].header if meaning in self.cells else meaning


@dataclass(frozen=True)
class SheetColumn:
    """What a column holds, and in which language if it says so."""

    header: str
    meaning: str
    language: str | None


def language_of(text: str) -> str | None:
    """`Español (es)`, `spanish`, `es-MX` -> "es"; None without a name; other languages as they are written."""
    name = text.strip().casefold()
    if not name:
        return None
    code = re.search(r"\(\s*([a-z]{2,3})(?:[-_][\w-]+)?\s*\)\s*$", name)
    for candidate in (code[1] if code else "", re.split(r"[\s(_-]", name)[0]):
        if candidate in _LANGUAGE_NAMES:
            return _LANGUAGE_NAMES[candidate]
    return name


def columns_of(rows: Sequence[WorkbookRow]) -> dict[int, SheetColumn]:
    """The meanings of the columns, from the first row that is filled."""
    return {place: _column(header) for place, header in rows[0].cells.items()} if rows else {}


def label_languages(columns: dict[int, SheetColumn]) -> list[str]:
    """The languages that labels are given in."""
    return [column.language for column in columns.values() if column.meaning == "label" and column.language]


def lines(
    sheet: str, rows: Sequence[WorkbookRow], language: str, known: frozenset[str], notes: Notes
) -> list[SheetRow]:
    """The rows below the head. Notes what columns are not `known`, cell by cell, and other languages once."""
    columns = columns_of(rows)
    labels = _first_columns(columns, "label")
    kept: dict[int, SheetColumn] = {}
    for place, column in columns.items():
        if column.meaning in ("label", TITLE):
            continue
        if any(column.meaning == other.meaning and column.meaning in known for other in kept.values()):
            notes.add(sheet, None, column.header, column.header, _TWICE)
        else:
            kept[place] = column
    chosen = _choose_columns(columns, "label", language)
    hints = _choose_columns(columns, "hint", language)
    for place, column in columns.items():
        if column.meaning == "label" and place not in chosen:
            first = labels[column.language] == place
            if not first or column.language is None:
                notes.add(sheet, None, column.header, column.header, _TWICE)
            elif column.language not in RESPONDENT_LANGUAGES:
                notes.add(sheet, None, column.header, column.header, _OTHER_LANGUAGE)
    found = []
    for row in rows[1:]:
        for held, why in ((row.errors, _ERROR), (row.formulas, _FORMULA)):
            for place, cell in held.items():
                header = columns[place].header if place in columns else ""
                notes.add(sheet, row.number, header, cell, why)
        label, hint = (
            next(
                (HeadedText(columns[place].header, row.cells[place]) for place in some if place in row.cells),
                None,
            )
            for some in (chosen, hints)
        )
        cells: dict[str, HeadedText] = {}
        for place, text in row.cells.items():
            if place in kept:
                meaning = kept[place].meaning if kept[place].meaning in known else str(place)
                plain = text if meaning in _TRANSLATED else join_spaces(text)
                cells[meaning] = HeadedText(kept[place].header, plain)
        if cells or label:
            found.append(SheetRow(row.number, cells, label, hint))
    return found


def _first_columns(columns: Mapping[int, SheetColumn], meaning: str) -> dict[str | None, int]:
    """The first column of a meaning in each language."""
    found: dict[str | None, int] = {}
    for place, column in columns.items():
        if column.meaning == meaning:
            found.setdefault(column.language, place)
    return found


def _choose_columns(columns: Mapping[int, SheetColumn], meaning: str, language: str) -> list[int]:
    """The columns of a meaning that a text is taken from: that in a language before that in none."""
    found = _first_columns(columns, meaning)
    return [found[name] for name in (language, None) if name in found]


class PairedText(NamedTuple):
    """What a text says in another language, and where that stands."""

    language: str
    text: str
    translation: str
    row: int
    column: str


def pair_texts(rows: Sequence[WorkbookRow], language: str, meaning: str, others: str) -> Iterator[PairedText]:
    """What texts say in other languages than `language`.

    `meaning` is that of the columns of the texts, `others` that of those in other languages.
    """
    columns = columns_of(rows)
    labels = _first_columns(columns, others)
    chosen = _choose_columns(columns, meaning, language)
    for row in rows[1:]:
        text = next((row.cells[place] for place in chosen if place in row.cells), "")
        for other, place in labels.items():
            if other in RESPONDENT_LANGUAGES and other != language and text.strip() and place in row.cells:
                yield PairedText(str(other), text, row.cells[place], row.number, columns[place].header)


def note_unused(sheet: str, line: SheetRow, used: frozenset[str], notes: Notes) -> None:
    """Note the cells of a line, otherwise taken, that have no counterpart here."""
    for meaning, cell in line.cells.items():
        if meaning in used:
            continue
        why = reason(cell.header)
        if why == _UNKNOWN:  # often numbered by another program, each cell different: the column is enough
            notes.add(sheet, None, cell.header, cell.header, why)
        else:
            notes.add(sheet, line.number, cell.header, cell.text, why)


def reason(header: str) -> str:
    """Why a column is not taken."""
    return _REASONS.get(find_meaning(header), _UNKNOWN)


def find_meaning(header: str) -> str:
    """What a column holds, whatever its language."""
    return _column(header).meaning


def _column(header: str) -> SheetColumn:
    parts = [part.strip() for part in re.split(r"::?", " ".join(header.split()))]
    meaning = parts[0].casefold()
    meaning = _OTHER_NAMES.get(meaning, meaning)
    if meaning == "bind" and len(parts) > 1:
        meaning = parts.pop(1).casefold()
    language = language_of(parts[-1]) if len(parts) > 1 and meaning in _TRANSLATED else None
    return SheetColumn(header, meaning, language)
