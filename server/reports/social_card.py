"""The picture that social networks show beside a link to a public report: its title and a coin, and no number."""

from functools import lru_cache

from server.output.charts.drawing import format_xy, text, wrap_text
from server.output.typesetting import is_right_to_left, to_png

_WIDTH, _HEIGHT = 300.0, 157.5
"""Points: 1200 by 630 dots, as networks ask for, at the four dots that `to_png` draws for each."""
_EDGE = 22.0
_SIZES = ((40.0, 44.0, 1), (32.0, 36.0, 2), (25.0, 26.0, 3), (21.0, 25.0, 3))
"""Of letters and lines, and how many lines: the first that has room for a title is taken, or the last."""
_ROOM = 62.0, 142.0
"""From where to where a title may go, below the coin."""
_NARROW = 1.15
"""How many more of its letters fit than of those that `wrap_text` reckons with."""
_STYLE = """
rect { fill: #fbf8f1 }
text { font-family: "Libertinus Serif", serif; fill: #1d1b18 }
.title { font-weight: bold }
.brand { font-size: 13px; font-weight: bold }
.disc { fill: #e6c571; stroke: #b98a2c; stroke-width: 3 }
.relief { fill: none; stroke: #6b4e12; stroke-width: 4; stroke-linecap: round }
"""
_COIN = (
    '<g transform="translate(22 18) scale(0.375)"><circle class="disc" cx="48" cy="48" r="45"/>'
    '<circle class="relief" cx="48" cy="40" r="12"/>'
    '<path class="relief" d="M27 71c2-12 10-17 21-17s19 5 21 17"/></g>'
)


@lru_cache(maxsize=128)
def draw_card(title: str) -> bytes:
    """A PNG of 1200 by 630 dots.

    Raises
    ------
    ModuleNotFoundError
        If typst is not installed.
    """
    return to_png(_draw(title))


def _draw(title: str) -> str:
    size, line, lines = _fit_lines(" ".join(title.split()))
    top = (sum(_ROOM) - line * len(lines)) / 2 + 0.8 * size
    x, anchor = (_WIDTH - _EDGE, "end") if is_right_to_left(title) else (_EDGE, "start")
    written = "".join(
        text(x, top + line * place, words, "title", anchor) for place, words in enumerate(lines)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{format_xy(_WIDTH)}pt" height="{format_xy(_HEIGHT)}pt" '
        f'viewBox="0 0 {format_xy(_WIDTH)} {format_xy(_HEIGHT)}">'
        f'<style>{_STYLE}.title {{ font-size: {format_xy(size)}px }}</style><rect width="100%" height="100%"/>{_COIN}'
        f"{text(66, 41, 'Moneda', 'brand')}{written}</svg>"
    )


def _fit_lines(title: str) -> tuple[float, float, list[str]]:
    """Sizes of letters and lines, and the lines: the larger, the shorter the title."""
    # What fits is known in letters of 12 units.
    fitted = [
        (size, line, wrap_text(title, (_WIDTH - 2 * _EDGE) * 12 / size * _NARROW, most))
        for size, line, most in _SIZES
    ]
    return next((one for one in fitted if " ".join(one[2]) == title), fitted[-1])
