"""A tree of groups, each with its number beside it and as a bar."""

from collections.abc import Sequence
from dataclasses import dataclass

from server.output.charts.drawing import LINE, WIDTH, Drawing, box, drawing, estimate_width, text, wrap_text

_STEP = 16
_BAR = 90
_ROW = 21


@dataclass(frozen=True)
class PlottedGroup:
    """A group: how deep it is, what it is called, its number and that in words."""

    depth: int
    name: str
    said: str
    value: float | None


def tree(title: str, branches: Sequence[PlottedGroup]) -> Drawing:
    """Each group below the one that it is in, as they come."""
    most = max((each.value for each in branches if each.value is not None), default=0)
    room = max((estimate_width(each.said) for each in branches), default=0) + 8
    parts: list[str] = []
    above: dict[int, float] = {}
    height = 0.0
    for branch in branches:
        x = branch.depth * _STEP
        words = wrap_text(branch.name, WIDTH - _BAR - room - x - 6)
        middle = height + _ROW / 2
        if branch.depth and branch.depth - 1 in above:
            corner = x - _STEP + 4
            start = above[branch.depth - 1]
            parts.append(f'<path class="line" d="M{corner} {start:.1f}V{middle:.1f}H{x - 3}"/>')
        above[branch.depth] = middle + 6
        parts += [text(x, middle + 4 + LINE * k, one) for k, one in enumerate(words)]
        parts.append(text(WIDTH - _BAR - 6, middle + 4, branch.said, anchor="end"))
        if branch.value is not None and branch.value > 0:
            parts.append(box(WIDTH - _BAR, middle - 5, _BAR * branch.value / most, 10, "bar"))
        height += _ROW + LINE * (len(words) - 1)
    return drawing(title, (f"{each.name}: {each.said}" for each in branches), parts, height + 2)
