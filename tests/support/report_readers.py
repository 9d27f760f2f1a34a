"""What the files of a report say, each read by itself: a page, the text of a PDF, a workbook."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from html.parser import HTMLParser

from openpyxl.worksheet.worksheet import Worksheet

from tests.support import sample_documents

BLOCKS = frozenset(
    {"h1", "h2", "h3", "h4", "h5", "h6", "p", "li", "dt", "dd", "caption", "figcaption", "th", "td", "text"}
)
"""Elements that hold text: those of the page, and what charts have written in them."""


SAID = {"en": {"Yes": 1, "No": 0}, "es": {"Sí": 1, "No": 0}}
"""Numbers that are words where they are read."""
CHART_DATA = frozenset({"Chart data", "Datos de los gráficos"})
"""What the sheet with the numbers of charts is called."""
INDEX = frozenset({"The other sheets", "Las demás hojas"})
"""The heading of what the first sheet of a workbook says about the others."""
LOSS = "0.0000"
"""How a workbook shows a privacy loss that is rounded up elsewhere."""


@dataclass
class Grid:
    """A table: each of its rows whole, whatever they share."""

    name: str
    caption: str = ""
    columns: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)


class Page(HTMLParser):
    """A page: its texts and tables, in reading order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.parts: list[str | Grid] = []
        self._texts: list[str] | None = None
        self._row: list[str] | None = None
        self._shared: list[str] = []
        self.feed(html)

    @property
    def tables(self) -> list[Grid]:
        return [part for part in self.parts if isinstance(part, Grid)]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "table":
            self.parts.append(Grid(given["id"] or ""))
        elif tag == "tr":
            self._row = [self._shared.pop()] if self._shared else []
        elif tag in BLOCKS:
            self._texts = []
            self._rows = int(given.get("rowspan") or 1)

    def handle_data(self, data: str) -> None:
        if self._texts is not None:
            self._texts.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "tr":
            self._end_row()
        elif tag in BLOCKS and self._texts is not None:
            self._end_text(tag, "".join(self._texts).strip())
            self._texts = None

    def _end_text(self, tag: str, text: str) -> None:
        if tag == "caption":
            self.tables[-1].caption = text
        elif self._row is None:
            self.parts.append(text)
        else:
            self._row.append(text)
            self._shared += [text] * (self._rows - 1)

    def _end_row(self) -> None:
        table, row = self.tables[-1], self._row
        assert row is not None
        if table.columns:
            table.rows.append(row)
        else:
            table.columns = row
        self._row = None


@cache
def page(html: str) -> Page:
    """A page, read once."""
    return Page(html)


def in_print(page: Page) -> Iterator[str]:
    """What the same document has in print, piece by piece. What rows of a table share stands above them."""
    for part in page.parts:
        if isinstance(part, str):
            yield part
            continue
        yield part.caption
        yield part.columns[0]
        yield "".join(part.columns[1:])
        before = None
        for first, *rest in part.rows:
            if first != before:
                yield first
            before = first
            yield "".join(rest)


def pdf_text(pdf: bytes, title: str) -> str:
    """The text of all pages, without what breaks lines, and without their feet."""
    texts = []
    pages = sample_documents.reader(pdf).pages
    for number, page in enumerate(pages, start=1):
        foot = plain(f"{title}{number}/{len(pages)}")
        text = plain(page.extract_text())
        assert text.endswith(foot)
        texts.append(text.removesuffix(foot))
    return "".join(texts)


def plain(text: str) -> str:
    """A text without what breaks its lines, and with letters in place of their ligatures."""
    return "".join(unicodedata.normalize("NFKC", text).replace("\u200b", "").split())


NOTE_MARKS = re.compile(r"p\.|[\d,]")


def print_differs(page: Page, text: str) -> Iterator[str]:
    """Where the text of a PDF is not that of a page; headers and what rows share may return on every sheet.

    A note below several tables is said once; the others have its number and the page where it stands.
    """
    returning = {"·"}
    for table in page.tables:
        first, *rest = map(plain, table.columns)
        returning |= {
            first + "".join(rest),
            f"{first}·{''.join(rest)}",
            *(plain(row[0]) for row in table.rows),
        }
    place = 0
    said: set[str] = set()
    for piece in map(plain, in_print(page)):
        after = text.find(piece, place)
        if after < 0 and piece in said:
            continue
        said.add(piece)
        if after < 0:
            yield f"not in the PDF: {piece}"
            continue
        between = text[place:after]
        for known in sorted(returning, key=len, reverse=True) if between else ():
            between = between.replace(known, "")
        if NOTE_MARKS.sub("", between):
            yield f"only in the PDF: {between}"
        place = after + len(piece)
    if place < len(text):
        yield f"only in the PDF: {text[place:]}"


