"""The bytes of an uploaded workbook -> plain texts by sheet, row and column.

A workbook is an archive of XML. It is measured before anything parses it: what it says that it
unpacks to, and what it really unpacks to. defusedxml refuses entities; no formula is evaluated:
a cell counts as what its program last stored in it.
"""

import io
import os
import re
import unicodedata
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from server.inputs.problems import N_, InputError, refuse

# Where lxml is installed, openpyxl would read with that, and take entities for nothing instead of refusing them.
os.environ["OPENPYXL_LXML"] = "False"

WORKBOOK_LIMIT = 1024 * 1024
"""Largest workbook, in bytes."""

UNPACKED_LIMIT = 16 * 1024 * 1024
ROWS_LIMIT = 5_000
CELLS_LIMIT = 50_000
COLUMNS_LIMIT = 256
CELL_LIMIT = 32_767
"""Characters in one cell: as many as Excel allows."""

SHEETS = ("survey", "choices", "settings")

_PARTS_LIMIT = 1_000
_EXCEL_ROWS = 1_048_576
_STORED_ROWS_LIMIT = 50_000
"""Empty rows are stored when they have a height or a colour; nobody colours so many."""
_OLD_EXCEL = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ARCHIVES = (b"PK\x03\x04", b"PK\x05\x06")
_DECORATION = (
    "docProps/",
    "xl/styles",
    "xl/theme",
    "xl/media",
    "xl/drawings",
    "xl/charts",
    "xl/vba",
    "customXml/",
)
_SPACES = re.compile(r"[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_AROUND = "".join(
    map(chr, (*range(0x2000, 0x200C), 0x20, 0xA, 0x9, 0xA0, 0x1680, 0x202F, 0x205F, 0x3000, 0xFEFF))
)
"""What no text begins or ends with: spaces of all kinds, and marks that nobody sees."""
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")
_TAGS_LIMIT = 12 * CELLS_LIMIT
"""Signs of "<" in all: a filled cell has four, and its text in the shared table four more."""


Formulas = dict[str, dict[int, dict[int, str]]]


@dataclass(frozen=True)
class WorkbookRow:
    """The texts of one row that holds any, by column number (from 0).

    `formulas` are those whose result no program has stored.
    """

    number: int
    cells: dict[int, str]
    errors: dict[int, str] = field(default_factory=dict)
    formulas: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Workbook:
    """The sheets that a form uses, and the names of those that it does not."""

    sheets: dict[str, tuple[WorkbookRow, ...]]
    others: tuple[str, ...]


def looks_like_workbook(body: bytes) -> bool:
    """Whether these are the first bytes of a workbook, old or new, rather than of JSON."""
    return body.startswith((*_ARCHIVES, _OLD_EXCEL))


def read_workbook(body: bytes) -> Workbook:
    """Read what the sheets of a form say.

    Raises
    ------
    InputError
        If this is not a workbook of bounded size that can be read.
    """
    if len(body) > WORKBOOK_LIMIT:
        raise refuse(413, "file", N_("must be at most %(limit)d bytes; it has more"), limit=WORKBOOK_LIMIT)
    if body.startswith(_OLD_EXCEL):
        template = N_(
            "must be an .xlsx workbook without a password; this is an .xls file or an encrypted one. "
            "Save it again as .xlsx"
        )
        raise refuse(422, "file", template)
    try:
        content = _without_decoration(body)
    except InputError:
        raise
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, ValueError):
        # ValueError: a name that is no UTF-8, or a part that would begin before the file does.
        template = N_("must be a whole .xlsx workbook; this one is cut off or is something else")
        raise refuse(422, "file", template) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns of decorations that it does not know
            return _read(content)
    except InputError:
        raise
    except Exception as error:  # openpyxl promises no kind of error for a file that somebody has made up
        template = N_("must be a whole .xlsx workbook; this one cannot be read (%(value)s)")
        raise refuse(422, "file", template, value=type(error).__name__) from None


def _without_decoration(body: bytes) -> io.BytesIO:
    """The archive again, of parts that were measured and hold words: looks and pictures take long to parse."""
    kept = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(body)) as archive, zipfile.ZipFile(kept, "w") as copy:
        parts = archive.infolist()
        if any(part.flag_bits & 1 for part in parts):
            template = N_("must be an .xlsx workbook without a password; this one is encrypted")
            raise refuse(422, "file", template)
        if any(part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for part in parts):
            raise zipfile.BadZipFile  # the standard of workbooks knows no other
        if len(parts) > _PARTS_LIMIT or sum(part.file_size for part in parts) > UNPACKED_LIMIT:
            raise _unpacks_to_too_much()
        room, tags = UNPACKED_LIMIT, _TAGS_LIMIT
        for part in parts:
            if part.filename.startswith(_DECORATION):
                continue
            with archive.open(part) as stream:  # it may unpack to more than it says
                content = stream.read(room + 1)
            room, tags = room - len(content), tags - content.count(b"<")
            if room < 0:
                raise _unpacks_to_too_much()
            if tags < 0:
                raise _too_many_cells()
            copy.writestr(part.filename, content)
        if "[Content_Types].xml" not in copy.namelist():
            raise zipfile.BadZipFile
    kept.seek(0)
    return kept


