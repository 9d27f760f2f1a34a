"""A table of shares as a heat map, with its numbers in the cells."""

from collections.abc import Sequence

from server.output.charts.drawing import (
    LINE,
    WIDTH,
    Drawing,
    box,
    breaks_word,
    drawing,
    estimate_width,
    text,
    wrap_text,
)

_STEPS = 5
_NARROWEST = 46
_SIDE = 110
_ROW = 30
_ABOVE = 4
"""Pixels that words of several lines keep from the next row's, above and below."""
_UPRIGHT = 4  # columns whose headings are written level


def heat_map(
    title: str, rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[tuple[float, str]]]
) -> Drawing:
    """Rows and columns with a number and its words in each cell: the larger, the darker."""
    cell = max((WIDTH - _SIDE - 1) / len(columns), _NARROWEST)
    width = round(_SIDE + cell * len(columns) + 1)
    most = max((value for line in cells for value, _ in line), default=0.0)
    parts: list[str] = []
    top = _headings(parts, columns, cell)
    named = [wrap_text(name, _SIDE - 6) for name in rows]
    high = max(_ROW, *(LINE * len(words) + 2 * _ABOVE for words in named))
    for number, (words, line) in enumerate(zip(named, cells, strict=True)):
        y = top + number * high
        start = y + (high - LINE * len(words)) / 2 + 11
        parts += [text(0, start + LINE * k, each) for k, each in enumerate(words)]
        for place, (value, shown) in enumerate(line):
            step = round(_STEPS * max(value, 0) / most) if most > 0 else 0
            x = _SIDE + place * cell
            parts.append(box(x, y, cell, high, f"heat heat-{step}"))
            parts.append(text(x + cell / 2, y + high / 2 + 4, shown, anchor="middle"))
    said = (
        f"{name} × {column}: {words}"
        for name, line in zip(rows, cells, strict=True)
        for column, (_, words) in zip(columns, line, strict=True)
    )
    return drawing(title, said, parts, top + high * len(rows) + 1, width)


def _headings(parts: list[str], columns: Sequence[str], cell: float) -> float:
    """Write what the columns are, level where there is room for whole words; where the table begins."""
    if len(columns) <= _UPRIGHT and not any(breaks_word(name, cell - 6) for name in columns):
        worded = [wrap_text(name, cell - 6, 3) for name in columns]
        lines = max(map(len, worded))
        for place, words in enumerate(worded):
            for k, word in enumerate(words):
                y = LINE * (lines - len(words) + k) + 11
                parts.append(text(_SIDE + (place + 0.5) * cell, y, word, anchor="middle"))
        return LINE * lines + 3
    shown = [wrap_text(name, 120, 1)[0] for name in columns]
    height = min(max(map(estimate_width, shown)), 126) + 4
    for place, name in enumerate(shown):
        x = _SIDE + (place + 0.5) * cell + 4
        parts.append(f'<g transform="translate({x:.1f} {height - 3:.1f}) rotate(-90)">{text(0, 0, name)}</g>')
    return height
