"""What sheets of a workbook are made of: cells, tables, texts with bold words, and how they are printed."""

import re
from typing import TYPE_CHECKING, Final

from server.output.documents.model import Cell, Number, Table
from server.output.markdown import Passage, Run

if TYPE_CHECKING:
    from xlsxwriter import Workbook
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

TEXT_WIDTHS: Final = (34, 80)
"""Of the first sheet: names, and what they stand for."""
LINE: Final = 15
"""Points, of letters of 11."""
HIGHEST: Final = 409
"""Points: a row of Excel."""

_CELL_LIMIT = 32_767
_MOST_EXACT = 2**53
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")
_NARROWEST: Final = 8
_WIDEST: Final = 60
_A4: Final = 9
_UPRIGHT: Final = 6
"""Columns that a sheet of paper holds upright."""


class CellFormats:
    """The formats of a workbook, each made once."""

    def __init__(self, book: "Workbook") -> None:
        self._book = book
        self._made: dict[tuple[tuple[str, object], ...], Format] = {}

    def __call__(self, **properties: object) -> "Format":
        key = tuple(sorted(properties.items()))
        if key not in self._made:
            self._made[key] = self._book.add_format({"valign": "top", **properties})
        return self._made[key]


def set_print(sheet: "Worksheet", *, upright: bool) -> None:
    """On A4, as wide as a page, with numbers of pages."""
    sheet.set_paper(_A4)
    if not upright:
        sheet.set_landscape()
    sheet.fit_to_pages(1, 0)
    sheet.set_footer("&L&A&R&P / &N")


def write_passage(sheet: "Worksheet", row: int, passage: Passage, formats: CellFormats) -> None:
    """A paragraph or a list of Markdown in one cell, its words as bold and italic as they are."""
    cell = formats(text_wrap=True)
    sheet.merge_range(row, 0, row, 1, "", cell)
    sheet.set_row(row, LINE * count_lines(passage.text, sum(TEXT_WIDTHS)))
    parts: list[str | Format] = []
    for place, line in enumerate(passage.lines):
        before = ("\n" if place else "") + ("• " if passage.items else "")
        for run in ([Run(before)] if before else []) + list(line):
            parts += [formats(bold=run.strong, italic=run.emphasis), fit_text(run.plain_text)]
    if len(parts) < 4 or len(passage.text) >= _CELL_LIMIT:  # rich are two parts and more
        first = passage.lines[0][0]
        sheet.write_string(
            row, 0, fit_text(passage.text), formats(text_wrap=True, bold=first.strong, italic=first.emphasis)
        )
        return
    sheet.write_rich_string(row, 0, *parts, cell)


def write_table(sheet: "Worksheet", table: Table, formats: CellFormats) -> None:
    """A table on a sheet of its own; its caption and notes below it."""
    for column, heading in enumerate(table.columns):
        cells = [row[column] for row in table.rows]
        numbers = bool(cells) and all(isinstance(cell, Number) for cell in cells)
        sheet.write_string(
            0,
            column,
            fit_text(heading),
            formats(text_wrap=True, bold=True, bottom=1, align="right" if numbers else "left"),
        )
        longest = max((len(cell.text) for cell in cells), default=0)
        words = max((len(word) for word in heading.split()), default=0)
        sheet.set_column(column, column, min(max(longest, words, _NARROWEST) + 2, _WIDEST))
    for place, row in enumerate(table.rows, start=1):
        for column, cell in enumerate(row):
            write_cell(sheet, place, column, cell, formats)
    sheet.freeze_panes(1, 1)
    sheet.repeat_rows(0)
    set_print(sheet, upright=len(table.columns) <= _UPRIGHT)
    # A chart beside the table is not printed: it would make the letters small.
    sheet.print_area(0, 0, len(table.rows) + 2 + len(table.notes), len(table.columns) - 1)
    for place, note in enumerate((table.caption, *table.notes), start=len(table.rows) + 2):
        sheet.write_string(place, 0, fit_text(note), formats(italic=True))


def write_cell(
    sheet: "Worksheet", row: int, column: int, cell: Cell, formats: CellFormats, **properties: object
) -> None:
    """A cell of a table: numbers are numbers, texts are never more than texts."""
    if isinstance(cell, Number) and cell.value is not None and abs(cell.value) <= _MOST_EXACT:
        sheet.write_number(row, column, cell.value, formats(num_format=cell.form, **properties))
    elif isinstance(cell, Number):
        sheet.write_string(row, column, fit_text(cell.text), formats(**{"align": "right", **properties}))
    else:
        look_of_text = formats(text_wrap=True, bold=cell.strong, **properties)
        sheet.write_string(row, column, fit_text(cell.text), look_of_text)


def fit_text(text: str) -> str:
    """As much as a cell holds, and nothing that XML cannot."""
    clean = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
    return clean if len(clean) <= _CELL_LIMIT else clean[: _CELL_LIMIT - 1] + "…"


def count_lines(text: str, width: int) -> int:
    """About how many lines a text has in a cell so many letters wide."""
    return sum(1 + len(line) // width for line in text.split("\n"))
