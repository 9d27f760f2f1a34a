"""How many came from each step to the next: a box for each, from the top down, and beside them who did not."""

from collections.abc import Sequence
from dataclasses import dataclass

from server.output.charts.drawing import LINE, SIZE, WIDTH, Drawing, drawing, format_xy, line, text, wrap_text

_BOX = 210
_BESIDE = 12
_PAD = 8
_DOWN = 30


@dataclass(frozen=True)
class FlowStep:
    """A step: what it is, how many are in it in words, and who does not come to the next one (nothing where nobody)."""

    name: str
    amount: str
    dropouts: str = ""


def flow(title: str, steps: Sequence[FlowStep]) -> Drawing:
    """The steps in order, an arrow from each to the next."""
    parts: list[str] = []
    top, middle = 1.0, _BOX / 2
    for place, step in enumerate(steps):
        words = wrap_text(step.name, _BOX - 2 * _PAD)
        height = LINE * (len(words) + 1) + 2 * _PAD
        parts.append(
            f'<path class="line" d="M1 {format_xy(top)}H{_BOX}V{format_xy(top + height)}H1Z"/>'
        )  # a path has no filling of its own on paper
        baseline = top + _PAD + SIZE - 1
        parts += [text(middle, baseline + LINE * k, each, anchor="middle") for k, each in enumerate(words)]
        parts.append(text(middle, baseline + LINE * len(words), step.amount, "strong", "middle"))
        top += height
        if place == len(steps) - 1:
            break
        foot = top + _DOWN
        parts.append(line(middle, top, middle, foot - 1, "line"))
        parts.append(
            f'<path class="line" d="M{middle - 4} {format_xy(foot - 6)}L{middle} {format_xy(foot - 1)}'
        )
        parts[-1] += f'L{middle + 4} {format_xy(foot - 6)}"/>'
        if step.dropouts:
            beside = wrap_text(step.dropouts, WIDTH - middle - _BESIDE)
            start = top + _DOWN / 2 + 4 - LINE * (len(beside) - 1) / 2
            parts.append(line(middle, top + _DOWN / 2, middle + _BESIDE - 4, top + _DOWN / 2, "line"))
            parts += [text(middle + _BESIDE, start + LINE * k, each, "mark") for k, each in enumerate(beside)]
        top = foot
    told = (
        f"{step.name}: {step.amount}" + (f" ({step.dropouts})" if step.dropouts else "") for step in steps
    )
    return drawing(title, told, parts, top + 2)
