"""A code and a blinded message -> its signature: the code is used then, whether a response ever comes of it or not."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from server.collect import invitation_batches, response_codes
from server.collect.response_codes import Code
from server.collect.responses.open_links import (
    Links,
    ResponseLink,
    check_room,
    check_standing,
    count_room,
    find,
    find_link_standing,
)
from server.collect.submissions import LOOK_LIMIT, parse_invitation
from server.collect.tickets import decode_text
from server.inputs import N_, parse_json, refuse
from server.store.models import InvitationBatch
from server.store.own_tables import invitations_of, purchases_of
from server.store.sealed_secrets import LostKeyError
from server.study.blind_signatures import SIGNATURE_LENGTH, is_below, sign_blinded
from server.study.ticket_keys import open_key


@dataclass(frozen=True)
class Purchase:
    """The link that a code came with, the code in its normal form, and the blinded message to be signed for it."""

    slug: str
    code: str
    blinded: bytes


@dataclass(frozen=True)
class Sale:
    """The blind signature, and how many codes of this link have bought a ticket, at least.

    `among` is counted in the steps in which everything is shown: 0 below the first of them.
    """

    signature: bytes
    among: int


def parse_purchase(slug: str, body: bytes) -> Purchase:
    """`{"invitation", "blinded"}` -> a purchase.

    Raises
    ------
    InputError
        If it has another form.
    """
    value = parse_json(body, LOOK_LIMIT)
    if not isinstance(value, dict) or value.keys() != {"invitation", "blinded"}:
        raise refuse(
            422, "body", N_("must be a JSON object with the fields invitation and blinded, and no other")
        )
    blinded = decode_text(value["blinded"], SIGNATURE_LENGTH)
    if blinded is None:
        template = N_("must be %(limit)d bytes in base64url")
        raise refuse(422, "blinded", template, limit=SIGNATURE_LENGTH)
    return Purchase(slug, parse_invitation(value["invitation"]), blinded)


def sell(connection: sa.Connection, purchase: Purchase, now: datetime, links: Links) -> Sale:
    """Sign a blinded message for a code, which is used then; the same message again is answered alike.

    Parameters
    ----------
    connection : Connection
        In a transaction that may write; the caller commits, and answers only then.

    Raises
    ------
    InputError
        Nothing was changed. The field is `key` where it is lost: asking again does not help.
    """
    link = find(links.look_up(connection, {purchase.slug}), purchase.slug)
    check_standing(find_link_standing(link, now))
    if link.ticket_key is None:
        raise refuse(410, "blinded", N_("must be left out; this link sells no tickets"))
    sent = link.survey.id, purchase.code
    code = response_codes.look_up(connection, [sent]).get(sent)
    again = _was_sold(connection, link.survey.id, purchase)
    known = Code(code.stratum_id, spent=False) if code is not None and again else code
    response_codes.check(known, purchase.code, link.invited, link.stratum_id)
    if not again:  # it would be used for nothing
        check_room(count_room(connection, link.survey))
    if not is_below(purchase.blinded, link.ticket_key):
        raise refuse(422, "blinded", N_("must be a number below the modulus of this link’s key"))
    try:
        signature = sign_blinded(open_key(connection, link.ticket_key), purchase.blinded)
    except LostKeyError:
        template = N_("cannot be signed: the server has lost its key for secrets. Your code stays as it is")
        raise refuse(410, "key", template) from None
    if not again:
        response_codes.spend(connection, [sent])
        connection.execute(sa.insert(purchases_of(link.survey.id)).values(**_row_of(purchase)))
    return Sale(signature, count_among(connection, link))


def count_among(connection: sa.Connection, link: ResponseLink) -> int:
    """How many codes of a link have bought a ticket, at least: so many people a ticket of it may be of.

    Where codes buy tickets, one is marked as used by nothing else. Others wait for this: it reads one table, once.
    """
    codes, batches = invitations_of(link.survey.id).c, InvitationBatch.__table__.c
    of_link = sa.and_(
        batches.survey_id == link.survey.id, batches.stratum_id.is_not_distinct_from(link.stratum_id)
    )
    ids = sa.select(batches.id).where(of_link)
    bought = connection.scalar(sa.select(sa.func.count()).where(codes.spent, codes.batch_id.in_(ids)))
    issued = connection.scalar(sa.select(sa.func.sum(InvitationBatch.size)).where(of_link))
    return invitation_batches.count_in_steps(bought or 0, issued or 0, link.survey.minimum)


def _was_sold(connection: sa.Connection, survey_id: int, purchase: Purchase) -> bool:
    """Whether this very message was signed for this code before."""
    rows, row = purchases_of(survey_id).c, _row_of(purchase)
    same = sa.and_(rows.code_hash == row["code_hash"], rows.blinded_hash == row["blinded_hash"])
    return bool(connection.scalar(sa.select(sa.exists().where(same))))


def _row_of(purchase: Purchase) -> dict[str, bytes]:
    return {
        "code_hash": response_codes.code_hash(purchase.code),
        "blinded_hash": hashlib.sha256(purchase.blinded).digest(),
    }
