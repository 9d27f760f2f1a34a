"""Researchers and how they sign in. Functions take a Session and never commit."""

import hashlib
import secrets
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.models import Researcher, SignIn, SignInLink

LINK_LIFETIME = timedelta(hours=24)
SIGN_IN_LIFETIME = timedelta(days=14)


def first_researcher(session: Session) -> Researcher:
    """The researcher who installed Moneda; created when the database is new."""
    researcher = session.scalars(sa.select(Researcher).order_by(Researcher.id).limit(1)).first()
    if researcher is None:
        researcher = Researcher(name="", administrator=True)
        session.add(researcher)
        session.flush()
    return researcher


def new_sign_in_link(session: Session, researcher: Researcher) -> str:
    """The secret of a fresh one-time link; links given out earlier and not used stop working."""
    session.execute(sa.delete(SignInLink).where(SignInLink.researcher_id == researcher.id))
    secret = secrets.token_urlsafe(32)
    session.add(
        SignInLink(secret_hash=_hash(secret), researcher_id=researcher.id, expires_at=_now() + LINK_LIFETIME)
    )
    return secret


def redeem_sign_in_link(session: Session, secret: str) -> str | None:
    """Use a link up: the secret for the sign-in cookie, or None if the link is not valid (any more)."""
    # One statement: of two browsers at the same moment only one gets the row.
    link = session.execute(
        sa.delete(SignInLink)
        .where(SignInLink.secret_hash == _hash(secret))
        .returning(SignInLink.researcher_id, SignInLink.expires_at)
    ).first()
    if link is None or link.expires_at <= _now():
        return None
    cookie = secrets.token_urlsafe(32)
    session.execute(sa.delete(SignIn).where(SignIn.expires_at <= _now()))
    session.add(
        SignIn(
            secret_hash=_hash(cookie), researcher_id=link.researcher_id, expires_at=_now() + SIGN_IN_LIFETIME
        )
    )
    return cookie


def signed_in(session: Session, cookie: str) -> Researcher | None:
    """Whose sign-in this cookie is."""
    sign_in = session.get(SignIn, _hash(cookie))
    return sign_in.researcher if sign_in is not None and sign_in.expires_at > _now() else None


def sign_out(session: Session, cookie: str) -> None:
    """End the sign-in on this browser."""
    session.execute(sa.delete(SignIn).where(SignIn.secret_hash == _hash(cookie)))


def _hash(secret: str) -> bytes:
    # The secrets are 256 random bits: a plain hash cannot be searched, and needs no salt.
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def _now() -> datetime:
    """Now in UTC, naive: SQLite keeps no time zone."""
    return datetime.now(UTC).replace(tzinfo=None)
