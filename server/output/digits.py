"""The digits of numbers, in languages that are written with more than one kind of them.

A kind is called as CLDR calls its numbering system. Numbers come with Latin digits, and the signs between them that
go with those, from Babel and in our own texts alike.
"""

import re
from collections.abc import Mapping

_SIGNS: Mapping[str, dict[int, int]] = {"arab": str.maketrans("0123456789.,", "٠١٢٣٤٥٦٧٨٩٫٬")}
_NUMBER = r"[0-9]+(?:[.,][0-9]+)*"
# What a template fills in, and names such as SHA-256, stand as they are.
_PIECE = re.compile(rf"(?:&#[0-9]+;|\{{\w+\}}|%\(\w+\)s|[A-Za-z][A-Za-z0-9-]*)|({_NUMBER})")
_WHOLE = re.compile(r"%\((\w+)\)d")


def write_digits(number: str, system: str) -> str:
    """A number of ours, or a time, in the digits of a numbering system; without one, as it is."""
    return re.sub(_NUMBER, lambda found: found[0].translate(_SIGNS[system]), number) if system else number


def fill_message(message: str, values: Mapping[str, object], system: str) -> tuple[str, dict[str, object]]:
    """A message and what is put in, with the digits of a numbering system.

    Whole numbers follow it, as do those of the message itself. A text stays: it may be somebody's own, and a number
    that a filter has written follows already.
    """
    reworded = _PIECE.sub(
        lambda found: write_digits(found[0], system) if found[1] else found[0], _WHOLE.sub(r"%(\1)s", message)
    )
    return reworded, {
        name: write_digits(str(value), system) if isinstance(value, int) else value
        for name, value in values.items()
    }
