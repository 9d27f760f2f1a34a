"""Tokens that a researcher's programs sign in with. Functions take a Session and never commit."""

import re
from collections.abc import Sequence
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from server.inputs import N_, refuse, shorten_value
from server.people.members import check_role
from server.people.tokens import hash_of, new_secret, now
from server.store.models import ApiToken, Researcher, Survey

PREFIX = "moneda_"
"""How every token begins, so that programs which look for secrets in files know one."""
NAME_LIMIT = 100
LONGEST_DAYS = 366


def create_token(
    session: Session, researcher: Researcher, survey: Survey | None, role: str, name: str, days: str
) -> str:
    """A new token for one survey, or for all in which the researcher has a role: its secret, kept nowhere.

    `days` is how long it is valid, as typed.

    Raises
    ------
    InputError
        422 on `role`, `name` or `days`.
    """
    allowed = check_role(role)
    label = " ".join(name.split())
    if not 1 <= len(label) <= NAME_LIMIT or not label.isprintable():
        template = N_("must have 1 to %(limit)s characters, in one line; it is %(value)s")
        raise refuse(422, "name", template, limit=NAME_LIMIT, value=shorten_value(label) or "-")
    if re.fullmatch(r"[0-9]{1,4}", days) is None or not 1 <= int(days) <= LONGEST_DAYS:
        template = N_("must be from %(low)s to %(high)s; it is %(value)s")
        raise refuse(422, "days", template, low=1, high=LONGEST_DAYS, value=shorten_value(days) or "-")
    secret = PREFIX + new_secret()
    session.execute(sa.delete(ApiToken).where(ApiToken.expires_at <= now()))
    session.add(
        ApiToken(
            secret_hash=hash_of(secret),
            researcher_id=researcher.id,
            survey_id=None if survey is None else survey.id,
            role=allowed,
            name=label,
            made_on=now().date(),
            expires_at=now() + timedelta(days=int(days)),
        )
    )
    return secret


def find_token(session: Session, secret: str) -> ApiToken | None:
    """The token of this secret, if it is still valid and its researcher is not shut out; both as they are now."""
    found = session.get(
        ApiToken, hash_of(secret), populate_existing=True, options=[joinedload(ApiToken.researcher)]
    )
    if found is None or found.expires_at <= now() or found.researcher.disabled_on is not None:
        return None
    return found


def list_tokens(session: Session, researcher: Researcher) -> Sequence[ApiToken]:
    """The valid tokens of somebody, the newest first."""
    query = sa.select(ApiToken).where(ApiToken.researcher_id == researcher.id, ApiToken.expires_at > now())
    return session.scalars(query.order_by(ApiToken.made_on.desc(), ApiToken.name)).all()


def revoke_token(session: Session, researcher: Researcher, number: str) -> str:
    """End one of somebody's tokens, named by its hash in hexadecimal: what it was called.

    Raises
    ------
    InputError
        404 if there is none.
    """
    is_hash = re.fullmatch(r"[0-9a-f]{64}", number) is not None
    found = session.get(ApiToken, bytes.fromhex(number)) if is_hash else None
    if found is None or found.researcher_id != researcher.id:
        raise refuse(404, "token", N_("is not known; it is %(value)s"), value=shorten_value(number))
    session.delete(found)
    return found.name


def mark_token_seen(session: Session, secret_hash: bytes) -> None:
    """Note the day on which a token was used."""
    session.execute(
        sa.update(ApiToken).where(ApiToken.secret_hash == secret_hash).values(seen_on=now().date())
    )
