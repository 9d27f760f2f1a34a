"""How likely each whole number is: a bar each, or a line where there are too many; some of them are shaded."""

from collections.abc import Mapping, Sequence

from server.output.charts.drawing import LINE, WIDTH, Drawing, box, drawing, format_xy, line, text
from server.output.charts.interval_plots import Label

_HEIGHT = 110
_EDGE = 14
_MOST_BARS = 61


def chance_bars(
    title: str, chances: Mapping[int, float], shaded: int, label: Label, descriptions: Sequence[str]
) -> Drawing:
    """Chances of the numbers from -r to r, those from -shaded to shaded darker; `descriptions` is what they show.

    Of a line only some of the numbers need be there, in their order.
    """
    reach, most, foot = max(chances), max(chances.values()), LINE + _HEIGHT
    width = (WIDTH - 2 * _EDGE) / (2 * reach + 1)

    def middle(number: int) -> float:
        return _EDGE + (number + reach + 0.5) * width

    parts = []
    if 2 * reach < _MOST_BARS:
        for number, chance in chances.items():
            height = _HEIGHT * chance / most
            style = "bar" if abs(number) <= shaded else "not"
            parts.append(box(middle(number) - width * 0.4, foot - height, width * 0.8, height, style))
    else:
        first, last = middle(-shaded), middle(shaded)
        parts.append(box(first, LINE, last - first, _HEIGHT, "others"))
        path = "L".join(
            f"{format_xy(middle(number))} {format_xy(foot - _HEIGHT * chance / most)}"
            for number, chance in chances.items()
        )
        parts.append(f'<path class="range thin" d="M{path}"/>')
    parts.append(line(_EDGE, foot, WIDTH - _EDGE, foot, "limit"))
    parts += [
        text(middle(number), foot + 13, label(number), "mark", "middle")
        for number in dict.fromkeys((-shaded, 0, shaded))
    ]
    return drawing(title, descriptions, parts, foot + LINE + 2)
