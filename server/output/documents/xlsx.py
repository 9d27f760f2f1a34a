"""A document as a workbook: its text on the first sheet, each table on one of its own, numbers as numbers."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING, Final

from server.output.documents.model import Block, Cell, Chart, Document, Facts, Number, Paragraph, Prose, Table
from server.output.markdown import Passage, Run

if TYPE_CHECKING:
    from xlsxwriter import Workbook
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

_MADE = datetime(2000, 1, 1, tzinfo=UTC).replace(tzinfo=None)  # the same document gives the same bytes
_NAME_LIMIT = 31
_CELL_LIMIT = 32_767
_MOST_EXACT = 2**53
_FORBIDDEN = re.compile(r"[\[\]:*?/\\\x00-\x1f]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")
_NARROWEST: Final = 8
_WIDEST: Final = 60
_TEXT_WIDTHS: Final = (34, 80)
"""Of the first sheet: names, and what they stand for."""


class _Look:
    """The formats of a workbook, each made once."""

    def __init__(self, book: "Workbook") -> None:
        self._book = book
        self._made: dict[tuple[tuple[str, object], ...], Format] = {}

    def __call__(self, **properties: object) -> "Format":
        key = tuple(sorted(properties.items()))
        if key not in self._made:
            self._made[key] = self._book.add_format({"valign": "top", **properties})
        return self._made[key]


def to_xlsx(document: Document) -> bytes:
    """The document as a workbook. The same document gives the same bytes, and no text is a formula or a link."""
    # Here, so that the server itself does without it.
    from xlsxwriter import Workbook

    file = BytesIO()
    with Workbook(file, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}) as book:
        book.set_properties({"title": _fitting(document.title.text), "created": _MADE})
        look = _Look(book)
        tables = list(document.tables())
        first, *names = _sheet_names([document.title.text, *(table.caption for table in tables)])
        sheets = dict(zip((table.name for table in tables), names, strict=True))
        _write_text(book.add_worksheet(first), document, sheets, look)
        for table in tables:
            _write_table(book.add_worksheet(sheets[table.name]), table, look)
    return file.getvalue()


def _write_text(sheet: "Worksheet", document: Document, sheets: dict[str, str], look: _Look) -> None:
    for column, width in enumerate(_TEXT_WIDTHS):
        sheet.set_column(column, column, width)
    sheet.hide_gridlines(2)
    sheet.write_string(0, 0, _fitting(document.title.text), look(bold=True, font_size=18))
    sheet.write_string(1, 0, _fitting(document.subtitle), look(font_color="#595959"))
    row = _write_blocks(sheet, 3, document.blocks, sheets, look)
    for depth, section in document.walk():
        size = max(11, 16 - 2 * depth)
        sheet.write_string(row + 1, 0, _fitting(section.title.text), look(bold=True, font_size=size))
        row = _write_blocks(sheet, row + 2, section.blocks, sheets, look)


def _write_blocks(
    sheet: "Worksheet", row: int, blocks: Sequence[Block], sheets: dict[str, str], look: _Look
) -> int:
    """Write what stands below a heading; the next free row."""
    for block in blocks:
        match block:
            case Paragraph(text=text, notice=notice):
                sheet.merge_range(row, 0, row, 1, "", look(text_wrap=True, bold=notice or text.strong))
                sheet.write_string(
                    row, 0, _fitting(text.text), look(text_wrap=True, bold=notice or text.strong)
                )
                sheet.set_row(row, 15 * _lines(text.text, sum(_TEXT_WIDTHS)))
                row += 1
            case Prose(passages=passages):
                for passage in passages:
                    _write_passage(sheet, row, passage, look)
                    row += 1
            case Facts(entries=entries):
                for name, cell in entries:
                    sheet.write_string(row, 0, _fitting(name), look(text_wrap=True, bold=True))
                    _write_cell(sheet, row, 1, cell, look, align="left")
                    sheet.set_row(
                        row, 15 * max(_lines(name, _TEXT_WIDTHS[0]), _lines(cell.text, _TEXT_WIDTHS[1]))
                    )
                    row += 1
            case Table(name=name, caption=caption):
                link = "internal:'{}'!A1".format(sheets[name].replace("'", "''"))
                sheet.write_url(row, 0, link, look(underline=1, font_color="#1f5c43"), _fitting(caption))
                row += 1
            case Chart():  # what it shows stands in a table
                pass
    return row


def _write_passage(sheet: "Worksheet", row: int, passage: Passage, look: _Look) -> None:
    """A paragraph or a list of Markdown in one cell, its words as bold and italic as they are."""
    cell = look(text_wrap=True)
    sheet.merge_range(row, 0, row, 1, "", cell)
    sheet.set_row(row, 15 * _lines(passage.text, sum(_TEXT_WIDTHS)))
    parts: list[str | Format] = []
    for place, line in enumerate(passage.lines):
        before = ("\n" if place else "") + ("• " if passage.items else "")
        for run in ([Run(before)] if before else []) + list(line):
            parts += [look(bold=run.strong, italic=run.emphasis), _fitting(run.written)]
    if len(parts) < 4 or len(passage.text) >= _CELL_LIMIT:  # rich are two parts and more
        first = passage.lines[0][0]
        sheet.write_string(
            row, 0, _fitting(passage.text), look(text_wrap=True, bold=first.strong, italic=first.emphasis)
        )
        return
    sheet.write_rich_string(row, 0, *parts, cell)


def _write_table(sheet: "Worksheet", table: Table, look: _Look) -> None:
    for column, heading in enumerate(table.columns):
        cells = [row[column] for row in table.rows]
        numbers = bool(cells) and all(isinstance(cell, Number) for cell in cells)
        sheet.write_string(
            0,
            column,
            _fitting(heading),
            look(text_wrap=True, bold=True, bottom=1, align="right" if numbers else "left"),
        )
        longest = max((len(cell.text) for cell in cells), default=0)
        words = max((len(word) for word in heading.split()), default=0)
        sheet.set_column(column, column, min(max(longest, words, _NARROWEST) + 2, _WIDEST))
    for place, row in enumerate(table.rows, start=1):
        for column, cell in enumerate(row):
            _write_cell(sheet, place, column, cell, look)
    sheet.freeze_panes(1, 1)
    sheet.repeat_rows(0)
    sheet.fit_to_pages(1, 0)
    for place, note in enumerate((table.caption, *table.notes), start=len(table.rows) + 2):
        sheet.write_string(place, 0, _fitting(note), look(italic=True))


def _write_cell(
    sheet: "Worksheet", row: int, column: int, cell: Cell, look: _Look, **properties: object
) -> None:
    if isinstance(cell, Number) and cell.value is not None and abs(cell.value) <= _MOST_EXACT:
        sheet.write_number(row, column, cell.value, look(num_format=cell.form, **properties))
    elif isinstance(cell, Number):
        sheet.write_string(row, column, _fitting(cell.text), look(**{"align": "right", **properties}))
    else:
        look_of_text = look(text_wrap=True, bold=cell.strong, **properties)
        sheet.write_string(row, column, _fitting(cell.text), look_of_text)


def _fitting(text: str) -> str:
    """As much as a cell holds, and nothing that XML cannot."""
    clean = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
    return clean if len(clean) <= _CELL_LIMIT else clean[: _CELL_LIMIT - 1] + "…"


def _lines(text: str, width: int) -> int:
    return sum(1 + len(line) // width for line in text.split("\n"))


def _sheet_names(captions: Sequence[str]) -> list[str]:
    """Valid names, all different whatever their case."""
    names: list[str] = []
    taken = {"history"}  # Excel keeps it for itself
    for caption in captions:
        clean = " ".join(_FORBIDDEN.sub(" ", _fitting(caption)).split()).strip("'") or "-"
        name, number = clean[:_NAME_LIMIT].strip(" '"), 2
        while name.lower() in taken:
            ending = f" ({number})"
            name, number = clean[: _NAME_LIMIT - len(ending)].strip() + ending, number + 1
        taken.add(name.lower())
        names.append(name)
    return names
