"""Completion codes: each says that somebody finished, and nothing of whom or of what they answered.

A code is some letters that the respondent's browser drew, and the first of a hash of their signature, which the server
made without seeing them. Whoever has the key makes the signature anew and compares; nobody else can make a code.
`client/completion.js` makes the same of what the server sends.
"""

import hashlib
import hmac
import re
from collections.abc import Callable

from server.inputs import CODE_ALPHABET, normalise_code

DRAWN_LENGTH = 12
"""Letters that are drawn: 60 bits."""
TAG_LENGTH = 8
"""Letters that follow from the signature: 40 bits, and who guesses gets one answer for each code that is handed in."""
CODE_LENGTH = DRAWN_LENGTH + TAG_LENGTH
MEANT = b"Moneda completion"
"""Ends what is signed, so that no key can be made to sign anything else."""
_BETWEEN = re.compile(r"[\s.,;|\"'“”«»<>()\[\]]+")
"""What tables, lists and mails put around codes."""


def write_code(drawn: str, signature: bytes) -> str:
    """The code of what was drawn, in its normal form."""
    number = int.from_bytes(hashlib.sha256(signature).digest()[:5], "big")
    return drawn + "".join(CODE_ALPHABET[number >> shift & 31] for shift in range(35, -5, -5))


def read_code(text: str) -> str | None:
    """A code in its normal form, of what somebody pasted; None if it has another form."""
    return normalise_code(text, CODE_LENGTH)


def split_codes(text: str) -> list[str]:
    """The codes in what somebody pasted: a line is one, whatever groups it, or has several with something between."""
    lines = text.splitlines()
    return [code for line in lines for code in ([line] if read_code(line) else _BETWEEN.split(line)) if code]


def is_genuine(code: str, sign: Callable[[bytes], bytes]) -> bool:
    """Whether a code in its normal form was made with the key that signs."""
    drawn = code[:DRAWN_LENGTH]
    return hmac.compare_digest(write_code(drawn, sign(drawn.encode() + MEANT)), code)


def group_code(code: str) -> str:
    """As respondents read it: in groups of four."""
    return "-".join(code[start : start + 4] for start in range(0, CODE_LENGTH, 4))
