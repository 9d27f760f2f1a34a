"""What a respondent's browser does to buy a ticket, written anew from RFC 8017 and RFC 9474."""

import base64
import hashlib
import json
import math
import secrets
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from server.collect import responses
from server.inputs import InputError
from server.store.models import State, SurveyVersion
from server.study import surveys
from server.study.definitions import version_of
from server.study.ticket_keys import make_keys, open_key
from tests.support import factories
from tests.support.factories import Published

EXPONENT = 65537
MEANT = b"Moneda ticket"


@dataclass(frozen=True)
class Blinded:
    """A message that was drawn, as it is sent to be signed; `inverse` takes the blinding away again."""

    modulus: bytes
    drawn: bytes
    sent: bytes
    inverse: int

    def finish(self, signed: bytes) -> str:
        """The ticket, as a response carries it."""
        n = int.from_bytes(self.modulus, "big")
        signature = int.from_bytes(signed, "big") * self.inverse % n
        return write_text(self.drawn + signature.to_bytes(len(self.modulus), "big"))


def draw(modulus: bytes, factor: int | None = None) -> Blinded:
    """Draw a message and blind it; with a factor of 1 it is not blind at all."""
    n, drawn = int.from_bytes(modulus, "big"), secrets.token_bytes(32)
    encoded = int.from_bytes(encode(drawn + MEANT, secrets.token_bytes(48), n.bit_length() - 1), "big")
    r = factor or _draw_factor(n)
    sent = encoded * pow(r, EXPONENT, n) % n
    return Blinded(modulus, drawn, sent.to_bytes(len(modulus), "big"), pow(r, -1, n))


def encode(message: bytes, salt: bytes, bits: int) -> bytes:
    """EMSA-PSS of RFC 8017, 9.1.1, with SHA-384."""
    length = -(-bits // 8)
    hashed = hashlib.sha384(bytes(8) + hashlib.sha384(message).digest() + salt).digest()
    block = bytes(length - len(salt) - len(hashed) - 2) + b"\1" + salt
    mask = b"".join(
        hashlib.sha384(hashed + k.to_bytes(4, "big")).digest() for k in range(-(-len(block) // len(hashed)))
    )
    masked = bytearray(a ^ b for a, b in zip(block, mask, strict=False))
    masked[0] &= 0xFF >> (8 * length - bits)
    return bytes(masked) + hashed + b"\xbc"


def write_text(value: bytes) -> str:
    """As base64url, without an end."""
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def read_text(text: str) -> bytes:
    """Bytes out of that."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def publish(
    database_url: str, text: str = "", document: dict[str, Any] | None = None, *, older: bool = False
) -> tuple[Published, dict[str, str]]:
    """A survey by invitation whose codes buy tickets, with strata if there are lines; the slugs of their links.

    As an `older` release did it, its definition names keys without links.
    """
    document = document or factories.definition()
    slug = factories.draft(database_url, document)
    slugs = factories.plant(database_url, slug, text) if text else {}
    factories.settle(database_url, slug, by_invitation=True, tickets=True, minimum=1)
    if older:
        return Published(slug, _publish_without_links(database_url, slug), document), slugs
    return factories.publish(database_url, document, slug), slugs


def _publish_without_links(database_url: str, slug: str) -> str:
    """The SHA-256 of the version."""
    with factories.writing(database_url) as session:
        link = surveys.find_link(session, slug)
        assert link is not None
        survey = link[0]
        keys = tuple(("", key) for key in sorted(key for _link, key in make_keys(session, survey)))
        definition = replace(surveys.draft(survey), ticket_keys=keys)
        published = definition.to_canonical()
        sizes = bytes(design.weights.shape[1] for design in definition.designs)
        sha256, day = version_of(published), surveys.today()
        survey.versions.append(
            SurveyVersion(number=1, sha256=sha256, published=published, reports=sizes, published_on=day)
        )
        survey.state = State.OPEN
        return sha256


def find_key(database_url: str, slug: str) -> bytes:
    """The modulus of a link's key, as its page is told."""
    with factories.writing(database_url) as session:
        (link,) = responses.Links().look_up(session.connection(), {slug}).values()
        assert link.ticket_key is not None
        return link.ticket_key


def buy(
    database_url: str, link: str, code: str, blinded: Blinded, now: datetime
) -> responses.Sale | InputError:
    """Ask for the signature of a blinded message."""
    body = json.dumps({"invitation": code, "blinded": write_text(blinded.sent)}).encode()
    try:
        with factories.writing(database_url) as session:
            return responses.sell(
                session.connection(), responses.parse_purchase(link, body), now, responses.Links()
            )
    except InputError as error:
        return error


def make_tickets(database_url: str, slug: str, number: int) -> list[str]:
    """Tickets of a link that no code has bought: signed with its key, as the same signature comes by any way."""
    modulus = find_key(database_url, slug)
    with factories.writing(database_url) as session:
        key = open_key(session.connection(), modulus)
    n, d = int.from_bytes(key.modulus, "big"), key.exponent
    p, q = rsa.rsa_recover_prime_factors(n, EXPONENT, d)
    numbers = rsa.RSAPrivateNumbers(
        p,
        q,
        d,
        rsa.rsa_crt_dmp1(d, p),
        rsa.rsa_crt_dmq1(d, q),
        rsa.rsa_crt_iqmp(p, q),
        rsa.RSAPublicNumbers(EXPONENT, n),
    )
    signer, pss = numbers.private_key(), padding.PSS(padding.MGF1(hashes.SHA384()), 48)
    drawn = [secrets.token_bytes(32) for _ in range(number)]
    return [write_text(each + signer.sign(each + MEANT, pss, hashes.SHA384())) for each in drawn]


def _draw_factor(n: int) -> int:
    while True:
        drawn = secrets.randbelow(n)
        if math.gcd(drawn, n) == 1:
            return drawn
