"""A table of shares as a picture: a shade for each cell, with its number and the interval below it.

What a row is stands above its cells, so that all the width is theirs: also on a phone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from server.output.charts.drawing import (
    LINE,
    WIDTH,
    Drawing,
    box,
    breaks_word,
    drawing,
    text,
    wrap_text,
)

_SHADES = 5
_MOST_COLUMNS = 6
_CELL = 38
_EDGE = 6


@dataclass(frozen=True)
class TableCell:
    """A share in a cell: its number and interval as they are written, and whether it is looked at more closely."""

    value: float
    number: str
    interval: str
    chosen: bool = False


def fits_columns(names: Sequence[str]) -> bool:
    """Whether so many columns have room for their names and for intervals."""
    room = WIDTH / len(names) - _EDGE
    return len(names) <= _MOST_COLUMNS and not any(breaks_word(name, room) for name in names)


def share_table(
    title: str,
    headings: Sequence[str],
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Sequence[Sequence[TableCell]],
) -> Drawing:
    """Below the headings, rows and columns whose names fit (`fits_columns`): the larger, the darker."""
    width = WIDTH / len(columns)
    most = max((cell.value for line in cells for cell in line), default=0.0)
    parts: list[str] = []
    height = 0.0
    for heading in headings:
        for words in wrap_text(heading, WIDTH - 2):
            height += LINE
            parts.append(text(0, height - 3, words, "strong"))
    height = _write_columns(parts, columns, height + LINE / 2)
    outlines: list[str] = []
    for name, line in zip(rows, cells, strict=True):
        for words in wrap_text(name, WIDTH - 2):
            height += LINE
            parts.append(text(0, height - 3, words))
        for place, cell in enumerate(line):
            x = place * width
            shade = round(_SHADES * max(cell.value, 0) / most) if most > 0 else 0
            parts.append(box(x, height, width, _CELL, f"heat heat-{shade}"))
            parts.append(text(x + width / 2, height + 16, cell.number, "strong", "middle"))
            parts.append(text(x + width / 2, height + 31, cell.interval, "mark", "middle"))
            if cell.chosen:
                outlines.append(box(x + 1, height + 1, width - 2, _CELL - 2, "chosen"))
        height += _CELL + 4
    said = (
        f"{name} × {column}: {cell.number} ({cell.interval})"
        for name, line in zip(rows, cells, strict=True)
        for column, cell in zip(columns, line, strict=True)
    )
    return drawing(title, said, [*parts, *outlines], height)


def _write_columns(parts: list[str], columns: Sequence[str], height: float) -> float:
    """Write what the columns are, level and close to the table; where that ends."""
    width = WIDTH / len(columns)
    worded = [wrap_text(name, width - _EDGE, 3) for name in columns]
    lines = max(map(len, worded))
    for place, words in enumerate(worded):
        for k, word in enumerate(words):
            y = height + LINE * (lines - len(words) + k + 1) - 3
            parts.append(text((place + 0.5) * width, y, word, anchor="middle"))
    return height + LINE * lines
