"""What was chosen among several, or compared with a limit, without any number: a dot each."""

from collections.abc import Sequence
from dataclasses import dataclass

from server.output.charts.drawing import LINE, WIDTH, Drawing, drawing, estimate_width, text, wrap_text

_LEFT = 18
_LOOKS = {True: ("sure", 6.0), False: ("not", 3.0), None: ("may", 5.0)}
"""Dark, small, or ringed where nothing was said of it. Their sizes tell them apart without colour."""


@dataclass(frozen=True)
class PlottedChoice:
    """An answer, what came of it in words, and whether it was chosen; None where nothing was said of it."""

    label: str
    description: str
    chosen: bool | None


def choices(title: str, rows: Sequence[PlottedChoice]) -> Drawing:
    """A row for each."""
    parts: list[str] = []
    height = 0.0
    for row in rows:
        style, radius = _LOOKS[row.chosen]
        parts.append(f'<circle class="{style}" cx="7" cy="{height + LINE - 7:g}" r="{radius:g}"/>')
        for words in wrap_text(row.label, WIDTH - _LEFT - estimate_width(row.description) - 12, 3):
            height += LINE
            parts.append(text(_LEFT, height - 3, words, "strong" if row.chosen else ""))
        parts.append(text(WIDTH, height - 3, row.description, "soft", "end"))
        height += 4
    return drawing(title, [f"{row.label}: {row.description}" for row in rows], parts, height)
