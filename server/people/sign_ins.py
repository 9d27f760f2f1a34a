"""Sign-ins of a browser, and the one-time links that begin one without a password."""

import re
from collections.abc import Sequence
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.people.tokens import hash_of, new_secret, now
from server.store.models import Researcher, SignIn, SignInLink

LINK_LIFETIME = timedelta(hours=24)
SIGN_IN_LIFETIME = timedelta(days=14)

# The first that fits counts: Edge and Opera say that they are Chrome, Chrome that it is Safari, Android that it
# is Linux.
_BROWSERS = {
    "Firefox": r"Firefox/|FxiOS/",
    "Edge": r"Edg(?:e|A|iOS)?/",
    "Opera": r"OPR/",
    "Samsung Internet": r"SamsungBrowser/",
    "Chrome": r"Chrom(?:e|ium)/|CriOS/",
    "Safari": r"Safari/",
}
_SYSTEMS = {
    "Android": r"Android",
    "iOS": r"iPhone|iPad|iPod",
    "Windows": r"Windows",
    "macOS": r"Mac OS X|Macintosh",
    "ChromeOS": r"CrOS",
    "Linux": r"Linux",
}


def new_sign_in_link(session: Session, researcher: Researcher) -> str:
    """The secret of a fresh one-time link; links given out earlier and not used stop working."""
    session.execute(sa.delete(SignInLink).where(SignInLink.researcher_id == researcher.id))
    secret = new_secret()
    session.add(
        SignInLink(secret_hash=hash_of(secret), researcher_id=researcher.id, expires_at=now() + LINK_LIFETIME)
    )
    return secret


def link_owner(session: Session, secret: str) -> Researcher | None:
    """Whom a link would sign in; it is not used up."""
    link = session.get(SignInLink, hash_of(secret))
    if link is None or link.expires_at <= now():
        return None
    researcher = session.get_one(Researcher, link.researcher_id)
    return None if researcher.disabled_on is not None else researcher


def redeem_sign_in_link(session: Session, secret: str) -> Researcher | None:
    """Use a link up: whom it signs in, or None if it is not valid (any more)."""
    # One statement: of two browsers at the same moment only one gets the row.
    link = session.execute(
        sa.delete(SignInLink)
        .where(SignInLink.secret_hash == hash_of(secret))
        .returning(SignInLink.researcher_id, SignInLink.expires_at)
    ).first()
    if link is None or link.expires_at <= now():
        return None
    researcher = session.get_one(Researcher, link.researcher_id)
    return None if researcher.disabled_on is not None else researcher


def sign_in(session: Session, researcher: Researcher, user_agent: str) -> str:
    """Begin a sign-in: the secret for the cookie."""
    cookie = new_secret()
    session.execute(sa.delete(SignIn).where(SignIn.expires_at <= now()))
    session.add(
        SignIn(
            secret_hash=hash_of(cookie),
            researcher_id=researcher.id,
            expires_at=now() + SIGN_IN_LIFETIME,
            started_on=now().date(),
            seen_on=now().date(),
            device=_device(user_agent),
        )
    )
    return cookie


def sign_in_of(session: Session, cookie: str) -> SignIn | None:
    """The sign-in of this cookie, if it was not ended and its researcher is not shut out."""
    found = session.get(SignIn, hash_of(cookie), populate_existing=True)
    if found is None or found.expires_at <= now() or found.researcher.disabled_on is not None:
        return None
    return found


def mark_seen(session: Session, secret_hash: bytes) -> None:
    """Note the day on which a sign-in was used."""
    session.execute(sa.update(SignIn).where(SignIn.secret_hash == secret_hash).values(seen_on=now().date()))


def sign_ins_of(session: Session, researcher: Researcher) -> Sequence[SignIn]:
    """Where somebody is signed in, the newest first."""
    return session.scalars(
        sa.select(SignIn)
        .where(SignIn.researcher_id == researcher.id, SignIn.expires_at > now())
        .order_by(SignIn.expires_at.desc())
    ).all()


def sign_out(session: Session, cookie: str) -> None:
    """End the sign-in on this browser."""
    session.execute(sa.delete(SignIn).where(SignIn.secret_hash == hash_of(cookie)))


def end_sign_in(session: Session, researcher: Researcher, number: str) -> str | None:
    """End one of somebody's sign-ins, named by its hash in hexadecimal: the device it was on; None if there is none."""
    if re.fullmatch(r"[0-9a-f]{64}", number) is None:
        return None
    found = session.get(SignIn, bytes.fromhex(number))
    if found is None or found.researcher_id != researcher.id:
        return None
    session.delete(found)
    return found.device or ""


def end_others(session: Session, researcher: Researcher, kept: SignIn) -> None:
    """End all sign-ins of somebody but one, and the links that could begin another."""
    session.execute(
        sa.delete(SignIn).where(SignIn.researcher_id == researcher.id, SignIn.secret_hash != kept.secret_hash)
    )
    session.execute(sa.delete(SignInLink).where(SignInLink.researcher_id == researcher.id))


def _device(user_agent: str) -> str:
    """The families of browser and system: enough to know one's own again, and no more."""
    names = []
    for families in (_BROWSERS, _SYSTEMS):
        names += [name for name, pattern in families.items() if re.search(pattern, user_agent[:1000])][:1]
    return ", ".join(names)
