"""Curves over an axis, and columns behind them: chances and draws, or what changes step by step."""

from collections.abc import Sequence
from dataclasses import dataclass

from server.output.charts.axes import Axis
from server.output.charts.drawing import LINE, WIDTH, Drawing, box, drawing, format_xy, line, text
from server.output.charts.interval_plots import Label

_HEIGHT = 150
_LEFT, _RIGHT = 44, 12


@dataclass(frozen=True)
class PlottedCurve:
    """Points from left to right: joined by a line, or a dot each where nothing is in between.

    `label` stands at the highest of them, before or behind it as `anchor` says ("end" or "start").
    """

    label: str
    points: Sequence[tuple[float, float]]
    anchor: str = "start"
    dots: bool = False
    thin: bool = False


def curves(
    title: str,
    descriptions: Sequence[str],
    drawn: Sequence[PlottedCurve],
    across: tuple[Axis, Label],
    up: tuple[Axis, Label],
    columns: Sequence[tuple[float, float, float]] = (),
) -> Drawing:
    """Curves and columns (begin, end, height); `descriptions` is what they show."""
    (axis, label), (levels, level) = across, up
    top, foot = float(LINE), LINE + _HEIGHT
    parts: list[str] = []
    for mark in levels.ticks:
        y = _place(levels, mark)
        parts.append(line(_LEFT, y, WIDTH - _RIGHT, y, "limit" if mark == levels.low else "tick"))
    parts += [
        text(_LEFT - 8, _place(levels, mark) + 4, level(mark), "mark", "end") for mark in levels.labelled
    ]
    for begin, end, height in columns:
        low, high, y = _at(axis, begin), _at(axis, end), max(_place(levels, height), top)
        parts.append(box(low, y, max(high - low - 0.5, 0.5), foot - y, "bar"))
    # Beside a dot on the axis, and beside the column that a point may stand on.
    gap = max([8.0, *((_at(axis, end) - _at(axis, begin)) / 2 + 4 for begin, end, _ in columns)])
    for curve in drawn:
        places = [(_at(axis, x), _place(levels, y)) for x, y in curve.points]
        if curve.dots:
            style, size = ("may", 2.5) if curve.thin else ("dot", 3.5)
            parts += [
                f'<circle class="{style}" cx="{format_xy(x)}" cy="{format_xy(y)}" r="{size:g}"/>'
                for x, y in places
            ]
        else:
            path = "L".join(f"{format_xy(x)} {format_xy(y)}" for x, y in places)
            parts.append(f'<path class="range{" thin" if curve.thin else ""}" d="M{path}"/>')
        x, y = min(places, key=lambda place: place[1])
        aside = gap if curve.anchor == "start" else -gap
        parts.append(text(x + aside, max(y, LINE / 2) + 2, curve.label, anchor=curve.anchor))
    parts += [text(_at(axis, mark), foot + 13, label(mark), "mark", "middle") for mark in axis.labelled]
    return drawing(title, descriptions, parts, foot + LINE + 2)


def _at(axis: Axis, value: float) -> float:
    return _LEFT + axis.at(value) * (WIDTH - _LEFT - _RIGHT) / 100


def _place(levels: Axis, value: float) -> float:
    return LINE + _HEIGHT * (1 - levels.at(value) / 100)
