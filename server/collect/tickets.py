"""Tickets: a code buys one, blindly, and a response spends it, once; nothing leads from one to the other.

What is bought (`server.collect.responses.selling`) is the signature of something that the respondent's browser drew and
that the server has not seen. When a response brings both, the server sees that it signed this for somebody, and not for
whom: each of the blinded messages that it has ever signed could have become this ticket, and is as likely to have.
"""

import base64
import hashlib
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import NamedTuple

import sqlalchemy as sa

from server.inputs.problems import N_, refuse
from server.store.own_tables import group_by_survey, tickets_of
from server.store.prepared_statements import (
    Prepared,
    give_several,
    is_one_of,
    list_several,
    prepare_several,
)
from server.study.blind_signatures import PREFIX_LENGTH, SIGNATURE_LENGTH, is_signed

HASH_LENGTH = hashlib.sha256().digest_size
MEANT = b"Moneda ticket"
"""Ends what is signed, so that no key can be made to sign anything else."""
_TEXT_LENGTH = (PREFIX_LENGTH + SIGNATURE_LENGTH) * 4 // 3


SpentKey = tuple[int, bytes]
"""The survey's id, and the hash of what was drawn: all that is kept of a ticket that was spent."""


class Ticket(NamedTuple):
    """What the browser drew, and the signature of that."""

    drawn: bytes
    signature: bytes


def parse_ticket(text: object) -> Ticket:
    """The field `ticket` of a response.

    Raises
    ------
    InputError
        If it has another form.
    """
    whole = decode_text(text, PREFIX_LENGTH + SIGNATURE_LENGTH)
    if whole is None:
        # Which is a secret until it is spent, and maybe nearly the right one: it is not repeated.
        raise refuse(
            422, "ticket", N_("must be %(limit)d letters and digits of base64url"), limit=_TEXT_LENGTH
        )
    return Ticket(whole[:PREFIX_LENGTH], whole[PREFIX_LENGTH:])


def decode_text(text: object, length: int) -> bytes | None:
    """So many bytes (a multiple of three, or written without the end) out of base64url; None for anything else."""
    if not isinstance(text, str) or len(text) != -(-length * 4 // 3) or not text.isascii():
        return None
    try:
        found = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError:
        return None
    # One way to write it: what is the same arrives as the same.
    same = base64.urlsafe_b64encode(found).rstrip(b"=").decode() == text
    return found if same and len(found) == length else None


def check(ticket: Ticket | None, modulus: bytes | None) -> None:
    """Hold the ticket of a response against the key of its link, if that has one; whether it was spent is seen after.

    Raises
    ------
    InputError
        If the link asks for a ticket and there is none, or one of no use; if it does not, and there is one.
    """
    if modulus is None:
        if ticket is not None:
            raise refuse(410, "ticket", N_("must be left out; this link takes no tickets"))
        return
    if ticket is None:
        raise refuse(422, "ticket", N_("is required; a code buys one"))
    if not is_signed(modulus, ticket.drawn + MEANT, ticket.signature):
        raise refuse(422, "ticket", N_("must be one that was bought for this link; it is not"))


def check_new(key: SpentKey | None, spent: Collection[SpentKey]) -> None:
    """Hold a ticket against those that were spent.

    Raises
    ------
    InputError
        409.
    """
    if key in spent:
        raise refuse(409, "ticket", N_("must be new; this one was used already"))


def key_of(survey_id: int, ticket: Ticket | None) -> SpentKey | None:
    """What tells a ticket from others: what was drawn alone, so that another signature of it is no other ticket."""
    return None if ticket is None else (survey_id, hashlib.sha256(ticket.drawn).digest())


def find_spent(connection: sa.Connection, keys: Iterable[SpentKey | None]) -> set[SpentKey]:
    """Those of some tickets that were spent."""
    found: set[SpentKey] = set()
    dialect = connection.dialect.name
    for survey_id, hashes in group_by_survey(key for key in keys if key is not None):
        values = {"hashes": give_several(dialect, hashes)}
        rows = _finding(survey_id, dialect).fetch(connection, values)
        found |= {(survey_id, bytes(known)) for (known,) in rows}
    return found


def spend(connection: sa.Connection, survey_id: int, sent: Iterable[Ticket | None]) -> None:
    """Note tickets of a survey as spent, in an order that tells nothing of whose they were."""
    keys = sorted(key for key in (key_of(survey_id, each) for each in sent) if key is not None)
    if not keys:
        return
    dialect = connection.dialect.name
    if dialect == "sqlite":
        _noting(survey_id, dialect).run_each(connection, [{"id": hashed} for _survey, hashed in keys])
    else:  # whose driver takes longer over many rows than the database over storing them
        hashes = give_several(dialect, [hashed for _survey, hashed in keys])
        _noting(survey_id, dialect).run(connection, {"hashes": hashes})


@lru_cache(maxsize=1024)
def _finding(survey_id: int, dialect: str) -> Prepared:
    spent = tickets_of(survey_id).c.id
    query = sa.select(spent).where(is_one_of(dialect, spent, "hashes", HASH_LENGTH))
    return prepare_several(dialect, query, "hashes")


@lru_cache(maxsize=1024)
def _noting(survey_id: int, dialect: str) -> Prepared:
    table = tickets_of(survey_id)
    insert = sa.insert(table)
    return Prepared(
        insert
        if dialect == "sqlite"
        else insert.from_select([table.c.id], list_several("hashes", HASH_LENGTH))
    )
