"""Which surveys a researcher sees, and what their role allows there. Functions take a Session and never commit."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session, selectinload

from server.inputs import N_, InputError, refuse
from server.store.models import Member, Researcher, Role, Survey

HAS_ARRIVED = Survey.arriving_until.is_(None)
"""Of a survey that is being imported, nobody sees anything before all of it is there."""

_LOCKED = sa.select(Survey).with_for_update()
_NEEDED = {
    Role.EDITOR: N_("can be changed by its owner and its editors only"),
    Role.OWNER: N_("allows this to its owner only"),
}


def find(session: Session, slug: str) -> Survey | None:
    """The survey behind a link; none that is still arriving."""
    if not slug.isascii() or "\x00" in slug:  # a database takes the very question for an error
        return None
    return session.scalars(sa.select(Survey).where(Survey.slug == slug, HAS_ARRIVED)).first()


def lock(session: Session, survey: Survey) -> None:
    """Let others who change this survey wait, and on PostgreSQL responses on their way in; read it again.

    Whoever changes a survey, or what belongs to it, does so first, and checks role and state after
    it: what was read before may have changed while this waited. SQLite has one writer at a time by
    itself.

    Raises
    ------
    InputError
        404 if it was deleted meanwhile.
    """
    session.flush()  # reading again forgets what was not written yet
    number = survey.id
    session.expire(survey)
    if session.scalars(_LOCKED.where(Survey.id == number)).first() is None:
        raise _unknown()


def find_for(
    session: Session, researcher: Researcher, slug: str, needed: Role, *, to_change: bool = False
) -> tuple[Survey, Role]:
    """A survey for what a role allows, and the researcher's role in it; others' do not exist for them.

    Who wants `to_change` it gets it locked, if the role still allows it then.

    Raises
    ------
    InputError
        404 if there is no such survey or the researcher has no role in it, 403 if the role does not suffice.
    """
    survey = find(session, slug)
    if survey is None:
        raise _unknown()
    role = _allowed_role(session, survey, researcher, needed)
    if to_change:
        # Not before: a stranger keeps nobody waiting.
        lock(session, survey)
        role = _allowed_role(session, survey, researcher, needed)
    return survey, role


def _allowed_role(session: Session, survey: Survey, researcher: Researcher, needed: Role) -> Role:
    role = role_in(session, survey, researcher)
    if role is None:
        raise _unknown()
    if not role.allows(needed):
        raise refuse(403, "survey", _NEEDED[needed])
    return role


def _unknown() -> InputError:
    return refuse(404, "survey", N_("is not known; check the link"))


def shared_with(session: Session, researcher: Researcher) -> Sequence[tuple[Survey, Role]]:
    """The surveys in which a researcher has a role, newest first."""
    query = (
        sa.select(Survey, Member.role)
        .outerjoin(Member, (Member.survey_id == Survey.id) & (Member.researcher_id == researcher.id))
        .where((Survey.owner_id == researcher.id) | Member.role.is_not(None), HAS_ARRIVED)
        .order_by(Survey.id.desc())
        .options(selectinload(Survey.versions))
    )
    return [
        (survey, Role.OWNER if survey.owner_id == researcher.id else Role(role))
        for survey, role in session.execute(query)
    ]


def sees_published(session: Session, researcher: Researcher, but: Survey) -> bool:
    """Whether a researcher has a role in some other survey that was published."""
    is_member = (
        sa.select(Member).where(Member.survey_id == Survey.id, Member.researcher_id == researcher.id).exists()
    )
    query = sa.select(Survey.id).where(
        (Survey.owner_id == researcher.id) | is_member,
        HAS_ARRIVED,
        Survey.id != but.id,
        Survey.versions.any(),
    )
    return session.scalars(query.limit(1)).first() is not None


def role_in(session: Session, survey: Survey, researcher: Researcher) -> Role | None:
    """A researcher's role in a survey; None for a stranger."""
    if survey.owner_id == researcher.id:
        return Role.OWNER
    member = session.get(Member, (survey.id, researcher.id), populate_existing=True)
    return None if member is None else Role(member.role)
