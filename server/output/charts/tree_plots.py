"""A tree of groups, each with its number beside it and as a bar."""

from collections.abc import Sequence
from dataclasses import dataclass

from server.output.charts.drawing import (
    LINE,
    WIDTH,
    Drawing,
    box,
    drawing,
    estimate_width,
    format_xy,
    text,
    wrap_text,
)

_STEP = 16
_BAR = 90
_ROW = 21


@dataclass(frozen=True)
class PlottedGroup:
    """A group: how deep it is, what it is called, its number and that in words; between which limits it may lie.

    The limits are drawn, and told in `limits` to whoever does not see them.
    """

    depth: int
    name: str
    value_text: str
    value: float | None
    interval: tuple[float, float] | None = None
    limits: str = ""


def tree(title: str, branches: Sequence[PlottedGroup]) -> Drawing:
    """Each group below the one that it is in, as they come."""
    ends = [each.interval[1] for each in branches if each.interval is not None]
    most = max([each.value for each in branches if each.value is not None] + ends, default=0)
    room = max((estimate_width(each.value_text) for each in branches), default=0) + 8
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
        parts.append(text(WIDTH - _BAR - 6, middle + 4, branch.value_text, anchor="end"))
        if branch.value is not None and branch.value > 0:
            parts.append(box(WIDTH - _BAR, middle - 5, _BAR * branch.value / most, 10, "bar"))
        if branch.interval is not None and most > 0:
            low, high = (WIDTH - _BAR + _BAR * max(end, 0) / most for end in branch.interval)
            marks = "".join(f"M{format_xy(at)} {format_xy(middle - 3)}v6" for at in (low, high))
            path = f"M{format_xy(low)} {format_xy(middle)}H{format_xy(high)}{marks}"
            parts.append(f'<path class="range thin" d="{path}"/>')
        height += _ROW + LINE * (len(words) - 1)
    said = (
        f"{each.name}: {each.value_text}{f' ({each.limits})' if each.limits else ''}" for each in branches
    )
    return drawing(title, said, parts, height + 2)
