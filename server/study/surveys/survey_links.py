"""Links of surveys and strata: made, and followed. Functions take a Session and never commit."""

import secrets
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.people.survey_access import HAS_ARRIVED
from server.store.models import ClosedLink, Stratum, Survey

# No vowels and no look-alikes: a slug can be read out and spells nothing.
_SLUG_ALPHABET = "23456789bcdfghjkmnpqrstvwxz"
_SLUG_LENGTH = 12


class Shut(StrEnum):
    """Why a link takes no responses though its survey does: its stratum has parts, or it was replaced."""

    DIVIDED = "divided"
    REPLACED = "replaced"


def new_slug() -> str:
    """A link that cannot be guessed (57 random bits)."""
    return "".join(secrets.choice(_SLUG_ALPHABET) for _ in range(_SLUG_LENGTH))


def is_slug(text: str) -> bool:
    """Whether this could be the end of a link."""
    return len(text) == _SLUG_LENGTH and set(text) <= set(_SLUG_ALPHABET)


def find_link(session: Session, slug: str) -> tuple[Survey, Stratum | None] | None:
    """The survey behind a link, and the stratum that the link carries; a stratum with parts has no link."""
    if not slug.isascii() or "\x00" in slug:
        return None
    survey = session.scalars(sa.select(Survey).where(Survey.link == slug, HAS_ARRIVED)).first()
    if survey is not None:
        return survey, None
    part = sa.orm.aliased(Stratum)
    query = (
        sa.select(Survey, Stratum)
        .join(Stratum, Stratum.survey_id == Survey.id)
        .where(Stratum.slug == slug, HAS_ARRIVED, ~sa.exists().where(part.parent_id == Stratum.id))
    )
    row = session.execute(query).first()
    return None if row is None else (row[0], row[1])


def find_shut(session: Session, slug: str) -> tuple[Survey, Shut] | None:
    """The survey behind a link that takes nothing any more, as there are others in its place, and why."""
    if not slug.isascii() or "\x00" in slug:
        return None
    part = sa.orm.aliased(Stratum)
    divided = sa.exists().where(part.parent_id == Stratum.id)
    for shut, table, condition in (
        (Shut.DIVIDED, Stratum, sa.and_(Stratum.slug == slug, divided)),
        (Shut.REPLACED, ClosedLink, ClosedLink.slug == slug),
    ):
        query = sa.select(Survey).join(table, table.survey_id == Survey.id)
        survey = session.scalars(query.where(condition, HAS_ARRIVED)).first()
        if survey is not None:
            return survey, shut
    return None
