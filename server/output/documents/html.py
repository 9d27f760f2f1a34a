"""A document as one HTML file that needs nothing else."""

import hashlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from server.config import ROOT
from server.output.documents.model import Cell, Document, Table, Text
from server.output.documents.vocabulary import Words
from server.output.style_sheets import shorten_sheet

SHEETS = ("style.css", "drawings.css", "report.css")
"""The style sheets of a report, in `client/`."""
_SHORT = 40  # letters of a text that needs no room


@cache
def style(sheets: tuple[str, ...] = SHEETS) -> str:
    """The style sheet inside every page."""
    return "\n" + "".join(shorten_sheet((ROOT / "client" / name).read_text("utf-8")) for name in sheets)


@cache
def policy(sheets: tuple[str, ...] = SHEETS) -> str:
    """The content security policy of every page: nothing is loaded, nothing runs, its own style sheet alone counts."""
    digest = b64encode(hashlib.sha256(style(sheets).encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'"


def to_html(
    document: Document,
    template: str = "documents/document.html",
    sheets: tuple[str, ...] = SHEETS,
    **around: object,
) -> str:
    """The document as one HTML file that loads nothing; another template may show it in another way."""
    page = Words(document.language).environment.get_template(template)
    return page.render(document=document, style=style(sheets), policy=policy(sheets), rows=rows, **around)


@dataclass(frozen=True)
class _Row:
    """A row of a table on a page. `head` spans `span` rows; those below it have none.

    `long` are the columns of the table whose texts need room.
    """

    head: Cell | None
    span: int
    cells: Sequence[Cell]
    long: frozenset[int]


def rows(table: Table) -> Iterator[list[_Row]]:
    """The rows, those that begin with the same cell together."""
    long = frozenset(
        place
        for row in table.rows
        for place, cell in enumerate(row)
        if isinstance(cell, Text) and len(cell.text) > _SHORT
    )
    for head, group in groupby(table.rows, key=lambda row: row[0]):
        together = list(group)
        first = _Row(head, len(together), together[0][1:], long)
        yield [first, *(_Row(None, 0, row[1:], long) for row in together[1:])]
