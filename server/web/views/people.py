"""The people of a survey: its owner gives roles, takes them back, and hands the survey over."""

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from server import people
from server.inputs import InputError
from server.people.change_log import Action
from server.store.models import Researcher, Role, Survey
from server.web.context import public_address, session
from server.web.problem_texts import describe
from server.web.security import on_survey, record, researcher

blueprint = Blueprint("people", __name__, url_prefix="/manage/surveys/<slug>/people")


@blueprint.get("")
@on_survey(Role.OWNER)
def page(survey: Survey) -> ResponseReturnValue:
    """Who has a role, and who is invited."""
    return _page(survey)


@blueprint.post("/invite")
@on_survey(Role.OWNER, archived=True)
def invite(survey: Survey) -> ResponseReturnValue:
    """A link that gives a role, shown once."""
    form = request.form
    try:
        name = people.check_name(form.get("name", ""))
        secret = people.invite(session(), researcher(), name, survey, form.get("role", ""))
    except InputError as error:
        session().rollback()
        return _page(survey, [describe(problem) for problem in error.problems]), error.status
    record(Action.MEMBER_INVITED, survey, name=name, role=form["role"])
    session().commit()
    link = public_address(url_for("joining.page", secret=secret))
    return _page(survey, invited=(name, form["role"], link)), 201


@blueprint.post("/withdraw")
@on_survey(Role.OWNER, archived=True)
def withdraw(survey: Survey) -> ResponseReturnValue:
    """Take an invitation back."""
    name = people.withdraw_invitation(session(), survey, request.form.get("invitation", ""))
    return _record_and_return(survey, Action.INVITATION_WITHDRAWN, name=name)


@blueprint.post("/role")
@on_survey(Role.OWNER, archived=True)
def change_role(survey: Survey) -> ResponseReturnValue:
    """Give a member another role."""
    person, role = _person(), request.form.get("role", "")
    people.change_role(session(), survey, person, role)
    return _record_and_return(survey, Action.ROLE_CHANGED, name=people.get_name(person), role=role)


@blueprint.post("/remove")
@on_survey(Role.OWNER, archived=True)
def remove(survey: Survey) -> ResponseReturnValue:
    """Take a member's role away."""
    person = _person()
    people.remove_member(session(), survey, person)
    return _record_and_return(survey, Action.MEMBER_REMOVED, name=people.get_name(person))


@blueprint.post("/hand-over")
@on_survey(Role.OWNER, archived=True)
def hand_over(survey: Survey) -> ResponseReturnValue:
    """Make a member the owner; who was it stays as an editor."""
    person = _person()
    people.hand_over(session(), survey, person)
    record(Action.HANDED_OVER, survey, name=people.get_name(person))
    session().commit()
    return redirect(url_for("manage.overview", slug=survey.slug), 303)


def _person() -> Researcher:
    return people.get_researcher(session(), request.form.get("person", ""))


def _record_and_return(survey: Survey, action: Action, **details: object) -> ResponseReturnValue:
    record(action, survey, **details)
    session().commit()
    return redirect(url_for(".page", slug=survey.slug, said="saved"), 303)


def _page(survey: Survey, problems: object = (), invited: object = None) -> str:
    return render_template(
        "manage/people.html",
        survey=survey,
        members=people.members_of(session(), survey),
        invitations=people.invitations_to(session(), survey),
        problems=problems,
        said=request.args.get("said", ""),
        invited=invited,
        typed={name: request.form.get(name, "") if problems else "" for name in ("name", "role")},
    )
