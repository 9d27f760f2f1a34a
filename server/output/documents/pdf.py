"""A document as a PDF on A4: tagged (PDF/UA-1), searchable, with bookmarks; table headers return on every page.

A letter that no font of the machine has is shown as U+FFFD, never left out; the file's title, its bookmarks and what
is said of its charts have every letter.
"""

import json
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from server.output.charts.drawing import embed_style
from server.output.documents.column_widths import GAP, PAGE, breakable, is_of_numbers, on_paper
from server.output.documents.model import (
    Block,
    Cell,
    Chart,
    Document,
    Facts,
    FindingBlock,
    FindingList,
    Number,
    Paragraph,
    Prose,
    Table,
    Text,
)
from server.output.markdown import Run
from server.output.typesetting import (
    SPOKEN,
    change_texts,
    in_a_process,
    is_right_to_left,
    replace_controls,
    size_of,
)

PAPER: Final = Path(__file__).with_name("paper.typ")

_Group = tuple[Cell | None, list[tuple[Cell, ...]]]
_Marks = dict[str, tuple[int, str]]
"""Of notes that stand below several tables: the number of each, and the table that says it."""

_TALLEST = 690.0  # points: what a page holds beside a caption
_POINTS = 0.65  # of a unit of a chart: two charts stand side by side, in letters that are still read
_LONG_CELL = 600
_TOGETHER = 16
"""Lines of a table that stands on one page whole: none of its rows is left alone on the next."""
_LINE_OF_CELL = 60  # letters


def to_pdf(document: Document) -> bytes:
    """The document as a PDF. The same document gives the same bytes."""
    order = {"source": PAPER.read_text("utf-8"), "data": laid_out(document)}
    return in_a_process("server.output.typesetting", json.dumps(order).encode())


def laid_out(document: Document) -> dict[str, Any]:
    """What `PAPER` reads."""
    css = f'svg{{font-family:"Libertinus Serif"}}{document.paper_css}'
    marks = _mark_notes(document)
    data = {
        "language": document.language,
        "title": _title(document.title),
        "subtitle": document.subtitle,
        "gap": GAP,
        "blocks": list(_blocks(document.blocks, css, marks)),
        "sections": [
            {
                "depth": depth,
                "title": _title(section.title),
                "blocks": list(_blocks(section.blocks, css, marks)),
            }
            for depth, section in document.walk()
        ],
    }
    written: dict[str, Any] = change_texts(data, replace_controls)
    return written


def _mark_notes(document: Document) -> _Marks:
    """Notes that stand below several tables: paper says each once, with a number that the other tables repeat."""
    below = [(note, table.name) for table in document.tables() for note in table.notes]
    often = Counter(note for note, _ in below)
    first = {note: name for note, name in reversed(below) if often[note] > 1}
    order = dict.fromkeys(note for note, _ in below if often[note] > 1)
    return {note: (number, first[note]) for number, note in enumerate(order, start=1)}


def _blocks(blocks: Sequence[Block], css: str, marks: _Marks) -> Iterator[dict[str, Any]]:
    """Charts that follow one another stand side by side."""
    for drawn, group in groupby(blocks, key=lambda block: isinstance(block, Chart)):
        found = [_block(block, css, marks) for block in group]
        yield from [{"kind": "charts", "charts": found}] if drawn else found


