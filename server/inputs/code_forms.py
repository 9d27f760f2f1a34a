"""Codes of invitations, as people type them from paper -> as they are compared."""

import unicodedata

CODE_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base 32: five bits a character, without the look-alikes I, L and O, and without U."""
CODE_LENGTH = 16
"""Characters of a code: 80 bits."""

_LETTERS = frozenset(CODE_ALPHABET)
_LONGEST = 100
"""Characters that are looked at, with whatever stands between those of the code."""
_LOOK_ALIKES = str.maketrans("OIL", "011")
_FULL_WIDTH = {0xFF01 + place: 0x21 + place for place in range(94)}
"""The printable characters of ASCII, as wide as ideographs."""


def normalise_code(code: str, length: int = CODE_LENGTH) -> str | None:
    """A code in upper case, without hyphens and spaces, its look-alikes read as digits; None if it is no code.

    Whoever types from paper need not know how it was grouped; whoever pastes may bring the link around it, the
    full stop behind it, or the wide letters of an East Asian keyboard.
    """
    bare = code.replace("-", "")
    if len(bare) == length and len(code) <= _LONGEST and _LETTERS.issuperset(bare):
        return bare  # as it is printed: pages send them so, and what follows takes as long as all else of a response
    before, link, fragment = code[:2000].rpartition("#")
    kept = (fragment if link and "/s/" in before else code)[:_LONGEST]
    kept = kept.translate(_FULL_WIDTH)
    kept = "".join(c for c in kept if unicodedata.category(c) not in ("Pd", "Zs", "Cc", "Cf")).rstrip(".,;")
    kept = kept.upper().translate(_LOOK_ALIKES)
    return kept if len(kept) == length and _LETTERS.issuperset(kept) else None
