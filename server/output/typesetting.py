"""Pages by typst; nothing is downloaded.

Data reach typst as JSON, never as a part of its source: no text can become markup. The same data
give the same bytes. Texts are set in the fonts that typst brings (Latin, Greek, Cyrillic, Hebrew,
Arabic, Devanagari), other scripts in a font of the machine.

Typst keeps what it has laid out in memory, for the next time: everything is made by a process of
its own (`python -m server.output.typesetting` for one), which takes that with it when it ends.
"""

import json
import re
import subprocess
import sys
import unicodedata
from base64 import b64encode
from collections.abc import Callable, Container
from functools import cache
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from server.config import ROOT
from server.inputs import N_, refuse

if TYPE_CHECKING:
    from typst import Compiler

MISSING: Final = "\N{REPLACEMENT CHARACTER}"
"""What stands for a letter that no font has."""
SPOKEN: Final = "spoken"
"""The key of a text that is in the file, and not set in type: a bookmark, what is said of a chart."""

LONGEST = 120
"""Seconds that one thing may take to be made."""
LONGEST_WAIT = 30
"""Seconds to wait for others to be made first: so long a thread that answers requests is taken."""
TURN = Lock()
"""Held while one thing is made: each takes a core and, at worst, 150 MB."""

_STANDARD: Final = "ua-1"  # tagged, with a language and a title; a letter without a glyph is an error
_PROBE = b"""
#set document(title: "Probe", date: none)
#set text(font: ("Libertinus Serif", "DejaVu Sans Mono"))
#json(bytes(sys.inputs.data)).text
"""
_CHART: Final = b"""
#set document(title: "Chart", date: none)
#set page(width: auto, height: auto, margin: 0pt, fill: none)
#image(bytes(json(bytes(sys.inputs.data)).svg), format: "svg", alt: "Chart")
"""
_DOTS = 288  # of a picture, to an inch
_VIEW = re.compile(r'viewBox="[\d.-]+ [\d.-]+ ([\d.]+) ([\d.]+)"')


def in_a_process(module: str, order: bytes) -> bytes:
    """What `python -m module` answers to an order. Neither is ever written to a file.

    Raises
    ------
    InputError
        503, if others took longer than `LONGEST_WAIT`, or this itself longer than `LONGEST`.
    ModuleNotFoundError
        If typst is not installed.
    """
    if find_spec("typst") is None:
        raise ModuleNotFoundError(name="typst")
    if not TURN.acquire(timeout=LONGEST_WAIT):
        template = N_(
            "cannot be made now, as others are being made; nothing was changed: ask again in a minute"
        )
        raise refuse(503, "document", template)
    try:
        done = subprocess.run(  # noqa: S603 - a module of ours, named by ours
            [sys.executable, "-m", module],
            cwd=ROOT,
            input=order,
            stdout=subprocess.PIPE,
            check=True,
            timeout=LONGEST,
        )
    except subprocess.TimeoutExpired as error:
        template = N_(
            "took more than %(limit)d seconds to make, and was given up; nothing was changed: try again when this "
            "machine has less to do, or take another format"
        )
        raise refuse(503, "document", template, limit=LONGEST) from error
    finally:
        TURN.release()
    return done.stdout


def to_png(svg: str) -> bytes:
    """A drawing that stands alone as a picture, 288 dots to an inch. The same drawing gives the same bytes.

    Raises
    ------
    ModuleNotFoundError
        If typst is not installed.
    """
    return in_a_process("server.output.typesetting", json.dumps({"svg": svg}).encode())


def typeset(source: bytes, data: Any, *, system_fonts: bool) -> bytes:
    """The PDF that typst makes of a source, to which `data` are the JSON in `sys.inputs.data`.

    Raises
    ------
    RuntimeError
        If a letter has no glyph.
    """
    inputs = {"data": json.dumps(data, ensure_ascii=False)}
    pdf = _compiler(system_fonts).compile(source, format="pdf", sys_inputs=inputs, pdf_standards=_STANDARD)
    assert isinstance(pdf, bytes)
    return pdf


def can_be_set(text: str, *, system_fonts: bool) -> bool:
    """Whether there is a glyph for every letter."""
    return _is_typeset(_PROBE, {"text": text}, system_fonts=system_fonts)


