"""Links to a survey's public report: one at a time, which works until it is revoked.

Functions take a Session and never commit. A link says nothing about the survey's own, by which
people answer: whoever knows the one does not know the other.
"""

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.store.models import ReportLink, Survey
from server.study import surveys


def current_link(session: Session, survey: Survey) -> ReportLink | None:
    """The link that works now, if there is one."""
    query = sa.select(ReportLink).where(ReportLink.survey_id == survey.id, ReportLink.revoked_on.is_(None))
    return session.scalars(query).first()


def make_link(session: Session, survey: Survey) -> ReportLink:
    """The link that works now, else a new one; those that were revoked stay so."""
    found = current_link(session, survey)
    if found is None:
        found = ReportLink(slug=surveys.new_slug(), survey_id=survey.id, made_on=surveys.today())
        session.add(found)
        session.flush()
    return found


def revoke_link(session: Session, survey: Survey) -> bool:
    """End the link that works now; whether there was one."""
    found = current_link(session, survey)
    if found is None:
        return False
    found.revoked_on = surveys.today()
    return True


def find_link(session: Session, slug: str) -> tuple[ReportLink, Survey] | None:
    """A link, revoked or not, and its survey."""
    if not surveys.is_slug(slug):
        return None
    query = (
        sa.select(ReportLink, Survey)
        .join(Survey, Survey.id == ReportLink.survey_id)
        .where(ReportLink.slug == slug)
    )
    row = session.execute(query).first()
    return None if row is None else (row[0], row[1])
