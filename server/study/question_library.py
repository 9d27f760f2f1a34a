"""Questions that a researcher keeps for other surveys. Functions take a Session and never commit."""

import json
from collections.abc import Mapping
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.store.models import LibraryQuestion, Researcher

MOST_KEPT: Final = 500
"""Questions that one researcher can keep."""

_OF_ITS_SURVEY = ("show_if", "otherwise")
"""What an entry says of the questions before it, which another survey does not have."""

Entry = dict[str, Any]


def list_questions(session: Session, researcher: Researcher) -> list[tuple[int, Entry]]:
    """Everything that somebody keeps, the oldest first: the number of each, and the entry."""
    rows = session.execute(
        sa.select(LibraryQuestion.id, LibraryQuestion.entry)
        .where(LibraryQuestion.researcher_id == researcher.id)
        .order_by(LibraryQuestion.id)
    )
    return [(number, json.loads(entry)) for number, entry in rows]


def keep_question(session: Session, researcher: Researcher, entry: Mapping[str, Any]) -> str:
    """Keep an entry without its condition; what came of it: "kept", "kept_already", "wordless" or "library_full"."""
    kept = {name: value for name, value in entry.items() if name not in _OF_ITS_SURVEY}
    if not str(kept.get("text", "")).strip():
        return "wordless"
    known = [held for _, held in list_questions(session, researcher)]
    if kept in known:
        return "kept_already"
    if len(known) >= MOST_KEPT:
        return "library_full"
    packed = json.dumps(kept, ensure_ascii=False).encode()
    session.add(LibraryQuestion(researcher_id=researcher.id, entry=packed))
    session.flush()
    return "kept"


def find_question(session: Session, researcher: Researcher, number: int) -> Entry | None:
    """A question that somebody keeps; None if they keep none of this number."""
    found = _find(session, researcher, number)
    return None if found is None else json.loads(found.entry)


def forget_question(session: Session, researcher: Researcher, number: int) -> bool:
    """Take a question out of somebody's library; False if they keep none of this number."""
    found = _find(session, researcher, number)
    if found is None:
        return False
    session.delete(found)
    session.flush()
    return True


def _find(session: Session, researcher: Researcher, number: int) -> LibraryQuestion | None:
    return session.scalars(
        sa.select(LibraryQuestion).where(
            LibraryQuestion.id == number, LibraryQuestion.researcher_id == researcher.id
        )
    ).one_or_none()
