"""Who works on this installation: administrators invite, shut out and help those who are locked out."""

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from server import people
from server.inputs import N_, InputError, refuse
from server.people.change_log import Action
from server.store.models import Researcher
from server.web.context import public_address, session
from server.web.problem_texts import describe
from server.web.security import administrators_only, record, researcher

blueprint = Blueprint("colleagues", __name__, url_prefix="/manage/colleagues")


@blueprint.get("")
@administrators_only
def page() -> ResponseReturnValue:
    """Everybody, and the invitations that were not accepted yet."""
    return _page()


@blueprint.post("/invite")
@administrators_only
def invite() -> ResponseReturnValue:
    """A link for a new colleague, shown once."""
    try:
        name = people.check_name(request.form.get("name", ""))
        secret = people.invite(session(), researcher(), name)
    except InputError as error:
        session().rollback()
        return _page([describe(problem) for problem in error.problems]), error.status
    record(Action.COLLEAGUE_INVITED, name=name)
    session().commit()
    return _page(invited=(name, public_address(url_for("joining.page", secret=secret)))), 201


@blueprint.post("/withdraw")
@administrators_only
def withdraw() -> ResponseReturnValue:
    """Take an invitation back."""
    name = people.withdraw_invitation(session(), None, request.form.get("invitation", ""))
    return _record_and_return(Action.INVITATION_WITHDRAWN, name)


@blueprint.post("/disable")
@administrators_only
def disable() -> ResponseReturnValue:
    """Shut somebody out, at once."""
    person = _person()
    if person is researcher():
        raise refuse(409, "person", N_("must be somebody else; nobody shuts themselves out"))
    people.disable(session(), person)
    return _record_and_return(Action.COLLEAGUE_DISABLED, people.get_name(person))


@blueprint.post("/enable")
@administrators_only
def enable() -> ResponseReturnValue:
    """Let somebody in again."""
    person = _person()
    people.enable(person)
    return _record_and_return(Action.COLLEAGUE_ENABLED, people.get_name(person))


@blueprint.post("/administrator")
@administrators_only
def make_administrator() -> ResponseReturnValue:
    """Make somebody an administrator."""
    person = _person()
    people.allow(session(), person, administrator=True)
    return _record_and_return(Action.ADMINISTRATOR_MADE, people.get_name(person))


@blueprint.post("/no-administrator")
@administrators_only
def unmake_administrator() -> ResponseReturnValue:
    """Make somebody an administrator no more."""
    person = _person()
    people.allow(session(), person, administrator=False)
    _record_and_return(Action.ADMINISTRATOR_UNMADE, people.get_name(person))
    return redirect(url_for(".page" if person is not researcher() else "settings.page"), 303)


@blueprint.post("/link")
@administrators_only
def give_link() -> ResponseReturnValue:
    """A one-time link for somebody who is locked out, shown once; codes, where they are on, are asked for as well."""
    person = _person()
    if person.disabled_on is not None:
        raise refuse(409, "person", N_("must be able to sign in; this person is shut out"))
    secret = people.new_sign_in_link(session(), person)
    record(Action.LINK_GIVEN, name=people.get_name(person))
    session().commit()
    link = public_address(url_for("account.sign_in_link", secret=secret))
    return _page(linked=(people.get_name(person), link)), 201


def _person() -> Researcher:
    return people.get_researcher(session(), request.form.get("person", ""))


def _record_and_return(action: Action, name: str) -> ResponseReturnValue:
    record(action, name=name)
    session().commit()
    return redirect(url_for(".page", said="saved"), 303)


def _page(problems: object = (), invited: object = None, linked: object = None) -> str:
    return render_template(
        "manage/colleagues.html",
        people=people.list_researchers(session()),
        invitations=people.invitations_to(session(), None),
        problems=problems,
        said=request.args.get("said", ""),
        invited=invited,
        linked=linked,
        typed=request.form.get("name", "") if problems else "",
    )
