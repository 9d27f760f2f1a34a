"""Names that SPSS, Stata and R all take for a variable."""

import re
from collections.abc import Iterable

LONGEST = 32
"""Letters of a name in Stata; SPSS takes 64."""
_RESERVED = frozenset(
    # SPSS:
    "all and by eq ge gt le lt ne not or to with "
    # Stata:
    "_all _b _coef _cons _n _pi _pred _rc _se _skip byte double float if in int long strl using "
    # R:
    "break else false for function inf na nan next null repeat true while".split()
)
_TEXT_TYPE = re.compile(r"str[0-9]+")


def name_variables(names: Iterable[str]) -> tuple[str, ...]:
    """A name for each, no two the same however they are capitalised.

    Of ASCII letters, digits and underscores, 32 at most, beginning with a letter, no word that one of
    the programs reserves. What has all that already keeps its name, if none before it has it.
    """
    found: list[str] = []
    taken: set[str] = set()
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9_]+", "_", name).rstrip("_") or "v"
        if not plain[0].isalpha() or plain.lower() in _RESERVED or _TEXT_TYPE.fullmatch(plain.lower()):
            plain = f"q_{plain}"
        chosen, number = plain[:LONGEST].rstrip("_"), 1
        while chosen.lower() in taken:
            number += 1
            end = f"_{number}"
            chosen = plain[: LONGEST - len(end)].rstrip("_") + end
        taken.add(chosen.lower())
        found.append(chosen)
    return tuple(found)
