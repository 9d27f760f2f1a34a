"""CSV that no spreadsheet can be tricked with: numbers stay numbers, and no text can start a formula."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

_FORMULA_SIGNS = set("=+-@＝＋－＠")
# Where a semicolon separates cells (Excel in Spanish), one inside a text begins a new cell, and so does a line end.
_CELL_WITHIN = re.compile(r"([;\t\r\n]\s*)(?='*[=+\-@＝＋－＠])")


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """The rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: object) -> object:
    """Neutralise a text that a spreadsheet would run; numbers stay numbers."""
    if isinstance(value, str):
        return neutralise_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else value


@lru_cache(maxsize=1 << 12)  # the same few texts stand in many rows
def neutralise_text(text: str) -> str:
    """A text that looks as if it had been neutralised gets another apostrophe: two texts never become one."""
    # Spaces, line ends and invisible characters may be dropped before a cell is read.
    visible = (letter for letter in text if unicodedata.category(letter)[0] not in "CZ")
    first = next((letter for letter in visible if letter != "'"), "")
    if text.lstrip("'").startswith(("\t", "\r", "\n")) or first in _FORMULA_SIGNS:
        text = f"'{text}"
    return _CELL_WITHIN.sub(r"\1'", text)
