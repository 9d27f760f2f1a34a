"""How long it is kept what programs were answered under their keys. Functions take a Session and never commit."""

from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.people.tokens import now
from server.store.models import KeptReply

KEEPING = timedelta(hours=24)


def has_old_replies(session: Session) -> bool:
    """Whether something is kept for longer than it is to be."""
    return bool(session.scalar(sa.select(sa.exists().where(_is_old()))))


def forget_old_replies(session: Session) -> None:
    """Keep nothing any more that was answered longer ago."""
    session.execute(sa.delete(KeptReply).where(_is_old()))


def _is_old() -> sa.ColumnElement[bool]:
    return KeptReply.kept_at < now() - KEEPING
