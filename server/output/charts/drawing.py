"""What all drawings are made of: lines of text that fit, shapes with classes, one <svg> element."""

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape

WIDTH = 360
"""Of a drawing, in units; a phone shows one at about a pixel each."""
SIZE = 12
"""Of letters."""
LINE = 15
_ABOVE = 3  # room for accents on the first line
_LETTER = 7.2  # the usual width of one, and on the safe side

PAPER_CSS = """
text { font-size: 12px; fill: #000 }
text.soft, text.mark { fill: #444 }
text.strong { font-weight: bold }
text.mark { font-size: 11px }
.outside { fill: #eee }
.hatch { stroke: #888; stroke-width: 0.8; fill: none }
.tick { stroke: #888; stroke-width: 0.8 }
.limit { stroke: #000; stroke-width: 1 }
.range { stroke: #17544a; stroke-width: 3; fill: none }
.thin { stroke: #000; stroke-width: 1.2 }
.dot { fill: #17544a; stroke: #fff; stroke-width: 1.5 }
.bar { fill: #8fb5ac }
.sure { fill: #17544a }
.may { fill: #dce8e4; stroke: #17544a; stroke-width: 1.6 }
.not { fill: #bbb }
.others { fill: #dce8e4; stroke: #17544a; stroke-width: 0.8 }
.whole { stroke: #000; stroke-width: 1; stroke-dasharray: 3 2 }
.line { stroke: #888; stroke-width: 1; fill: none }
.chosen { fill: none; stroke: #000; stroke-width: 2 }
.heat { stroke: #888; stroke-width: 0.5; fill: #17544a }
.heat-0 { fill-opacity: 0 } .heat-1 { fill-opacity: 0.08 } .heat-2 { fill-opacity: 0.16 }
.heat-3 { fill-opacity: 0.24 } .heat-4 { fill-opacity: 0.32 } .heat-5 { fill-opacity: 0.4 }
""".strip()
"""Rules for paper, by which a drawing can also be read in black and white."""


@dataclass(frozen=True)
class Drawing:
    """One <svg> element, and everything it shows in words."""

    svg: str
    alternative: str


def drawing(
    title: str, descriptions: Iterable[str], parts: Iterable[str], height: float, width: int = WIDTH
) -> Drawing:
    """Shapes and texts together; `descriptions` is what they show, piece by piece."""
    alternative = "; ".join(descriptions)
    # `role` and the title first: that is what a screen reader says; the description follows.
    svg = (
        f'<svg class="drawing" viewBox="0 -{_ABOVE} {width} {format_xy(height + _ABOVE)}" role="img">'
        f"<title>{escape(title)}</title><desc>{escape(alternative)}</desc>{''.join(parts)}</svg>"
    )
    return Drawing(svg, f"{title}: {alternative}")


def embed_style(svg: str, css: str) -> str:
    """A drawing that stands alone: with its own style, and the name space that pages do without."""
    head, close, rest = svg.partition(">")
    space = "" if "xmlns=" in head else ' xmlns="http://www.w3.org/2000/svg"'
    return f"{head}{space}{close}<style>{css}</style>{rest}"


def text(x: float, y: float, words: str, style: str = "", anchor: str = "start") -> str:
    """A line of text."""
    style = f' class="{style}"' if style else ""
    anchor = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{format_xy(x)}" y="{format_xy(y)}"{style}{anchor}>{escape(words)}</text>'


def line(x: float, y: float, to_x: float, to_y: float, style: str) -> str:
    """A straight line."""
    begin = f'x1="{format_xy(x)}" y1="{format_xy(y)}"'
    return f'<line class="{style}" {begin} x2="{format_xy(to_x)}" y2="{format_xy(to_y)}"/>'


def box(x: float, y: float, width: float, height: float, style: str) -> str:
    """A filled rectangle."""
    size = f'width="{format_xy(width)}" height="{format_xy(height)}"'
    return f'<rect class="{style}" x="{format_xy(x)}" y="{format_xy(y)}" {size}/>'


def format_xy(number: float) -> str:
    """With at most two decimals: 12.5, 3."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


def estimate_width(words: str) -> float:
    """About how wide a text is."""
    return sum(_width(letter) for letter in words)


def wrap_text(words: str, width: float, most: int = 2) -> list[str]:
    """A text in lines that fit; what is longer than so many ends in "…"."""
    lines = [""]
    room = width
    for word in _pieces(words, width):
        needed = estimate_width(word)
        if lines[-1] and needed + _LETTER <= room:
            lines[-1] += f" {word}"
            room -= needed + _LETTER
            continue
        if lines[-1]:
            lines.append("")
            if len(lines) > most:
                return [*lines[: most - 1], _end_line(lines[most - 1], width)]
        lines[-1], room = word, width - needed
    return lines


def breaks_word(words: str, width: float) -> bool:
    """Whether a word is wider than that, of a script that does not break anywhere."""
    return any(
        estimate_width(word) > width and all(_width(letter) == _LETTER for letter in word)
        for word in words.split()
    )


def _width(letter: str) -> float:
    return 2 * _LETTER if unicodedata.east_asian_width(letter) in "WF" else _LETTER


def _pieces(words: str, width: float) -> Iterator[str]:
    """The words of a text; one that is longer than a line in parts that fit."""
    for word in words.split():
        start, needed = 0, 0.0
        for place, letter in enumerate(word):
            needed += _width(letter)
            if needed > width and place > start:
                yield word[start:place]
                start, needed = place, _width(letter)
        yield word[start:]


def _end_line(line: str, width: float) -> str:
    """A line that goes on, with the sign of that."""
    while line and estimate_width(line) + _LETTER > width:
        line = line[:-1].rstrip()
    return f"{line}…"
