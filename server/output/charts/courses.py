"""How an estimate goes on from one time to the next: a dot with its interval each, joined by a line."""

from collections.abc import Sequence

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
from server.output.charts.interval_plots import Label, PlottedEstimate

_HEIGHT = 140
_LEFT, _RIGHT = 40, 20
_LINES = 3
_NARROWEST = 60.0
"""Units for each point that leave room for its name in so many lines."""


def course(title: str, points: Sequence[PlottedEstimate], axis: Axis, label: Label) -> Drawing:
    """Points from left to right, as far from each other as the next ones; what is impossible is grey."""
    foot = float(LINE + _HEIGHT)
    parts = []
    for low, high in ((axis.low, axis.first), (axis.last, axis.high)):
        top, bottom = _height(axis, high), _height(axis, low)
        if bottom > top:
            parts.append(box(_LEFT, top, WIDTH - _LEFT, bottom - top, "outside"))
    for mark in axis.ticks:
        y = _height(axis, mark)
        parts.append(line(_LEFT, y, WIDTH, y, "limit" if mark in (axis.first, axis.last) else "tick"))
    parts += [text(_LEFT - 5, _height(axis, mark) + 4, label(mark), "mark", "end") for mark in axis.labelled]
    step = (WIDTH - _LEFT - _RIGHT) / len(points)
    places = [_LEFT + step * (place + 0.5) for place in range(len(points))]
    joined = [
        f"{format_xy(x)} {format_xy(_height(axis, point.value))}"
        for x, point in zip(places, points, strict=True)
        if point.value is not None
    ]
    if len(joined) > 1:
        parts.append(f'<path class="line" d="M{"L".join(joined)}"/>')
    # Names of a few take several lines. Where those of many would lie on each other, only some are written, the last
    # always.
    widest = max(estimate_width(point.label) for point in points) + 6
    lines = _LINES if step >= _NARROWEST and widest > step else 1
    every = 1 if lines > 1 else max(1, -int(-widest // step))
    for place, (x, point) in enumerate(zip(places, points, strict=True)):
        if point.interval is not None:
            low, high = (_height(axis, end) for end in point.interval)
            parts.append(f'<path class="range" d="M{format_xy(x)} {format_xy(low)}V{format_xy(high)}"/>')
        if point.value is not None:
            y = _height(axis, point.value)
            parts.append(f'<circle class="dot" cx="{format_xy(x)}" cy="{format_xy(y)}" r="4.5"/>')
        if (len(points) - 1 - place) % every == 0:
            written = wrap_text(point.label, step - 6, lines) if lines > 1 else [point.label]
            for number, words in enumerate(written):
                parts.append(text(x, foot + 13 + LINE * number, words, "mark", "middle"))
    height = foot + LINE * lines + 2
    return drawing(title, (f"{point.label}: {point.value_text}" for point in points), parts, height)


def _height(axis: Axis, value: float) -> float:
    return LINE + _HEIGHT * (1 - axis.at(value) / 100)
