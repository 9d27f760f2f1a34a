"""Colleagues accept an invitation: to the installation, or to a survey."""

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from server import people
from server.inputs import N_, InputError, refuse
from server.people import change_log
from server.people.change_log import Action
from server.store.models import ColleagueInvitation, Researcher, Survey
from server.study import surveys
from server.web import security
from server.web.context import session
from server.web.problem_texts import describe

blueprint = Blueprint("joining", __name__, url_prefix="/manage")


@blueprint.get("/invitation/<secret>")
def page(secret: str) -> ResponseReturnValue:
    """What the invitation is to; whoever is signed in needs one button, others make an account."""
    security.find_sign_in()
    return _page(secret, _invitation(secret))


@blueprint.post("/invitation/<secret>")
def accept(secret: str) -> ResponseReturnValue:
    """Use the invitation up."""
    # All of the body first: SQLite's write lock must not wait for a slow sender.
    request.get_data(parse_form_data=True)
    here = security.find_sign_in()
    if here is not None:
        invitation = _invitation(secret, to_accept=True)
        survey = invitation.survey
        if survey is None:
            raise refuse(409, "invitation", N_("is for a new colleague; you have an account already"))
        people.accept(session(), invitation, here.researcher)
        security.record(Action.MEMBER_JOINED, survey, role=invitation.role)
        session().commit()
        return redirect(url_for("manage.overview", slug=survey.slug), 303)
    _invitation(secret)
    try:
        researcher, survey = _new_researcher(secret)
    except InputError as error:
        session().rollback()
        problems = [describe(problem) for problem in error.problems]
        return _page(secret, _invitation(secret), problems), error.status
    cookie = people.sign_in(session(), researcher, request.headers.get("User-Agent", ""))
    session().commit()
    target = (
        url_for("manage.surveys_page") if survey is None else url_for("manage.overview", slug=survey.slug)
    )
    response = redirect(target, 303)
    security.set_sign_in_cookie(response, cookie)
    return response


def _new_researcher(secret: str) -> tuple[Researcher, Survey | None]:
    """The account that the form asks for, with what the invitation gives, and the survey that it is to."""
    form = request.form
    name = people.check_name(form.get("name", ""))
    login = people.check_login(session(), form.get("login", ""))
    password = people.check_password(form.get("password", ""), login)
    if form.get("again", "") != form.get("password", ""):
        raise refuse(422, "again", N_("must be the same password once more"))
    # A hash takes long on purpose: nobody must wait for the database's lock meanwhile.
    session().rollback()
    password_hash = people.hash_password(password)
    invitation = _invitation(secret, to_accept=True)
    inviter, survey, role = invitation.inviter, invitation.survey, invitation.role
    researcher = people.add(session(), name)
    researcher.login = people.check_login(session(), login, researcher)
    researcher.password_hash = password_hash
    people.accept(session(), invitation, researcher)
    change_log.record(session(), researcher, Action.COLLEAGUE_JOINED, None, name=people.get_name(inviter))
    if survey is not None:
        change_log.record(session(), researcher, Action.MEMBER_JOINED, survey, role=role)
    return researcher, survey


def _invitation(secret: str, *, to_accept: bool = False) -> ColleagueInvitation:
    found = people.find_invitation(session(), secret, to_accept=to_accept)
    if found is None:
        raise refuse(404, "invitation", N_("was used already, was withdrawn, or is more than 7 days old"))
    return found


def _page(secret: str, invitation: ColleagueInvitation, problems: object = ()) -> str:
    survey = invitation.survey
    typed = {name: request.form.get(name, "") for name in ("name", "login")}
    return render_template(
        "account/invitation.html",
        secret=secret,
        invitation=invitation,
        document=None if survey is None else surveys.draft_document(survey),
        values={**typed, "name": typed["name"] or invitation.name},
        problems=problems,
    )
