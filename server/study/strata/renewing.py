"""Links in the place of others, which close."""

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.store.models import ClosedLink, Stratum, Survey
from server.study.surveys import new_slug


def renew_links(session: Session, survey: Survey, of: Collection[int | None]) -> None:
    """Give strata, by their ids, and the survey itself (None) new links, and close those they had.

    Whoever follows a closed link is told so. What was stored by one before is still acknowledged there.
    """
    if None in of:
        session.add(ClosedLink(slug=survey.link, survey_id=survey.id))
        survey.link = new_slug()
    for stratum in session.scalars(sa.select(Stratum).where(Stratum.survey_id == survey.id)):
        if stratum.id in of:
            session.add(ClosedLink(slug=stratum.slug, survey_id=survey.id, stratum_id=stratum.id))
            stratum.slug = new_slug()
    session.flush()


def count_closed_links(session: Session, survey: Survey) -> int:
    """How many links of a survey were replaced by others."""
    query = sa.select(sa.func.count()).select_from(ClosedLink).where(ClosedLink.survey_id == survey.id)
    return session.scalar(query) or 0