def _block(block: Block, css: str, marks: _Marks) -> dict[str, Any]:
    match block:
        case Paragraph():
            return {"kind": "paragraph", "text": _write_cell(block.text), "notice": block.notice}
        case Prose():
            return {
                "kind": "prose",
                "language": block.language,
                "passages": [
                    {
                        "items": passage.items,
                        "rtl": is_right_to_left(passage.text),
                        "lines": [[_run(run) for run in line] for line in passage.lines],
                    }
                    for passage in block.passages
                ],
            }
        case Facts():
            return {"kind": "facts", "entries": [(name, _write_cell(cell)) for name, cell in block.entries]}
        case Table():
            return _table(block, marks)
        case FindingBlock():
            return {
                "kind": "finding",
                "sentence": breakable(block.sentence),
                "meaning": breakable(block.meaning),
                "notes": [breakable(note) for note in block.notes],
                "charts": [_block(chart, css, marks) for chart in block.charts],
            }
        case FindingList():
            found = [(_write_cell(about), breakable(sentence)) for about, sentence in block.findings]
            return {"kind": "findings", "findings": found}
        case Chart():
            return {
                "svg": embed_style(block.svg, css),
                "caption": block.caption,
                "reading": block.reading,
                SPOKEN: _in_one_line(block.alternative),
                "width": _chart_width(block.svg),
            }


def _table(table: Table, marks: _Marks) -> dict[str, Any]:
    flat, groups = _group_rows(table)
    parts = [
        {
            "widths": part.widths,
            "size": part.size,
            "columns": [breakable(flat.columns[place]) for place in part.places],
            "right": [is_of_numbers(flat, place) for place in part.places],
            "groups": [
                {
                    "head": head and _write_cell(head),
                    "rows": [[_write_cell(row[place]) for place in part.places] for row in rows],
                }
                for head, rows in groups
            ],
            "breakable": any(len(cell.text) > _LONG_CELL for row in flat.rows for cell in row),
            "together": _count_lines(flat, groups) <= _TOGETHER,
        }
        for part in on_paper(flat)
    ]
    notes = [
        {"mark": number, "text": note if first in ("", table.name) else ""}
        for note in table.notes
        for number, first in [marks.get(note, (0, ""))]
    ]
    return {"kind": "table", "caption": table.caption, "parts": parts, "notes": notes}


def _count_lines(table: Table, groups: Sequence[_Group]) -> int:
    """About how many lines a table has, with those above its groups."""
    heads = sum(head is not None for head, _ in groups)
    return heads + sum(max(1 + len(cell.text) // _LINE_OF_CELL for cell in row) for row in table.rows)


def _group_rows(table: Table) -> tuple[Table, list[_Group]]:
    """Rows that begin with the same text, below it on every page; and the table that is left without that column."""
    groups = [(head, [row[1:] for row in rows]) for head, rows in groupby(table.rows, key=itemgetter(0))]
    if len(groups) == len(table.rows) or len(table.columns) == 1 or is_of_numbers(table, 1):
        return table, [(None, list(table.rows))]
    columns = (f"{table.columns[0]} · {table.columns[1]}", *table.columns[2:])
    return replace(table, columns=columns, rows=tuple(row for _, rows in groups for row in rows)), groups


def _write_cell(cell: Cell) -> dict[str, Any]:
    if isinstance(cell, Number):
        return {"text": cell.text}
    return {
        "text": breakable(cell.text),
        "language": cell.language if cell.from_survey else "",
        "rtl": cell.from_survey and is_right_to_left(cell.text),
        "strong": cell.strong,
        "code": cell.code,
    }


def _title(text: Text) -> dict[str, Any]:
    """A heading, and what it is called in the file itself: bookmarks and properties need no glyph, and no break."""
    return {**_write_cell(text), SPOKEN: _in_one_line(text.text)}


def _run(run: Run) -> dict[str, Any]:
    """Some words of Markdown, and what stands after them: a link's address."""
    return {
        "text": breakable(run.text),
        "after": breakable(run.plain_text[len(run.text) :]),
        "strong": run.strong,
        "emphasis": run.emphasis,
        "href": run.href,
    }


def _chart_width(svg: str) -> float:
    width, height = size_of(svg)
    return min(_POINTS * width, PAGE, _TALLEST * width / height)


def _in_one_line(text: str) -> str:
    """As a text that has no look: halves of characters, which no file can hold, are all that it lacks."""
    spaced = (" " if unicodedata.category(letter) == "Cc" else letter for letter in text)
    return replace_controls(" ".join("".join(spaced).split()))
