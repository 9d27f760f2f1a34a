"""What is on the pages of a PDF that typst wrote: its text, and its QR codes as modules."""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

QUIET = 4  # modules around a code

_OBJECT = re.compile(rb"\n(\d+) 0 obj\n(.*?)\nendobj", re.DOTALL)
_STREAM = re.compile(rb"stream\n(.*)\nendstream", re.DOTALL)
_GLYPH = re.compile(r"^<([0-9A-F]{4})> <([0-9A-F]+)>$", re.MULTILINE)
_PIECE = re.compile(rb"\nq 1 0 0 -1 ([\d.-]+) ([\d.-]+) cm(.*?)\nQ(?=\n)", re.DOTALL)
_SHOWN = re.compile(rb"/(f\d+) [\d.]+ Tf|(/Alt)?\(|\bET\b")
_BRACKET = re.compile(rb"\\.|[()]", re.DOTALL)
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)
_NAMED = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}
_FIGURE = re.compile(rb"\n[^\n]* 0 scn ((?:\d+ \d+ m(?: \d+ \d+ l){3}\s+h\s+)+)")
_BOX = re.compile(rb"(\d+) (\d+) m (\d+) \d+ l")


@dataclass(frozen=True)
class PdfPage:
    """The text, a line end after each piece; and a set of (column, row) of dark modules for each QR code."""

    text: str
    codes: list[set[tuple[int, int]]]


@dataclass(frozen=True)
class Piece:
    """What is shown at one place, in points from the left and from the bottom: a text, or what draws a line."""

    x: float
    y: float
    text: str
    drawn: bytes


def list_pieces(pdf: bytes) -> list[list[Piece]]:
    """What is shown on every page, in order."""
    objects = {int(number): body for number, body in _OBJECT.findall(pdf)}
    return [
        [
            Piece(float(x), float(y), _read_text(drawn, letters), drawn)
            for x, y, drawn in _PIECE.findall(content)
        ]
        for content, letters in _list_contents(objects, pdf)
    ]


def pages(pdf: bytes) -> list[PdfPage]:
    """Every page, in order."""
    objects = {int(number): body for number, body in _OBJECT.findall(pdf)}
    return [
        PdfPage(_read_text(content, letters), [_dark(figure) for figure in _FIGURE.findall(content)])
        for content, letters in _list_contents(objects, pdf)
    ]


def _list_contents(
    objects: dict[int, bytes], pdf: bytes
) -> Iterator[tuple[bytes, dict[bytes, dict[int, str]]]]:
    """What draws each page, and the letters of its fonts."""
    (kids,) = re.findall(rb"/Type/Pages/Count \d+/Kids\[([^\]]*)\]", pdf)
    for number in re.findall(rb"(\d+) 0 R", kids):
        page = objects[int(number)]
        fonts = re.findall(rb"/(f\d+) (\d+) 0 R", objects[_reference(page, b"Resources")])
        letters = {name: _letters(objects, objects[int(font)]) for name, font in fonts}
        yield _content(objects[_reference(page, b"Contents")]), letters


def _read_text(content: bytes, letters: dict[bytes, dict[int, str]]) -> str:
    text, font = "", b""
    place = 0
    while found := _SHOWN.search(content, place):
        place = found.end()
        if found[1]:
            font = found[1]
        elif found[0] == b"ET":
            text += "\n"
        else:
            place = _end_of_text(content, place)
            if found[2]:  # what is said of a picture
                continue
            glyphs = _ESCAPE.sub(_unescape_byte, content[found.end() : place - 1])
            pairs = zip(glyphs[::2], glyphs[1::2], strict=True)
            text += "".join(letters[font].get(256 * high + low, "") for high, low in pairs)
    return text


def _end_of_text(content: bytes, place: int) -> int:
    """Behind the bracket that closes a text; a text may hold pairs of brackets."""
    depth = 1
    while depth:
        found = _BRACKET.search(content, place)
        assert found is not None
        depth += {b"(": 1, b")": -1}.get(found[0], 0)
        place = found.end()
    return place


def _dark(figure: bytes) -> set[tuple[int, int]]:
    boxes = [tuple(map(int, box)) for box in _BOX.findall(figure)]
    return {(column - QUIET, row - QUIET) for left, row, right in boxes for column in range(left, right)}


def _letters(objects: dict[int, bytes], font: bytes) -> dict[int, str]:
    found = _GLYPH.findall(_content(objects[_reference(font, b"ToUnicode")]).decode())
    return {int(glyph, 16): bytes.fromhex(letters).decode("utf-16-be") for glyph, letters in found}


def _content(body: bytes) -> bytes:
    stream = _STREAM.search(body)
    assert stream is not None
    return zlib.decompress(stream[1])


def _reference(body: bytes, name: bytes) -> int:
    found = re.search(rb"/%b (\d+) 0 R" % name, body)
    assert found is not None
    return int(found[1])


def _unescape_byte(found: re.Match[bytes]) -> bytes:
    escape = found[1]
    return bytes([int(escape, 8)]) if escape.isdigit() else _NAMED.get(escape, escape)
