"""The body of a response -> a `Submission`; that of a question about a receipt -> what is stored of it."""

import hashlib
import re
from typing import NamedTuple

from server.collect.proofs_of_work import Work, parse_work
from server.collect.tickets import Ticket, parse_ticket
from server.inputs.code_forms import CODE_LENGTH, normalise_code
from server.inputs.decoding import parse_json
from server.inputs.problems import N_, refuse, shorten_value

RESPONSE_LIMIT = 16 * 1024
"""Largest body of a response, in bytes."""

LOOK_LIMIT = 4 * 1024
"""Largest body of a question about a code or a receipt, in bytes."""

ID_LENGTH = 16
"""Bytes of a receipt, and of what is stored of it."""

_HEX_ID = re.compile(r"[0-9a-f]{32}\Z")
_HEX_VERSION = re.compile(r"[0-9a-f]{64}\Z")


class Submission(NamedTuple):
    """A response as it arrives: well formed, not yet held against its survey. `id` is the hash of its receipt."""

    id: bytes
    version: str
    reports: bytes
    invitation: str | None = None
    work: Work | None = None
    ticket: Ticket | None = None


def parse_submission(body: bytes) -> Submission:
    """`{"id", "version", "reports", "invitation"?, "work"?, "ticket"?}` -> a `Submission`; the survey comes later."""
    value = parse_json(body, RESPONSE_LIMIT)
    if not isinstance(value, dict):
        raise refuse(422, "body", N_("must be a JSON object; it is %(value)s"), value=shorten_value(value))
    for name in value.keys() - {"id", "version", "reports", "invitation", "work", "ticket"}:
        raise refuse(
            422,
            shorten_value(name),
            N_("is not a field of a response; allowed: id, version, reports, invitation, work, ticket"),
        )
    for name in ("id", "version", "reports"):
        if name not in value:
            raise refuse(422, name, N_("is required"))
    if not (isinstance(value["id"], str) and _HEX_ID.match(value["id"])):
        raise refuse(
            422,
            "id",
            N_("must be 32 hexadecimal digits in lower case; it is %(value)s"),
            value=shorten_value(value["id"]),
        )
    if not (isinstance(value["version"], str) and _HEX_VERSION.match(value["version"])):
        raise refuse(
            422,
            "version",
            N_("must be 64 hexadecimal digits in lower case; it is %(value)s"),
            value=shorten_value(value["version"]),
        )
    reports = _parse_reports(value["reports"])
    invitation = parse_invitation(value["invitation"]) if "invitation" in value else None
    work = parse_work(value["work"]) if "work" in value else None
    ticket = parse_ticket(value["ticket"]) if "ticket" in value else None
    response_id = hash_receipt(bytes.fromhex(value["id"]))
    return Submission(response_id, value["version"], reports, invitation, work, ticket)


def parse_look(body: bytes) -> str:
    """`{"invitation"}` -> a code in its normal form, of which somebody asks whether it was used."""
    value = parse_json(body, LOOK_LIMIT)
    if not isinstance(value, dict) or value.keys() != {"invitation"}:
        raise refuse(422, "body", N_("must be a JSON object with the field invitation alone"))
    return parse_invitation(value["invitation"])


def parse_receipt(body: bytes) -> bytes:
    """`{"receipt"}` -> what is stored of it, where its response is."""
    value = parse_json(body, LOOK_LIMIT)
    if not isinstance(value, dict) or value.keys() != {"receipt"}:
        raise refuse(422, "body", N_("must be a JSON object with the field receipt alone"))
    if not (isinstance(value["receipt"], str) and _HEX_ID.match(value["receipt"])):
        # Which is a secret, and maybe nearly the right one: it is not repeated.
        raise refuse(422, "receipt", N_("must be 32 hexadecimal digits in lower case"))
    return hash_receipt(bytes.fromhex(value["receipt"]))


def hash_receipt(receipt: bytes) -> bytes:
    """What is stored of a receipt of 128 random bits: as many bits of its SHA-256. By it nobody finds the receipt."""
    return hashlib.sha256(receipt).digest()[:ID_LENGTH]


def _parse_reports(reports: object) -> bytes:
    if not isinstance(reports, list):
        raise refuse(
            422,
            "reports",
            N_("must be a list of whole numbers; it is %(value)s"),
            value=shorten_value(reports),
        )
    if set(map(type, reports)) <= {int}:
        try:
            return bytes(reports)
        except ValueError:
            pass  # which is named below
    for index, report in enumerate(reports):
        # bool is a subclass of int; true must not pass for 1.
        if type(report) is not int or not 0 <= report <= 255:
            raise refuse(
                422,
                f"reports[{index}]",
                N_("must be a whole number from 0 to 255; it is %(value)s"),
                value=shorten_value(report),
            )
    return bytes(reports)


def parse_invitation(code: object) -> str:
    """A code in its normal form.

    Raises
    ------
    InputError
        If it is none.
    """
    parsed = normalise_code(code) if isinstance(code, str) else None
    if parsed is None:
        raise refuse(
            422,
            "invitation",
            N_("must be a code of %(limit)d letters and digits; it is %(value)s"),
            limit=CODE_LENGTH,
            value=shorten_value(code),
        )
    return parsed
