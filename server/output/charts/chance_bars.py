"""How likely each whole number is: a bar each, or a line where there are too many; some of them are shaded."""

from collections.abc import Sequence

from server.output.charts.drawing import LINE, WIDTH, Drawing, box, drawing, format_xy, line, text
from server.output.charts.interval_plots import Label

_HEIGHT = 110
_EDGE = 14
_MOST_BARS = 61


def chance_bars(
    title: str, chances: Sequence[float], shaded: int, label: Label, said: Sequence[str]
) -> Drawing:
    """Chances of the numbers from -r to r, those from -shaded to shaded darker; `said` is what they show."""
    reach, most, foot = len(chances) // 2, max(chances), LINE + _HEIGHT
    width = (WIDTH - 2 * _EDGE) / len(chances)

    def middle(number: int) -> float:
        return _EDGE + (number + reach + 0.5) * width

    parts = []
    if len(chances) <= _MOST_BARS:
        for place, chance in enumerate(chances):
            number, height = place - reach, _HEIGHT * chance / most
            look = "bar" if abs(number) <= shaded else "not"
            parts.append(box(middle(number) - width * 0.4, foot - height, width * 0.8, height, look))
    else:
        first, last = middle(-shaded), middle(shaded)
        parts.append(box(first, LINE, last - first, _HEIGHT, "others"))
        step = max(len(chances) // 120, 1)
        path = "L".join(
            f"{format_xy(middle(place - reach))} {format_xy(foot - _HEIGHT * chances[place] / most)}"
            for place in range(0, len(chances), step)
        )
        parts.append(f'<path class="range thin" d="M{path}"/>')
    parts.append(line(_EDGE, foot, WIDTH - _EDGE, foot, "limit"))
    parts += [
        text(middle(number), foot + 13, label(number), "mark", "middle")
        for number in dict.fromkeys((-shaded, 0, shaded))
    ]
    return drawing(title, said, parts, foot + LINE + 2)