def _is_typeset(source: bytes, data: Any, *, system_fonts: bool) -> bool:
    try:
        typeset(source, data, system_fonts=system_fonts)
    except RuntimeError:
        return False
    return True


def without_glyph(letters: str) -> str:
    """Those of some letters that no font of the machine has a glyph for."""
    if can_be_set("\n".join(letters), system_fonts=True):
        return ""
    if len(letters) == 1:
        return letters
    half = len(letters) // 2
    return without_glyph(letters[:half]) + without_glyph(letters[half:])


def is_right_to_left(text: str) -> bool:
    """As browsers tell (`dir="auto"`): by the first letter that has a direction."""
    directions = (unicodedata.bidirectional(letter) for letter in text)
    return next((found for found in directions if found in ("L", "R", "AL")), "L") != "L"


def replace_unprintable(source: bytes, data: Any) -> bytes:
    """The same in whatever fonts there are. Letters without glyph are shown as U+FFFD, never left out."""
    try:
        return typeset(source, data, system_fonts=False)
    except RuntimeError:
        letters = set("".join(_texts(data)))
        missing = without_glyph("".join(sorted(letters)))
        shown = change_texts(data, lambda text: _without(text, missing))
        return typeset(source, _with_pictures(shown), system_fonts=True)


def _without(text: str, missing: Container[str]) -> str:
    """A text in which U+FFFD stands for letters that are missing, and for what is written onto them."""
    shown, lost = [], False
    for letter in text:
        lost = letter in missing or (lost and unicodedata.category(letter).startswith("M"))
        shown.append(MISSING if lost else letter)
    return "".join(shown)


def _with_pictures(value: Any) -> Any:
    """A JSON value in which charts that typst cannot write as text are pictures.

    In charts it knows no letters of several glyphs (Arabic with vowels, Devanagari, some emoji), or
    would lose what they stand for. What a chart shows is told in its alternative as well.
    """
    match value:
        case {"svg": str(svg), **rest}:
            drawn = svg if _is_typeset(_CHART, {"svg": svg}, system_fonts=True) else _picture(svg)
            return {"svg": drawn, **rest}
        case dict():
            return {key: _with_pictures(part) for key, part in value.items()}
        case list():
            return [_with_pictures(part) for part in value]
    return value


def _picture(svg: str) -> str:
    """A chart as a picture of itself, still as SVG."""
    drawn = _draw_png(svg)
    width, height = size_of(svg)
    size = f'width="{width}" height="{height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">'
        f'<image {size} href="data:image/png;base64,{b64encode(drawn).decode()}"/></svg>'
    )


def _draw_png(svg: str) -> bytes:
    inputs = {"data": json.dumps({"svg": svg}, ensure_ascii=False)}
    drawn = _compiler(True).compile(_CHART, format="png", ppi=_DOTS, sys_inputs=inputs)
    assert isinstance(drawn, bytes)
    return drawn


def size_of(svg: str) -> tuple[float, float]:
    """Width and height of a drawing, in its own units."""
    view = _VIEW.search(svg)
    assert view is not None, "a chart has a viewBox"
    return float(view[1]), float(view[2])


def replace_controls(text: str) -> str:
    """Controls and halves of characters have no glyph in any font."""
    return "".join(
        MISSING if unicodedata.category(letter) in ("Cc", "Cs") and letter not in "\n\t" else letter
        for letter in text
    )


def change_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value with all texts in it changed, but for those that are not set in type."""
    match value:
        case str():
            return change(value)
        case dict():
            return {key: part if key == SPOKEN else change_texts(part, change) for key, part in value.items()}
        case list() | tuple():
            return [change_texts(part, change) for part in value]
    return value


def _texts(value: Any) -> list[str]:
    found: list[str] = []

    def note(text: str) -> str:
        found.append(text)
        return text

    change_texts(value, note)
    return found


@cache
def _compiler(system_fonts: bool) -> "Compiler":
    # Here, so that the server itself does without it.
    from typst import Compiler

    return Compiler(ignore_system_fonts=not system_fonts)


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    if "svg" in asked:
        sys.stdout.buffer.write(_draw_png(asked["svg"]))
    else:
        sys.stdout.buffer.write(replace_unprintable(asked["source"].encode(), asked["data"]))
