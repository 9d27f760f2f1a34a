"""CSV that no spreadsheet can be tricked with: numbers stay numbers, and no text can start a formula."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence

_FORMULA_SIGNS = set("=+-@＝＋－＠")
# Where a semicolon separates cells (Excel in Spanish), one inside a text begins a new cell, and so does a line end.
_CELL_WITHIN = re.compile(r"([;\t\r\n]\s*)(?='*[=+\-@＝＋－＠])")


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """The rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: object) -> object:
    """Neutralise a text that a spreadsheet would run; numbers stay numbers.

    A text that looks as if it had been neutralised gets another apostrophe: two texts never become one.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # Spaces, line ends and invisible characters may be dropped before a cell is read.
        visible = (letter for letter in value if unicodedata.category(letter)[0] not in "CZ")
        first = next((letter for letter in visible if letter != "'"), "")
        if value.lstrip("'").startswith(("\t", "\r", "\n")) or first in _FORMULA_SIGNS:
            value = f"'{value}"
        return _CELL_WITHIN.sub(r"\1'", value)
    return "" if value is None else value
