"""How wide the columns of a table are on paper, and on how many tables its columns are laid when they are too many."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from server.output.documents.model import Number, Table, Text

PAGE: Final = 481.0
"""Width of a page's text, in points: A4 without two margins of 20 mm."""
LONGEST_WORD: Final = 24
"""Letters; longer words may be broken anywhere."""

GAP: Final = 4.0
"""On both sides of a column, in points."""

_SIZES = (9.0, 8.0, 7.0)
_WIDEST = 45.0  # ems
_BOLDER = 1.08
_NARROW = frozenset(" .,:;'|!()[]ijltfIr·-")
_LONG = re.compile(rf"(\S{{{LONGEST_WORD}}})(?=\S{{4}})")


@dataclass(frozen=True)
class ColumnGroup:
    """Columns of a table that fit on a page.

    Attributes
    ----------
    places : tuple of int
        Which columns: the first of the table, and some others.
    widths : tuple of float
        In points.
    size : float
        Of letters, in points.
    """

    places: tuple[int, ...]
    widths: tuple[float, ...]
    size: float


@dataclass(frozen=True)
class _Needs:
    """Widths of a column in ems: without breaking a word; a line of a cell; its heading either."""

    words: float
    lines: float
    heading: float


def on_paper(table: Table) -> list[ColumnGroup]:
    """The columns of a table in the largest letters that they fit in; too many are laid on several tables."""
    needs = [_needs(table, place) for place in range(len(table.columns))]
    for size in _SIZES:
        groups = list(_groups(needs, size))
        if len(groups) == 1:
            break
    return [ColumnGroup(places, _widths([needs[place] for place in places], size), size) for places in groups]


def breakable(text: str) -> str:
    """The same text; words that are longer than lines may be can be broken."""
    return _LONG.sub("\\1\N{ZERO WIDTH SPACE}", text)


def is_of_numbers(table: Table, place: int) -> bool:
    """Whether a column holds nothing but numbers."""
    return bool(table.rows) and all(isinstance(row[place], Number) for row in table.rows)


def _needs(table: Table, place: int) -> _Needs:
    heading = [_BOLDER * _ems(word) for word in _words(table.columns[place])]
    words, lines = [0.0], [0.0]
    for row in table.rows:
        cell = row[place]
        wide = _code if isinstance(cell, Text) and cell.code else _ems
        found = [wide(line) for line in cell.text.split("\n")]
        words += found if isinstance(cell, Number) else [wide(word) for word in _words(cell.text)]
        lines += found
    least = max(*words, *heading)
    most = max(least, min(max(lines), _WIDEST))
    return _Needs(least, most, max(most, min(sum(heading), _WIDEST)))


def _groups(needs: Sequence[_Needs], size: float) -> Iterator[tuple[int, ...]]:
    """Places of columns that fit on a page, the first among them every time."""
    group = [0]
    for place in range(1, len(needs)):
        if len(group) > 1 and sum(_points(needs[other].words, size) for other in (*group, place)) > PAGE:
            yield tuple(group)
            group = [0]
        group.append(place)
    yield tuple(group)


def _widths(needs: Sequence[_Needs], size: float) -> tuple[float, ...]:
    """In points: what is needed, and of what is left of the page first what cells want, then what headings do."""
    widths = [_points(need.words, size) for need in needs]
    for wishes in ([need.lines for need in needs], [need.heading for need in needs]):
        wanted = [_points(wish, size) - width for wish, width in zip(wishes, widths, strict=True)]
        share = min(1.0, max(0.0, PAGE - sum(widths)) / (sum(wanted) or 1.0))
        widths = [width + share * more for width, more in zip(widths, wanted, strict=True)]
    return tuple(round(width, 2) for width in widths)


def _points(ems: float, size: float) -> float:
    return size * ems + 2 * GAP


def _words(text: str) -> list[str]:
    return re.split("[ \n\t\N{ZERO WIDTH SPACE}]+", breakable(text))


def _ems(text: str) -> float:
    """About the width of a text; rather too much."""
    return sum(map(_letter, text)) + 0.1


def _code(text: str) -> float:
    """The same of a name in code, whose letters are all as wide: 0.6 of letters of 0.82 em."""
    return max(_ems(text), 0.5 * len(text) + 0.1)


def _letter(letter: str) -> float:
    if letter in _NARROW:
        return 0.3
    if letter in "MW@—…" or unicodedata.east_asian_width(letter) in "WF":
        return 1.06
    if letter in "mw%" or letter.isupper():
        return 0.8
    return 0.53