def _unpacks_to_too_much() -> InputError:
    return refuse(
        413, "file", N_("must unpack to at most %(limit)d bytes; this one has more"), limit=UNPACKED_LIMIT
    )


def _too_many_cells() -> InputError:
    return refuse(413, "file", N_("must have at most %(limit)d cells; it has more"), limit=CELLS_LIMIT)


def _read(content: io.BytesIO) -> Workbook:
    # Not at the top: it takes 150 ms, and accepting responses needs none of it.
    from openpyxl import load_workbook

    formulas: Formulas = {}
    if _FORMULA.search(content.getbuffer()):
        formulas = _formulas(load_workbook(content, read_only=True, keep_links=False))
    book: Any = load_workbook(content, read_only=True, data_only=True, keep_links=False)
    with closing(book):
        sheets: dict[str, tuple[WorkbookRow, ...]] = {}
        others: list[str] = []
        room = CELLS_LIMIT
        for sheet in book.worksheets[:_PARTS_LIMIT]:
            name = join_spaces(clean_text(str(sheet.title))).casefold()
            if name not in SHEETS or name in sheets:
                others.append(clean_text(str(sheet.title)))
                continue
            sheets[name] = tuple(_rows(name, sheet, room, formulas.get(sheet.title, {})))
            room -= sum(len(row.cells) for row in sheets[name])
        return Workbook(sheets, tuple(others))


def _formulas(book: Any) -> Formulas:
    """All formulas, as they are written, by sheet, row and column."""
    found: Formulas = {}
    with closing(book):
        for sheet in book.worksheets[:_PARTS_LIMIT]:
            if clean_text(str(sheet.title)).casefold() in SHEETS:
                found[sheet.title] = {}
                for number, cells in _stored_rows(sheet):
                    formulas = [
                        (place, cell.value) for place, cell in enumerate(cells) if cell.data_type == "f"
                    ]
                    # That of a range of cells is an object that holds its text.
                    own = {place: clean_text(str(getattr(value, "text", value))) for place, value in formulas}
                    if own:
                        found[sheet.title][number] = own
    return found


def _stored_rows(sheet: Any) -> Iterator[tuple[int, Sequence[Any]]]:
    """The rows that a sheet has, with their numbers."""
    gap: object = None
    # Limits on rows and columns, because a file may claim that its next row is the billionth.
    for number, cells in enumerate(sheet.iter_rows(max_row=_EXCEL_ROWS, max_col=COLUMNS_LIMIT), start=1):
        if cells is not gap:  # openpyxl gives one and the same row for all those that are not there
            gap = cells
            yield number, cells


def _rows(
    name: str, sheet: Any, room: int, formulas: Mapping[int, Mapping[int, str]]
) -> Iterator[WorkbookRow]:
    filled = 0
    for stored, (number, cells) in enumerate(_stored_rows(sheet), start=1):
        row = _row(number, cells)
        filled_in = row.cells.keys() | row.errors.keys()
        for place, text in formulas.get(number, {}).items():
            if place not in filled_in and cells[place].data_type != "str":  # whose result is an empty text
                row.formulas[place] = text
        held = len(filled_in) + len(row.formulas)
        filled += bool(held)
        room -= held
        if filled > ROWS_LIMIT or stored > _STORED_ROWS_LIMIT:
            template = N_("must have at most %(limit)d rows in each sheet; %(sheet)s has more")
            raise refuse(413, "file", template, limit=ROWS_LIMIT, sheet=name)
        if room < 0:
            raise _too_many_cells()
        if held:
            yield row


def _row(number: int, cells: Sequence[Any]) -> WorkbookRow:
    row = WorkbookRow(number, {})
    for column, cell in [(column, cell) for column, cell in enumerate(cells) if cell.value is not None]:
        text = clean_text(_text(cell.value))
        if cell.data_type == "e":
            row.errors[column] = text
        elif text:
            row.cells[column] = text
    return row


def _text(value: object) -> str:
    """A cell as its author sees it: numbers stored as 1.0 are 1."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def clean_text(text: str) -> str:
    """Without what nobody typed on purpose: control characters, Excel's own escapes, spaces around all of it."""
    text = text[:CELL_LIMIT].replace("_x000D_", "").replace("\r\n", "\n").replace("\r", "\n")
    kept = "".join(
        character
        for character in text
        if character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cs")
    )
    return kept.strip(_AROUND)


def join_spaces(text: str) -> str:
    """With the plain space for other kinds, which matter in what people read alone: French has some."""
    return _SPACES.sub(" ", text)
