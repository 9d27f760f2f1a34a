"""A response that is stored -> the blind signature of its completion code.

The receipt of such a response is the hash of a blinded message. So whoever shows the message shows that the response is
theirs, each response is good for one message and for one code, and nothing is stored of that: asked again, the server
signs the same again. The message says nothing of the code (`server.study.blind_signatures`).
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from server.collect.responses.open_links import Links, find
from server.collect.responses.taking_back import is_stored
from server.collect.submissions import ID_LENGTH, LOOK_LIMIT, hash_receipt
from server.collect.tickets import decode_text
from server.inputs import N_, parse_json, refuse
from server.store.sealed_secrets import LostKeyError
from server.study.blind_signatures import SIGNATURE_LENGTH, is_below, sign_blinded
from server.study.ticket_keys import find_completion_modulus, open_key


@dataclass(frozen=True)
class CodeClaim:
    """The link that it came with, and the blinded message whose hash is the receipt of a response."""

    slug: str
    blinded: bytes


def parse_claim(slug: str, body: bytes) -> CodeClaim:
    """`{"blinded"}` -> a claim.

    Raises
    ------
    InputError
        If it has another form.
    """
    value = parse_json(body, LOOK_LIMIT)
    if not isinstance(value, dict) or value.keys() != {"blinded"}:
        raise refuse(422, "body", N_("must be a JSON object with the field blinded alone"))
    blinded = decode_text(value["blinded"], SIGNATURE_LENGTH)
    if blinded is None:
        raise refuse(422, "blinded", N_("must be %(limit)d bytes in base64url"), limit=SIGNATURE_LENGTH)
    return CodeClaim(slug, blinded)


def write_receipt(blinded: bytes) -> bytes:
    """The receipt of the response that a blinded message belongs to."""
    return hashlib.sha256(blinded).digest()[:ID_LENGTH]


def grant(connection: sa.Connection, claim: CodeClaim, now: datetime) -> bytes:
    """The blind signature for a response that is stored; the connection sees one moment, and nothing is changed.

    Raises
    ------
    InputError
        404 if there is no such response, 410 if the survey is closed or has no such codes, or their `key` is lost.
    """
    there = is_stored(connection, claim.slug, hash_receipt(write_receipt(claim.blinded)), now)
    link = find(Links(locks=False).look_up(connection, {claim.slug}), claim.slug)
    modulus = find_completion_modulus(connection, link.survey.id)
    if modulus is None:
        raise refuse(410, "blinded", N_("must be left out; this survey gives no completion codes"))
    if not there:
        raise refuse(404, "blinded", N_("must belong to a response that is stored; it does not"))
    if not is_below(claim.blinded, modulus):
        raise refuse(422, "blinded", N_("must be a number below the modulus of this survey’s key"))
    try:
        return sign_blinded(open_key(connection, modulus), claim.blinded)
    except LostKeyError:
        template = N_("cannot be signed: the server has lost its key for secrets")
        raise refuse(410, "key", template) from None
