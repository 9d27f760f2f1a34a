"""What chance does to an answer: a bar for each that can be entered, cut by what arrives."""

from collections.abc import Sequence
from dataclasses import dataclass

from server.output.charts.drawing import LINE, SIZE, WIDTH, Drawing, box, drawing, text, wrap_text

_SIDE = 112
_END = 60
_BAR = 14
_GAP = 8


@dataclass(frozen=True)
class OddsBar:
    """Of so many people who enter `name`, `counts[place]` arrive with the answer at that place.

    `true_place` is the place of the very answer that was entered; `description` tells it in words.
    """

    name: str
    counts: Sequence[int]
    true_place: int
    description: str


def odds_bars(title: str, rows: Sequence[OddsBar]) -> Drawing:
    """A bar for each row: dark what arrives as it was entered, pale what arrives as another answer."""
    parts: list[str] = []
    top = 0.0
    for row in rows:
        words = wrap_text(row.name, _SIDE - 8)
        height = max(LINE * len(words), _BAR)
        middle = top + height / 2
        start = middle - LINE * len(words) / 2 + SIZE
        parts += [text(0, start + LINE * line, each) for line, each in enumerate(words)]
        people, x, across = sum(row.counts), float(_SIDE), WIDTH - _SIDE - _END
        for place, count in enumerate(row.counts):
            width = across * count / people
            if count:
                parts.append(
                    box(x, middle - _BAR / 2, width, _BAR, "sure" if place == row.true_place else "others")
                )
            x += width
        parts.append(text(WIDTH, middle + 4, f"{row.counts[row.true_place]} / {people}", anchor="end"))
        top += height + _GAP
    return drawing(title, (row.description for row in rows), parts, max(top - _GAP, 0) + 2)
