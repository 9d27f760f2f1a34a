"""What a file to download is called: by a title that somebody typed and a day, safe on every system."""

import re
import unicodedata
from datetime import date
from typing import Final
from urllib.parse import quote

LONGEST: Final = 150
"""Bytes of a title in UTF-8: with a day and an ending, less than the 255 that file systems hold."""
LONGEST_PART: Final = 40
"""Bytes of each of the two parts that may follow it."""

_JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
_EDGES = f" .,-~{_JOINERS}"
_FORBIDDEN = re.compile(r'[\\/:*?"<>|]')
_FALLBACK = re.compile(r"[^A-Za-z0-9 ,._()'&+=@-]")
_RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])", re.IGNORECASE)
_ATTR_CHARS = "!#$&+-.^_`|~"  # RFC 5987, beside letters and digits


def name_file(title: str, *parts: str, day: date, ending: str) -> str:
    """`What students do in exams, codebook, 2026-11-23.csv`; a title in which nothing is left is left out."""
    clean = [_clean(title, LONGEST), *(_clean(part, LONGEST_PART) for part in parts)]
    return _assemble([*clean, day.isoformat()], ending)


def attachment(name: str) -> str:
    """The header that has a browser store an answer under a name of `name_file` (RFC 6266, RFC 5987)."""
    stem, _, ending = name.rpartition(".")
    plain = (_FALLBACK.sub("", _without_marks(part)) for part in stem.split(", "))
    fallback = _assemble([_clean(part, LONGEST) for part in plain], ending)
    return f"attachment; filename=\"{fallback}\"; filename*=UTF-8''{quote(name, safe=_ATTR_CHARS)}"


def _assemble(parts: list[str], ending: str) -> str:
    """Windows keeps some names for devices, whatever follows their first point."""
    name = f"{', '.join(filter(None, parts))}.{ending}"
    return f"_{name}" if _RESERVED.fullmatch(name.partition(".")[0].strip()) else name


def _clean(text: str, most: int) -> str:
    """A part without what a system forbids, what is not seen, and what would hide it or its ending."""
    spaced = _FORBIDDEN.sub(" ", unicodedata.normalize("NFC", text))
    words = " ".join("".join(map(_show, spaced)).split()).strip(_EDGES)
    return _shorten(words, most).rstrip(_EDGES)


def _show(letter: str) -> str:
    """A letter; a space for what ends a line; nothing for what is not seen, or turns the direction of what follows."""
    category = unicodedata.category(letter)
    if category in ("Cc", "Zl", "Zp"):
        return " "
    return letter if letter in _JOINERS or category[0] != "C" else ""


def _shorten(text: str, most: int) -> str:
    """As many whole words as so many bytes hold, of one that is longer its beginning."""
    room = text.encode()[:most].decode(errors="ignore")
    if room == text:
        return text
    words = room.rpartition(" ")[0]
    if words:
        return words
    rest = text[len(room) :]
    # What is written onto a letter stays with it, or goes with it.
    while room and rest and unicodedata.category(rest[0]).startswith("M"):
        room, rest = room[:-1], room[-1] + rest
    return room


def _without_marks(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
