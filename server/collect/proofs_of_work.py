"""Work that a device does before it sends, where the operator asks for it, so that a script is not much quicker.

The task follows from the link, the hash of the receipt and the hour. Nobody is given one of their own: so none leads
from a visit to a response, and nothing has to be remembered. It is to find numbers, in ascending order, each of
which makes a hash begin with zeros: several, so that hardly anybody needs much longer than most.
`client/work.js` solves it; `tests/vectors/work.json` holds both to the same.
"""

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from server.inputs.problems import N_, refuse, shorten_value

NUMBERS: Final = 8
"""To be found."""
ZEROS: Final = 15
"""Leading bits of the hash of each."""
GRACE: Final = 24
"""Hours that an hour is taken after it: clocks of devices are wrong, and programs collect what they send later."""
SECONDS_OF_AN_OLD_PHONE: Final = NUMBERS * 2**ZEROS / 50_000
"""On average, at as many hashes a second as a sixteenth of a core of 2020 tries in a browser."""

_FORM = re.compile(rf"[0-9]{{6}}(?:[0-9a-f]{{6}}){{{NUMBERS}}}\Z")


@dataclass(frozen=True)
class Work:
    """What was found, for an hour since 1970."""

    hour: int
    numbers: tuple[int, ...]


def parse_work(text: object) -> Work:
    """The field `work` of a response: an hour, and numbers that are held against it later.

    Raises
    ------
    InputError
        If it has another form.
    """
    if not (isinstance(text, str) and _FORM.match(text)):
        template = N_(
            "must be %(limit)d characters, an hour in 6 digits and %(number)d numbers of 6 hexadecimal digits in lower "
            "case; it is %(value)s"
        )
        values = {"limit": 6 + 6 * NUMBERS, "number": NUMBERS, "value": shorten_value(text)}
        raise refuse(422, "work", template, **values)
    numbers = tuple(int(text[start : start + 6], 16) for start in range(6, len(text), 6))
    return Work(int(text[:6]), numbers)


def check_work(work: Work | None, slug: str, response_id: bytes, now: datetime) -> None:
    """Refuse what comes without the work that is asked for: what is stored of its receipt is `response_id`.

    Raises
    ------
    InputError
        428: the same response is taken with other work.
    """
    hour = int(now.replace(tzinfo=UTC).timestamp()) // 3600
    if work is None:
        template = N_("is required by this server, for the hour %(limit)d; load the page again")
        raise refuse(428, "work", template, limit=hour)
    # Two servers' clocks may differ by a little.
    if not hour - GRACE <= work.hour <= hour + 1:
        template = N_("must be for an hour from %(low)d to %(high)d; it is for %(value)d")
        raise refuse(428, "work", template, low=hour - GRACE, high=hour + 1, value=work.hour)
    seed = hashlib.sha256(f"{slug}:{work.hour:06d}:{response_id.hex()}".encode()).digest()
    before = -1
    for number in work.numbers:
        if number <= before or not _begins_with_zeros(seed, number):
            template = N_(
                "must hold numbers in ascending order, each with a hash for this link, receipt and hour that begins "
                "with %(limit)d zero bits; %(value)d is not such a number"
            )
            raise refuse(428, "work", template, limit=ZEROS, value=number)
        before = number


def _begins_with_zeros(seed: bytes, number: int) -> bool:
    hashed = hashlib.sha256(seed + number.to_bytes(4, "big")).digest()
    return int.from_bytes(hashed[:4], "big") >> (32 - ZEROS) == 0
