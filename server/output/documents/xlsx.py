"""A document as a workbook: its text on the first sheet, each table on one of its own, numbers as numbers.

What was found stands first, each with a chart that the spreadsheet draws itself; then what the other sheets hold.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING

from server.output.documents import native_charts
from server.output.documents.model import (
    Block,
    Cell,
    Chart,
    Document,
    Facts,
    FindingBlock,
    FindingList,
    Paragraph,
    Prose,
    Section,
    Table,
    Text,
)
from server.output.documents.sheet_names import choose_name, number_names
from server.output.documents.vocabulary import Words
from server.output.documents.xlsx_cells import (
    HIGHEST,
    LINE,
    TEXT_WIDTHS,
    CellFormats,
    count_lines,
    fit_text,
    set_print,
    write_cell,
    write_passage,
    write_table,
)

if TYPE_CHECKING:
    from xlsxwriter import Workbook
    from xlsxwriter.worksheet import Worksheet

_MADE = datetime(2000, 1, 1, tzinfo=UTC).replace(tzinfo=None)  # the same document gives the same bytes


def to_xlsx(document: Document) -> bytes:
    """The document as a workbook. The same document gives the same bytes, and no text is a formula or a link."""
    # Here, so that the server itself does without it.
    from xlsxwriter import Workbook

    file = BytesIO()
    with Workbook(file, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}) as book:
        book.set_properties({"title": fit_text(document.title.text), "created": _MADE})
        _BookWriter(book, document).write()
    return file.getvalue()


class _BookWriter:
    """A workbook while it is written: its formats, what its sheets are called, where the numbers of charts are."""

    def __init__(self, book: "Workbook", document: Document) -> None:
        self._book, self._document = book, document
        self._words, self._look = Words(document.language), CellFormats(book)
        charts = [chart for chart in _list_charts(document) if chart.plot is not None]
        self._tables = list(document.tables())
        if charts:
            self._tables.append(native_charts.list_data(self._words, charts))
        first = self._words.gettext("Report")
        names = [first, *(choose_name(table.caption, table.short) for table in self._tables)]
        self._first, *rest = number_names(names)
        self._names = dict(zip((table.name for table in self._tables), rest, strict=True))
        self._rows: dict[int, int] = {}  # of a chart (by identity), where its numbers begin
        row = 1
        for chart in charts:
            assert chart.plot is not None
            self._rows[id(chart)], row = row, row + len(chart.plot.points)

    def write(self) -> None:
        """All sheets."""
        text = self._book.add_worksheet(self._first)
        sheets = {table.name: self._book.add_worksheet(self._names[table.name]) for table in self._tables}
        for table in self._tables:
            write_table(sheets[table.name], table, self._look)
        self._write_text(text)
        for _, section in self._document.walk():
            self._draw_beside(sheets, section.blocks)

    def _write_text(self, sheet: "Worksheet") -> None:
        for column, width in enumerate(TEXT_WIDTHS):
            sheet.set_column(column, column, width)
        sheet.hide_gridlines(2)
        set_print(sheet, upright=True)
        self._write_line(sheet, 0, self._document.title.text, size=18, bold=True)
        self._write_line(sheet, 1, self._document.subtitle, font_color="#595959")
        row = self._write_blocks(sheet, 3, self._document.blocks)
        for place, section in enumerate(self._document.sections):
            if place == self._document.lead:
                row = self._write_index(sheet, row)
            row = self._write_section(sheet, row, section, 1)

    def _write_section(self, sheet: "Worksheet", row: int, section: Section, depth: int) -> int:
        self._write_line(sheet, row + 1, section.title.text, size=max(11, 16 - 2 * depth), bold=True)
        row = self._write_blocks(sheet, row + 2, section.blocks)
        for part in section.sections:
            row = self._write_section(sheet, row, part, depth + 1)
        return row

    def _write_index(self, sheet: "Worksheet", row: int) -> int:
        """What the other sheets hold."""
        if not self._tables:
            return row
        _ = self._words.gettext
        self._write_line(sheet, row + 1, _("The other sheets"), size=14, bold=True)
        text = _(
            "Each holds one table; its name leads there. Numbers have all their digits, and are shown as in the "
            "report, whose text goes on below."
        )
        self._write_line(sheet, row + 2, text)
        row += 3
        for table in self._tables:
            self._write_link(sheet, row, table, self._names[table.name])
            sheet.write_string(row, 1, fit_text(table.caption), self._look(text_wrap=True))
            row += 1
        return row

    def _write_link(self, sheet: "Worksheet", row: int, table: Table, text: str) -> None:
        link = "internal:'{}'!A1".format(self._names[table.name].replace("'", "''"))
        look = self._look(underline=1, font_color="#1f5c43", text_wrap=True)
        sheet.write_url(row, 0, link, look, fit_text(text))

    def _write_line(
        self, sheet: "Worksheet", row: int, text: str, *, size: int = 11, **properties: object
    ) -> None:
        """A text over all columns, in as many lines as it takes."""
        look = self._look(text_wrap=True, font_size=size, **properties)
        sheet.merge_range(row, 0, row, 1, "", look)
        sheet.write_string(row, 0, fit_text(text), look)
        lines = count_lines(text, sum(TEXT_WIDTHS) * 10 // size)
        sheet.set_row(row, min(LINE * size / 11 * lines, HIGHEST))

    def _write_blocks(self, sheet: "Worksheet", row: int, blocks: Sequence[Block]) -> int:
        """Write what stands below a heading; the next free row."""
        for block in blocks:
            match block:
                case Paragraph(text=text, notice=notice):
                    self._write_line(sheet, row, text.text, bold=notice or text.strong)
                    row += 1
                case Prose(passages=passages):
                    for passage in passages:
                        write_passage(sheet, row, passage, self._look)
                        row += 1
                case Facts(entries=entries):
                    for name, cell in entries:
                        self._write_fact(sheet, row, name, cell)
                        row += 1
                case FindingBlock():
                    row = self._write_finding(sheet, row, block)
                case FindingList(findings=findings):
                    for about, sentence in findings:
                        self._write_fact(sheet, row, about.text, Text(sentence))
                        row += 1
                case Table():
                    self._write_link(sheet, row, block, block.caption)
                    row += 1
                case Chart():  # beside the table that has its numbers
                    pass
        return row

    def _write_fact(self, sheet: "Worksheet", row: int, name: str, cell: Cell) -> None:
        sheet.write_string(row, 0, fit_text(name), self._look(text_wrap=True, bold=True))
        write_cell(sheet, row, 1, cell, self._look, align="left")
        sheet.set_row(
            row, LINE * max(count_lines(name, TEXT_WIDTHS[0]), count_lines(cell.text, TEXT_WIDTHS[1]))
        )

    def _write_finding(self, sheet: "Worksheet", row: int, finding: FindingBlock) -> int:
        """The sentence, what must be known of it, and its charts below."""
        if finding.sentence:
            self._write_line(sheet, row, finding.sentence, size=12, font_color="#17544a", bold=True)
            row += 1
        for text, color in ((finding.meaning, "#141414"), *((note, "#595959") for note in finding.notes)):
            if text:
                self._write_line(sheet, row, text, font_color=color)
                row += 1
        for chart in finding.charts:
            if chart.plot is None:  # what it shows stands in a table
                self._write_line(sheet, row, chart.caption, bold=True)
            else:
                sheet.set_row_pixels(row, native_charts.height_of(chart.plot) + 8)
                # Below the title of the section, which says what was asked, unless it says what was found.
                self._insert(sheet, row, 0, chart, titled=not finding.sentence)
            row += 1
        return row

    def _draw_beside(self, sheets: dict[str, "Worksheet"], blocks: Sequence[Block]) -> None:
        """The charts of a section beside the table that stands before them."""
        before, row = None, 0
        for block in blocks:
            match block:
                case Table():
                    before, row = block, 0
                case Chart(plot=plot) if plot is not None and before is not None:
                    self._insert(sheets[before.name], row, len(before.columns) + 1, block, titled=True)
                    row += native_charts.height_of(plot) // 20 + 2
                case _:
                    pass

    def _insert(
        self, sheet: "Worksheet", row: int, column: int, chart: Chart, *, titled: bool = False
    ) -> None:
        name, first = self._names[native_charts.DATA], self._rows[id(chart)]
        made = native_charts.draw(self._book, name, first, chart, titled=titled)
        sheet.insert_chart(row, column, made, {"description": fit_text(chart.alternative), "y_offset": 4})


def _list_charts(document: Document) -> Iterator[Chart]:
    """In reading order."""
    for _, section in document.walk():
        for block in section.blocks:
            if isinstance(block, FindingBlock):
                yield from block.charts
            elif isinstance(block, Chart):
                yield block
