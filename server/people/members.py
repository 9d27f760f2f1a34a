"""The people of a survey: its one owner, and the colleagues who have a role in it."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.inputs import N_, refuse, shorten_value
from server.store.models import Member, Researcher, Role, Survey, Webhook

GIVEN = (Role.VIEWER, Role.EDITOR)
"""Roles that are given to colleagues; the owner's is handed over."""


def members_of(session: Session, survey: Survey) -> Sequence[Member]:
    """Everybody but the owner, in the order in which they came to the installation."""
    return session.scalars(
        sa.select(Member).where(Member.survey_id == survey.id).order_by(Member.researcher_id)
    ).all()


def check_role(text: str) -> Role:
    """A role that is given to colleagues.

    Raises
    ------
    InputError
        If it is none.
    """
    if text not in GIVEN:
        template = N_("must be one of %(choices)s; it is %(value)s")
        raise refuse(422, "role", template, choices=", ".join(GIVEN), value=shorten_value(text))
    return Role(text)


def change_role(session: Session, survey: Survey, researcher: Researcher, role: str) -> None:
    """Give a member another role; the webhooks that they set up end where it may change nothing.

    Raises
    ------
    InputError
        404 if they are no member, 422 if there is no such role.
    """
    allowed = check_role(role)
    member(session, survey, researcher).role = allowed
    if not allowed.allows(Role.EDITOR):
        _remove_webhooks(session, survey, researcher)


def remove_member(session: Session, survey: Survey, researcher: Researcher) -> None:
    """Take a member's role away, at once, and with it the webhooks that they set up.

    Raises
    ------
    InputError
        404 if they are no member.
    """
    session.delete(member(session, survey, researcher))
    _remove_webhooks(session, survey, researcher)


def hand_over(session: Session, survey: Survey, researcher: Researcher) -> None:
    """Make a member the owner; who was it stays as an editor.

    Raises
    ------
    InputError
        404 if they are no member, 409 if they are shut out.
    """
    gone = member(session, survey, researcher)
    if researcher.disabled_on is not None:
        raise refuse(409, "person", N_("must be able to sign in; this person is shut out"))
    session.delete(gone)
    session.flush()
    session.add(Member(survey_id=survey.id, researcher_id=survey.owner_id, role=Role.EDITOR))
    survey.owner_id = researcher.id


def member(session: Session, survey: Survey, researcher: Researcher) -> Member:
    """Somebody's membership.

    Raises
    ------
    InputError
        404 if they are no member: nobody learns who else there is.
    """
    found = session.get(Member, (survey.id, researcher.id))
    if found is None:
        raise refuse(404, "person", N_("is not known; it is %(value)s"), value=str(researcher.id))
    return found


def _remove_webhooks(session: Session, survey: Survey, researcher: Researcher) -> None:
    theirs = sa.delete(Webhook).where(Webhook.survey_id == survey.id, Webhook.researcher_id == researcher.id)
    session.execute(theirs)
