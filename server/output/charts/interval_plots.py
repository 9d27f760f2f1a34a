"""Estimates with their intervals: a dot on a line, or a bar with its end; what is impossible is hatched."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from server.output.charts.axes import Axis
from server.output.charts.drawing import (
    LINE,
    WIDTH,
    Drawing,
    box,
    drawing,
    estimate_width,
    format_xy,
    line,
    text,
    wrap_text,
)

Label = Callable[[float], str]
"""How a number on an axis is written."""

_TRACK = 16
_STEP = 12
_GAP = 7
_EDGE = 10  # beside an axis, for half of a label


@dataclass(frozen=True)
class PlottedEstimate:
    """An estimate: what it is of, its numbers in words, where it lies.

    `heading` stands above it, such as the question whose answers follow. `depth` indents its words, as in a tree.
    """

    label: str
    value_text: str
    value: float | None
    interval: tuple[float, float] | None
    heading: str = ""
    depth: int = 0


def estimates(
    title: str, rows: Sequence[PlottedEstimate], axis: Axis, label: Label, behind: float | None = None
) -> Drawing:
    """Rows on one axis: a dot and its interval each; where asked, a line behind all of them at a value."""
    return _rows(title, rows, axis, label, _dot, behind)


def histogram(title: str, rows: Sequence[PlottedEstimate], axis: Axis, label: Label) -> Drawing:
    """Rows on one axis: a bar from zero each, with the interval at its end."""
    return _rows(title, rows, axis, label, _bar)


def means(title: str, rows: Sequence[tuple[PlottedEstimate, Axis, Label]]) -> Drawing:
    """Rows on an axis each."""
    parts: list[str] = []
    height = 0.0
    for row, axis, label in rows:
        height = _write_words(parts, row, height)
        parts += [*_ground(axis, height), *_dot(row, axis, height)]
        height = _labels(parts, axis, label, height + _TRACK) + LINE / 2
    return drawing(title, _say_rows([row for row, _, _ in rows]), parts, height)


def _rows(
    title: str,
    rows: Sequence[PlottedEstimate],
    axis: Axis,
    label: Label,
    draw: Callable[[PlottedEstimate, Axis, float], Iterator[str]],
    behind: float | None = None,
) -> Drawing:
    parts: list[str] = []
    height = _labels(parts, axis, label, 0) if len(rows) > 8 else 0.0
    for row in rows:
        height = _write_words(parts, row, height)
        parts += _ground(axis, height)
        if behind is not None:
            parts.append(line(_at(axis, behind), height, _at(axis, behind), height + _TRACK, "whole"))
        parts += draw(row, axis, height)
        height += _TRACK + _GAP
    height = _labels(parts, axis, label, height - _GAP + 4)
    return drawing(title, _say_rows(rows), parts, height)


def _say_rows(rows: Sequence[PlottedEstimate]) -> Iterator[str]:
    for row in rows:
        yield f"{row.heading} {row.label}: {row.value_text}".strip()


def _write_words(parts: list[str], row: PlottedEstimate, height: float) -> float:
    """Write what a row is above its line; where that ends."""
    if row.heading:
        height += LINE / 2 if height else 0
        for words in wrap_text(row.heading, WIDTH - 2):
            height += LINE
            parts.append(text(0, height - 3, words, "strong"))
    indent = row.depth * _STEP
    room = WIDTH - indent
    beside = room - estimate_width(row.value_text) - 12
    # Beside long numbers a label would be cut to a few letters a line.
    apart = beside < min(estimate_width(row.label), room / 3)
    for words in wrap_text(row.label, room if apart else beside, 3):
        height += LINE
        parts.append(text(indent, height - 3, words))
    for place, words in enumerate(wrap_text(row.value_text, WIDTH)):
        if place or apart:
            height += LINE
        parts.append(text(WIDTH, height - 3, words, anchor="end"))
    return height


def _at(axis: Axis, value: float) -> float:
    return _EDGE + axis.at(value) * (WIDTH - 2 * _EDGE) / 100


def _ground(axis: Axis, top: float) -> Iterator[str]:
    """What is behind a row: the impossible hatched, the marks."""
    first, last, end = _at(axis, axis.first), _at(axis, axis.last), WIDTH - _EDGE
    strokes = []
    for low, high in ((_EDGE, first), (last, end)):
        if high > low:
            yield box(low, top, high - low, _TRACK, "outside")
        start = low
        while start + 8 <= high:
            strokes.append(f"M{format_xy(start)} {format_xy(top + _TRACK)}l8 -{_TRACK}")
            start += 8
    if strokes:
        yield f'<path class="hatch" d="{"".join(strokes)}"/>'
    for mark in axis.ticks:
        limit = mark in (axis.first, axis.last)
        at = _at(axis, mark)
        yield line(at, top if limit else top + _TRACK - 4, at, top + _TRACK, "limit" if limit else "tick")


def _labels(parts: list[str], axis: Axis, label: Label, height: float) -> float:
    for mark in axis.labelled:
        at, words = _at(axis, mark), label(mark)
        half = estimate_width(words) / 2
        place, anchor = (
            (0.0, "start") if at < half else (WIDTH, "end") if at > WIDTH - half else (at, "middle")
        )
        parts.append(text(place, height + 11, words, "mark", anchor))
    return height + LINE


def _dot(row: PlottedEstimate, axis: Axis, top: float) -> Iterator[str]:
    middle = top + _TRACK / 2
    if row.interval is not None:
        low, high = (_at(axis, end) for end in row.interval)
        heads = _point_beyond(row.interval, axis, middle)
        style = "line" if _tells_nothing(row, axis) else "range"
        yield f'<path class="{style}" d="M{format_xy(low)} {format_xy(middle)}H{format_xy(high)}{heads}"/>'
    if row.value is not None and axis.holds(row.value):
        yield f'<circle class="dot" cx="{format_xy(_at(axis, row.value))}" cy="{format_xy(middle)}" r="4.5"/>'
    elif row.value is not None and row.interval is None:
        yield f'<path class="range" d="{_point_beyond((row.value, row.value), axis, middle)}"/>'


def _tells_nothing(row: PlottedEstimate, axis: Axis) -> bool:
    """Whether everything that is possible may be: then a row is no more to the eye than that."""
    low, high = row.interval or (axis.low, axis.high)
    return row.value is None and low <= axis.first and high >= axis.last


def _point_beyond(interval: tuple[float, float], axis: Axis, middle: float) -> str:
    """Heads of arrows, where an interval goes on beyond the drawing."""
    low, high = interval
    left = f"M7 {format_xy(middle - 5)}l-5 5l5 5" if low < axis.low else ""
    right = f"M{WIDTH - 7} {format_xy(middle - 5)}l5 5l-5 5" if high > axis.high else ""
    return left + right


def _bar(row: PlottedEstimate, axis: Axis, top: float) -> Iterator[str]:
    middle = top + _TRACK / 2
    if row.value is not None:
        zero, end = _at(axis, 0), _at(axis, row.value)
        yield box(min(zero, end), top + 2, abs(end - zero), _TRACK - 4, "bar")
    if row.interval is not None:
        low, high = (_at(axis, end) for end in row.interval)
        ends = "".join(
            f"M{format_xy(_at(axis, end))} {format_xy(middle - 4)}v8"
            for end in row.interval
            if axis.holds(end)
        )
        ends += _point_beyond(row.interval, axis, middle)
        style = "line" if _tells_nothing(row, axis) else "range thin"
        yield f'<path class="{style}" d="M{format_xy(low)} {format_xy(middle)}H{format_xy(high)}{ends}"/>'
