"""Links that bring colleagues: an account, a role in a survey, or both."""

import re
from collections.abc import Sequence
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.inputs import N_, refuse, shorten_value
from server.people import survey_access
from server.people.members import check_role
from server.people.researchers import administers, check_name
from server.people.tokens import hash_of, new_secret, now
from server.store.models import ColleagueInvitation, Member, Researcher, Survey

INVITATION_LIFETIME = timedelta(days=7)


def invite(
    session: Session, inviter: Researcher, name: str, survey: Survey | None = None, role: str = ""
) -> str:
    """The secret of a new invitation: to the installation, or to a survey with a role.

    Raises
    ------
    InputError
        If the name is none, or the role.
    """
    session.execute(sa.delete(ColleagueInvitation).where(ColleagueInvitation.expires_at <= now()))
    secret = new_secret()
    session.add(
        ColleagueInvitation(
            secret_hash=hash_of(secret),
            inviter_id=inviter.id,
            survey_id=None if survey is None else survey.id,
            role=None if survey is None else check_role(role),
            name=check_name(name),
            expires_at=now() + INVITATION_LIFETIME,
        )
    )
    return secret


def invitations_to(session: Session, survey: Survey | None) -> Sequence[ColleagueInvitation]:
    """What was given out and not accepted yet, for a survey or (None) for the installation."""
    which = ColleagueInvitation.survey_id
    return [
        invitation
        for invitation in session.scalars(
            sa.select(ColleagueInvitation)
            .where(which.is_(None) if survey is None else which == survey.id)
            .order_by(ColleagueInvitation.expires_at, ColleagueInvitation.name)
        )
        if _stands(invitation)
    ]


def find_invitation(session: Session, secret: str, *, to_accept: bool = False) -> ColleagueInvitation | None:
    """The invitation behind a link, if it stands: not accepted, not too old, by somebody who may still invite.

    Who wants `to_accept` one to a survey gets it with the survey locked, so that it stands until then.
    """
    found = session.get(ColleagueInvitation, hash_of(secret))
    if to_accept and found is not None and found.survey is not None:
        survey_access.lock(session, found.survey)
        found = session.get(ColleagueInvitation, hash_of(secret), populate_existing=True)
    return found if found is not None and _stands(found) else None


def withdraw_invitation(session: Session, survey: Survey | None, number: str) -> str:
    """Take an invitation back, named by its hash in hexadecimal: for whom it was.

    Raises
    ------
    InputError
        404 if there is none such for this survey.
    """
    known = re.fullmatch(r"[0-9a-f]{64}", number)
    found = session.get(ColleagueInvitation, bytes.fromhex(number)) if known else None
    if found is None or found.survey_id != (None if survey is None else survey.id):
        raise refuse(404, "invitation", N_("is not known; it is %(value)s"), value=shorten_value(number))
    session.delete(found)
    return found.name


def accept(session: Session, invitation: ColleagueInvitation, researcher: Researcher) -> None:
    """Use an invitation up; one to a survey gives its role there.

    Raises
    ------
    InputError
        404 if somebody else was quicker, 409 if the survey is the researcher's own.
    """
    survey, role = invitation.survey, invitation.role
    if survey is not None and survey.owner_id == researcher.id:
        raise refuse(409, "invitation", N_("must be for somebody else; this survey is yours"))
    # One statement: of two people with the same link only one gets the row.
    query = sa.delete(ColleagueInvitation).where(ColleagueInvitation.secret_hash == invitation.secret_hash)
    if session.execute(query.returning(ColleagueInvitation.inviter_id)).first() is None:
        raise refuse(404, "invitation", N_("was accepted already"))
    if survey is None or role is None:
        return
    member = session.get(Member, (survey.id, researcher.id))
    if member is None:
        session.add(Member(survey_id=survey.id, researcher_id=researcher.id, role=role))
    else:
        member.role = role


def _stands(invitation: ColleagueInvitation) -> bool:
    inviter, survey = invitation.inviter, invitation.survey
    if invitation.expires_at <= now() or inviter.disabled_on is not None:
        return False
    return administers(inviter) if survey is None else survey.owner_id == inviter.id
