"""Surveys that tidying is due for."""

from sqlalchemy.orm import Session

from server.store.models import Untidied
from server.study.surveys import now


def mark_untidied(session: Session, survey_id: int) -> None:
    """Note that `tidying` is due for a survey once this is committed."""
    session.add(Untidied(survey_id=survey_id, since=now()))
