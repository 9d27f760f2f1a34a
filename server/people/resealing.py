"""What is sealed gets a new key: secrets of apps for codes, of webhooks and tickets, and what searches keep."""

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.store.models import Researcher, Search, Server, TicketKey, Webhook
from server.store.sealed_secrets import Reseal, rotate_key


def reseal(session: Session) -> int:
    """Seal every secret under a new key, commit, and forget the old one; how many there are.

    Where there is none, the key stays: what another database has sealed would be lost for nothing.

    Raises
    ------
    LostKeyError
        If one is sealed under a key that is not there; then nothing is changed.
    OSError
        If the file of the key cannot be written.
    """
    number = 0
    if session.connection().dialect.name == "postgresql":  # SQLite has one writer
        session.execute(sa.text("LOCK TABLE researchers, searches, ticket_keys, webhooks IN EXCLUSIVE MODE"))

    def change(again: Reseal, public: str) -> None:
        nonlocal number
        for researcher in session.scalars(sa.select(Researcher).where(Researcher.totp_sealed.is_not(None))):
            assert researcher.totp_sealed is not None
            researcher.totp_sealed = again(researcher.totp_sealed, researcher.id)
            number += 1
        for webhook in session.scalars(sa.select(Webhook)):
            webhook.secret_sealed = again(webhook.secret_sealed, webhook.id)
            number += 1
        for key in session.scalars(sa.select(TicketKey).where(TicketKey.exponent_sealed.is_not(None))):
            assert key.exponent_sealed is not None
            key.exponent_sealed = again(key.exponent_sealed, key.owner)
            number += 1
        for search in session.scalars(sa.select(Search)):
            search.sealed = again(search.sealed, f"search-{search.entry_id}")
            number += 1
        session.execute(sa.update(Server).values(sealed_by=public))
        session.commit()

    if has_sealed(session):
        rotate_key(change)
    return number


def has_sealed(session: Session) -> bool:
    """Whether anything is sealed that only its key opens."""
    query = sa.select(
        sa.exists().where(Researcher.totp_sealed.is_not(None))
        | sa.exists(sa.select(Webhook.id))
        | sa.exists().where(TicketKey.exponent_sealed.is_not(None))
        | sa.exists(sa.select(Search.entry_id))
    )
    return bool(session.scalar(query))