def table_sheets(xlsx: bytes) -> list[Worksheet]:
    """The sheets of a workbook that hold the tables of its document: neither the text nor the numbers of charts."""
    sheets: list[Worksheet] = sample_documents.workbook(xlsx).worksheets[1:]
    return sheets[:-1] if sheets and sheets[-1].title in CHART_DATA else sheets


def workbook_differs(page: Page, xlsx: bytes, locale: str) -> Iterator[str]:
    """Where the tables of a workbook are not those of a page."""
    sheets = table_sheets(xlsx)
    if len(sheets) != len(page.tables):
        yield f"{len(sheets)} sheets for {len(page.tables)} tables"
    for sheet, table in zip(sheets, page.tables, strict=False):
        size = {"max_row": len(table.rows) + 1, "max_col": len(table.columns)}
        header, *rows = sheet.iter_rows(**size)
        if [cell.value for cell in header] != table.columns:
            yield f"{sheet.title}: {table.columns}"
        for cells, shown in zip(rows, table.rows, strict=True):
            for cell, text in zip(cells, shown, strict=True):
                if not _same(cell.value, cell.number_format, text, locale):
                    yield f"{sheet.title}, {cell.coordinate}: {cell.value!r} is shown as {text}"


def texts_differ(page: Page, xlsx: bytes, locale: str) -> Iterator[str]:
    """What stands on the first sheet of a workbook, and not, in this order, on a page."""
    parts = [part.caption if isinstance(part, Grid) else part for part in page.parts]
    plain_parts = [plain(part) for part in parts]
    place = 0
    first, *others = sample_documents.workbook(xlsx).worksheets
    index = next((row[0].row for row in first.iter_rows() if row[0].value in INDEX), 0)
    about_others = range(index, index + 2 + len(others)) if index else ()
    for cell in (cell for row in first.iter_rows() for cell in row):
        if cell.value is None or cell.row in about_others:
            continue
        if isinstance(cell.value, str):
            text = plain(cell.value)
            found = [spot for spot in range(place, len(parts)) if plain_parts[spot] == text]
        else:
            found = [place] if _same(cell.value, cell.number_format, parts[place], locale) else []
        if not found:
            yield f"only in the workbook: {cell.value!r}"
            continue
        place = found[0] + 1


def _same(value: object, form: str, text: str, locale: str) -> bool:
    """Whether a cell of a workbook, also as it is shown there, is the number or the text of a page."""
    if isinstance(value, str) or value is None:
        return (value or "") == text
    assert isinstance(value, int | float)
    if text in SAID[locale]:
        return value == SAID[locale][text]
    words = text.replace("\N{NO-BREAK SPACE}", " ")
    if words.startswith("p < "):
        return 0 <= value < number(words[4:], locale)
    shown = number(re.sub("^p = | (points|puntos)$", "", words), locale)
    if shown.is_nan():
        return False
    unit = Decimal((0, (1,), shown.as_tuple().exponent))
    exact = Decimal(repr(value)) * (100 if form.endswith("%") else 1)
    if form == LOSS:  # rounded up where it is read
        return 0 <= shown - exact < unit
    decimals = re.search(r"\.(0+)%?$", form)
    same_form = "#" in form.partition(".")[2] or len(decimals[1] if decimals else "") == -int(unit.adjusted())
    return same_form and abs(shown - exact) <= unit / 2 + Decimal("1e-9")


def number(text: str, locale: str) -> Decimal:
    """A number as it is read."""
    bare = text.removesuffix("%").strip().replace("\N{MINUS SIGN}", "-")
    bare = bare.replace(".", "").replace(",", ".") if locale == "es" else bare.replace(",", "")
    return Decimal(bare if re.fullmatch(r"-?\d+(\.\d+)?", bare) else "nan")
