"""How much arrived when: bars on a line of days."""

from collections.abc import Sequence
from dataclasses import dataclass

from server.output.charts.drawing import LINE, WIDTH, Drawing, box, drawing, line, text

_HEIGHT = 90


@dataclass(frozen=True)
class DayBar:
    """A period, in percent of the drawing: its area is its number. `description` is what it shows."""

    start: float
    width: float
    height: float
    description: str


def bars(title: str, drawn: Sequence[DayBar], first: str, last: str, highest: str) -> Drawing:
    """Bars between two labels; the tallest one's height is `highest`."""
    foot = LINE + _HEIGHT
    parts = [text(0, LINE - 4, highest, "mark"), line(0, LINE, WIDTH, LINE, "tick")]
    for drawn_day in drawn:
        width = max(drawn_day.width * WIDTH / 100 * 0.88, 0.5)
        height = drawn_day.height * _HEIGHT / 100
        parts.append(box(drawn_day.start * WIDTH / 100, foot - height, width, height, "bar"))
    parts.append(line(0, foot, WIDTH, foot, "limit"))
    parts += [text(0, foot + 12, first, "mark"), text(WIDTH, foot + 12, last, "mark", "end")]
    return drawing(title, (each.description for each in drawn), parts, foot + LINE + 2)
