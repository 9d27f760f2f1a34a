"""The keys that sign tickets, one for each link, made when a survey is published. Functions never commit.

A published definition, whose hash everybody can compare, says for each link which is its key: nobody is given one of
their own, nor that of another link, by which a ticket could be known again.
"""

import hashlib
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.inputs import N_, refuse
from server.store.models import State, Stratum, Survey, TicketKey
from server.store.sealed_secrets import LostKeyError, keep_key, seal, unseal
from server.study.blind_signatures import SigningKey, make_key
from server.study.definitions.definition import LINK_NAME_LENGTH, NamedKeys

MOST_LINKS = 50
"""With a key each: while these are made, on SQLite nothing else is stored. A browser takes no definition with more."""


def make_keys(session: Session, survey: Survey) -> NamedKeys:
    """Give every working link of a survey with tickets its key, where it has none; what its definition says of them.

    Raises
    ------
    InputError
        If there are too many links, or the file of the key that seals cannot be used.
    """
    if not survey.tickets:
        return ()
    part = sa.orm.aliased(Stratum)
    leaves = sa.select(Stratum.id, Stratum.slug).where(
        Stratum.survey_id == survey.id, ~sa.exists().where(part.parent_id == Stratum.id)
    )
    links: dict[int | None, str] = {None: survey.link}
    links |= {stratum: slug for stratum, slug in session.execute(leaves.order_by(Stratum.id))}
    if len(links) > MOST_LINKS:
        template = N_("must be left out where there are more than %(limit)s links; there are %(value)s")
        raise refuse(409, "tickets", template, limit=MOST_LINKS, value=len(links))
    of_tickets = TicketKey.survey_id == survey.id, ~TicketKey.completes
    known = set(session.scalars(sa.select(TicketKey.stratum_id).where(*of_tickets)))
    for link in links:
        if link not in known:
            session.add(_make_row(session, "tickets", survey_id=survey.id, stratum_id=link))
    session.flush()
    moduli = session.execute(sa.select(TicketKey.stratum_id, TicketKey.modulus).where(*of_tickets))
    return tuple(sorted((name_link(links[link]), write_fingerprint(modulus)) for link, modulus in moduli))


def make_completion_key(session: Session, survey: Survey) -> str:
    """Give a survey with completion codes the key that signs them, where it has none; its fingerprint.

    Raises
    ------
    InputError
        If the file of the key that seals cannot be used.
    """
    if not survey.completions:
        return ""
    modulus = find_completion_modulus(session, survey.id)
    if modulus is None:
        session.add(row := _make_row(session, "completions", survey_id=survey.id, completes=True))
        session.flush()
        modulus = row.modulus
    return write_fingerprint(modulus)


def find_completion_modulus(session: Session | sa.Connection, survey_id: int) -> bytes | None:
    """The public half of the key that signs a survey's completion codes, if it has one."""
    query = sa.select(TicketKey.modulus).where(TicketKey.survey_id == survey_id, TicketKey.completes)
    found = session.scalar(query)
    return None if found is None else bytes(found)


def name_link(slug: str) -> str:
    """What a published definition calls a link: its browsers work it out, and nobody follows it who has no link."""
    return hashlib.sha256(f"Moneda link {slug}".encode()).hexdigest()[:LINK_NAME_LENGTH]


def drop_links(keys: NamedKeys) -> NamedKeys:
    """What an older release would have said of the same keys: in an order that tells nothing of links."""
    return tuple(("", key) for key in sorted(key for _link, key in keys))


def is_named(keys: NamedKeys, slug: str, modulus: bytes) -> bool:
    """Whether a definition gives a link this key, as `isNamed` of `client/blinding.js` looks."""
    key = write_fingerprint(modulus)
    return len(keys) <= MOST_LINKS and not {(name_link(slug), key), ("", key)}.isdisjoint(keys)


def write_fingerprint(modulus: bytes) -> str:
    """The fingerprint of one key, in hexadecimal."""
    return hashlib.sha256(modulus).hexdigest()


def find_modulus(session: Session, survey: Survey, stratum: Stratum | None) -> bytes | None:
    """The public half of a link's key, if it has one."""
    stratum_id = None if stratum is None else stratum.id
    query = sa.select(TicketKey.modulus).where(
        TicketKey.survey_id == survey.id,
        TicketKey.stratum_id.is_not_distinct_from(stratum_id),
        ~TicketKey.completes,
    )
    return session.scalar(query)


def open_key(connection: sa.Connection, modulus: bytes) -> SigningKey:
    """A key with its secret.

    Raises
    ------
    LostKeyError
        If the survey is closed, or the server has lost what opens it.
    """
    sealed = connection.scalar(sa.select(TicketKey.exponent_sealed).where(TicketKey.modulus == modulus))
    if sealed is None:
        raise LostKeyError("the secret half of this key was deleted when its survey was closed")
    return SigningKey(modulus, int(unseal(sealed, TicketKey(modulus=modulus).owner), 16))


def forget_secrets(session: Session, survey: Survey) -> None:
    """No ticket is signed any more: whatever copies the database later cannot either."""
    keys = sa.update(TicketKey).where(TicketKey.survey_id == survey.id, ~TicketKey.completes)
    session.execute(keys.values(exponent_sealed=None))


def check_links_stay(survey: Survey) -> None:
    """Hold the links of a survey with tickets to those that it was published with: others have no key.

    Raises
    ------
    InputError
        409.
    """
    if survey.tickets and survey.versions and survey.state != State.CLOSED:
        template = N_(
            "must stay as they were published: each has its key for tickets, which the definition names"
        )
        raise refuse(409, "strata", template)


def _make_row(session: Session, field: str, **columns: Any) -> TicketKey:
    keep_key(session)
    key = make_key()
    row = TicketKey(modulus=key.modulus, **columns)
    try:
        row.exponent_sealed = seal(f"{key.exponent:x}", row.owner)
    except (OSError, LostKeyError):
        template = N_("cannot be switched on: the server cannot use the file of its key for secrets")
        raise refuse(409, field, template) from None
    return row
