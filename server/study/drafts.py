"""What a survey is to ask next, finished or not. Functions take a Session and never commit.

Every save is a state of its own, and undo and redo move between them, also after the page
was loaded again. Numbers of states are never given twice: a form that names the state it
was made from is refused if another one stands meanwhile.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, object_session

from server.inputs import N_, refuse
from server.store.models import Draft, Survey
from server.study.definitions import Definition
from server.study.definitions.definition_reader import parse_definition

KEPT = 200
"""How many states of a draft are kept."""


def begin_draft(session: Session, survey: Survey, document: Mapping[str, Any]) -> None:
    """The first state."""
    session.add(Draft(survey_id=survey.id, number=survey.draft_number, document=_encode_draft(document)))
    session.flush()


def draft_document(survey: Survey, number: int | None = None) -> dict[str, Any]:
    """The document as it stands now, or in an earlier state; maybe unfinished.

    Raises
    ------
    InputError
        409 if that state is not kept any more.
    """
    session = object_session(survey)
    assert session is not None  # a survey comes from a session
    number = survey.draft_number if number is None else number
    # A database takes a number that is too large for an error.
    found = session.get(Draft, (survey.id, number)) if 0 < number < 2**31 else None
    if found is None:
        raise _say_overtaken()
    document: dict[str, Any] = json.loads(found.document)
    return document


def draft_documents(session: Session, surveys: Iterable[Survey]) -> dict[int, dict[str, Any]]:
    """The documents of several surveys as they stand now, by the surveys' ids, in one question to the database."""
    current = sa.and_(Draft.survey_id == Survey.id, Draft.number == Survey.draft_number)
    query = sa.select(Draft.survey_id, Draft.document).join(Survey, current)
    found = session.execute(query.where(Survey.id.in_([survey.id for survey in surveys])))
    return {survey_id: json.loads(document) for survey_id, document in found}


def draft(survey: Survey) -> Definition:
    """The definition as it stands now.

    Raises
    ------
    InputError
        With everything that is missing, if it is unfinished.
    """
    return parse_definition(draft_document(survey))


def save_draft(
    session: Session, survey: Survey, document: Mapping[str, Any], base: int | None = None
) -> None:
    """Make this the draft; published versions stay as they are. The same words again are no new state.

    `base` is the number of the state that it was made from; without it, nothing is compared.

    Raises
    ------
    InputError
        409 if another state stands meanwhile.
    """
    if base is not None and base != survey.draft_number:
        raise _say_overtaken()
    if draft_document(survey) == document:
        return
    numbers = sa.select(sa.func.max(Draft.number)).where(Draft.survey_id == survey.id)
    number = session.scalars(numbers).one() + 1
    _forget(session, survey, Draft.number > survey.draft_number)
    session.add(Draft(survey_id=survey.id, number=number, document=_encode_draft(document)))
    survey.draft_number = number
    session.flush()
    oldest = sa.select(Draft.number).where(Draft.survey_id == survey.id).order_by(Draft.number.desc())
    _forget(session, survey, Draft.number.not_in(oldest.limit(KEPT)))


def undo(session: Session, survey: Survey) -> bool:
    """Go back to the state before; False if there is none."""
    return _go(session, survey, _before(survey))


def redo(session: Session, survey: Survey) -> bool:
    """Take an `undo` back; False if there is nothing to take back."""
    return _go(session, survey, _after(survey))


def count_steps(session: Session, survey: Survey) -> tuple[bool, bool]:
    """Whether there is something to undo, and to redo."""
    before, after = (session.scalar(query) is not None for query in (_before(survey), _after(survey)))
    return before, after


def _before(survey: Survey) -> sa.Select[Any]:
    return sa.select(sa.func.max(Draft.number)).where(
        Draft.survey_id == survey.id, Draft.number < survey.draft_number
    )


def _after(survey: Survey) -> sa.Select[Any]:
    return sa.select(sa.func.min(Draft.number)).where(
        Draft.survey_id == survey.id, Draft.number > survey.draft_number
    )


def _go(session: Session, survey: Survey, query: sa.Select[Any]) -> bool:
    number = session.scalar(query)
    if number is None:
        return False
    survey.draft_number = number
    session.flush()
    return True


def _say_overtaken() -> Exception:
    return refuse(409, "draft", N_("was changed in another window or by somebody else meanwhile"))


def _forget(session: Session, survey: Survey, which: sa.ColumnElement[bool]) -> None:
    session.execute(sa.delete(Draft).where(Draft.survey_id == survey.id, which))


def _encode_draft(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()
