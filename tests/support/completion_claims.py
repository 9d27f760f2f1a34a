"""What a respondent's browser does for a completion code, written anew from RFC 8017 and RFC 9474."""

import hashlib
import json
import math
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.collect import checked_codes, responses
from server.collect.checked_codes import CheckedCode, note_codes, open_checker
from server.inputs import InputError
from server.store.models import Survey
from server.study.completion_codes import is_genuine
from server.study.ticket_keys import find_completion_modulus
from tests.support import factories
from tests.support.factories import Published
from tests.support.ticket_buyers import EXPONENT, encode, write_text

SOME_DAY = datetime(2024, 5, 6)  # noqa: DTZ001 - in UTC, as the database holds times
LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
MEANT = b"Moneda completion"


@dataclass(frozen=True)
class DrawnClaim:
    """What a code is made of: the letters, what is sent to be signed, and what takes the blinding away again."""

    modulus: bytes
    letters: str
    sent: bytes
    inverse: int

    @property
    def receipt(self) -> str:
        """The receipt of the response that it belongs to."""
        return hashlib.sha256(self.sent).hexdigest()[:32]

    def finish(self, signed: bytes) -> str:
        """The code, in its normal form."""
        n = int.from_bytes(self.modulus, "big")
        signature = (int.from_bytes(signed, "big") * self.inverse % n).to_bytes(len(self.modulus), "big")
        bits = "".join(f"{byte:08b}" for byte in hashlib.sha256(signature).digest()[:5])
        return self.letters + "".join(LETTERS[int(bits[start : start + 5], 2)] for start in range(0, 40, 5))


def publish(database_url: str, document: dict[str, Any] | None = None, **settings: object) -> Published:
    """A survey that gives everybody who finishes a code."""
    document = document or factories.definition()
    slug = factories.draft(database_url, document)
    factories.settle(database_url, slug, completions=True, **settings)
    return factories.publish(database_url, document, slug)


def find_key(database_url: str, slug: str) -> bytes:
    """The modulus of a survey's key."""
    with factories.writing(database_url) as session:
        (link,) = responses.Links().look_up(session.connection(), {slug}).values()
        modulus = find_completion_modulus(session, link.survey.id)
    assert modulus is not None
    return modulus


def draw(modulus: bytes, factor: int | None = None) -> DrawnClaim:
    """Draw letters and blind them; with a factor of 1 they are not blind at all."""
    n = int.from_bytes(modulus, "big")
    letters = "".join(secrets.choice(LETTERS) for _ in range(12))
    encoded = int.from_bytes(encode(letters.encode() + MEANT, b"", n.bit_length() - 1), "big")
    r = factor or secrets.randbelow(n)
    assert math.gcd(r, n) == 1  # otherwise the key would be broken
    sent = encoded * pow(r, EXPONENT, n) % n
    return DrawnClaim(modulus, letters, sent.to_bytes(len(modulus), "big"), pow(r, -1, n))


def claim(database_url: str, link: str, drawn: DrawnClaim, now: datetime) -> bytes | tuple[int, str]:
    """Ask for the signature; or the status and field of a refusal."""
    body = f'{{"blinded":"{write_text(drawn.sent)}"}}'.encode()
    try:
        with factories.writing(database_url) as session:
            return responses.grant(session.connection(), responses.parse_claim(link, body), now)
    except InputError as error:
        return error.status, error.problems[0].field


def finish(database_url: str, slug: str, version: str, reports: Sequence[int] = ()) -> str:
    """The code of somebody who answers, with a No to all if nothing else is said."""
    drawn = draw(find_key(database_url, slug))
    with factories.writing(database_url) as session:
        (link,) = responses.Links().look_up(session.connection(), {slug}).values()
        body = {
            "id": drawn.receipt,
            "version": version,
            "reports": [*reports] or [0] * len(link.version.reports),
        }
        responses.accept(session.connection(), slug, json.dumps(body).encode(), SOME_DAY)
    signed = claim(database_url, slug, drawn, SOME_DAY)
    assert isinstance(signed, bytes), signed
    return drawn.finish(signed)


def check_codes(session: Session, survey: Survey, codes: Sequence[str]) -> list[CheckedCode]:
    """What becomes of codes that a panel hands in."""
    return note_codes(session, survey, codes, open_checker(session, survey)(codes))


@contextmanager
def noting_connections(engine: sa.Engine) -> Iterator[list[int]]:
    """How many connections are in use whenever a code is held against the key: the dear part of checking."""
    used: list[int] = []

    def note(code: str, sign: Callable[[bytes], bytes]) -> bool:
        used.append(engine.pool.checkedout())  # type: ignore[attr-defined]
        return is_genuine(code, sign)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checked_codes, "is_genuine", note)
        yield used
