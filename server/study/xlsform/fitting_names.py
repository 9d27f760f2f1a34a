"""Names that fit: unique, lower case, at most 40 letters, digits and underscores."""

import re
import unicodedata

_LONGEST = 40
_FITS = re.compile(rf"[a-z][a-z0-9_]{{0,{_LONGEST - 1}}}")


def fits_as_name(name: str) -> bool:
    """Whether a name is allowed as it is."""
    return _FITS.fullmatch(name) is not None


def fit_name(name: str, taken: set[str], fallback: str) -> str:
    """The nearest allowed name that is still free; it is taken from now on."""
    if name not in taken and _FITS.fullmatch(name):
        taken.add(name)
        return name
    letters = unicodedata.normalize("NFKD", name.casefold())
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    plain = re.sub(r"[^a-z0-9]+", "_", plain).strip("_") or fallback
    if not plain[0].isalpha():
        plain = f"{fallback}_{plain}"
    plain = plain[:_LONGEST].rstrip("_")
    free, number = plain, 2
    while free in taken:
        end = f"_{number}"
        free, number = plain[: _LONGEST - len(end)].rstrip("_") + end, number + 1
    taken.add(free)
    return free
