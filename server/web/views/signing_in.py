"""Signing in and out."""

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from server import people
from server.inputs import N_, InputError, refuse
from server.people import change_log
from server.people.change_log import Action
from server.people.throttling import AttemptKind
from server.store.models import Researcher
from server.web import security
from server.web.context import session
from server.web.problem_texts import describe

blueprint = Blueprint("account", __name__, url_prefix="/manage")


@blueprint.get("/sign-in")
def sign_in() -> ResponseReturnValue:
    """Name and password, or how to get a link."""
    return _page(invitation=request.args.get("invitation", ""))


@blueprint.post("/sign-in")
def sign_in_with_password() -> ResponseReturnValue:
    """Check the three together: no answer tells which of them was wrong."""
    login, invitation = request.form.get("login", ""), request.form.get("invitation", "")
    shown = {"login": login, "invitation": invitation}
    address = security.client_address()
    try:
        if security.refuses(AttemptKind.ADDRESS, address):
            raise refuse(
                429,
                "sign_in",
                N_("failed too often from your network; wait 10 minutes, or use a one-time link"),
            )
        researcher = _find_who_signs_in(login, request.form.get("password", ""), request.form.get("code", ""))
    except InputError as error:
        session().rollback()
        problems = [describe(problem) for problem in error.problems]
        return _page(**shown, problems=problems), error.status
    if researcher is None:
        security.count_failure(AttemptKind.ADDRESS, address)
        return _page("wrong", **shown), 403
    return _signed_in(researcher, invitation)


@blueprint.get("/sign-in/<secret>")
def sign_in_link(secret: str) -> ResponseReturnValue:
    """A button, so that a program that only looks at the link does not use it up."""
    owner = people.link_owner(session(), secret)
    return _page(secret=secret, with_code=owner is not None and owner.totp_sealed is not None)


@blueprint.post("/sign-in/<secret>")
def redeem(secret: str) -> ResponseReturnValue:
    """Use the link up. It stands in for the password only: codes, where they are on, are asked for as well."""
    # All of the body first: SQLite's write lock must not wait for a slow sender.
    request.get_data(parse_form_data=True)
    owner = people.link_owner(session(), secret)
    if owner is not None and owner.totp_sealed is not None and not _has_code(owner):
        session().rollback()
        return _page("wrong", secret=secret, with_code=True), 403
    researcher = people.redeem_sign_in_link(session(), secret)
    if researcher is None:
        session().commit()
        return _page("used"), 403
    change_log.record(session(), researcher, Action.LINK_USED, None)
    return _signed_in(researcher)


@blueprint.post("/sign-out")
def sign_out() -> ResponseReturnValue:
    """End the sign-in on this browser."""
    people.sign_out(session(), request.cookies.get(security.COOKIE, ""))
    session().commit()
    response = redirect(url_for(".sign_in"), 303)
    security.forget_sign_in_cookie(response)
    return response


def _find_who_signs_in(login: str, password: str, code: str) -> Researcher | None:
    """Whom name, password and code sign in."""
    found = people.with_login(session(), login)
    number, kept = (None, None) if found is None else (found.id, found.password_hash)
    # A hash takes long on purpose: nobody must wait for the database's lock meanwhile.
    session().rollback()
    right, newer = people.verify(kept, password)
    researcher = session().get(Researcher, number) if right else None
    # Asked again: it may have been changed meanwhile.
    if researcher is None or researcher.password_hash != kept or researcher.disabled_on is not None:
        return None
    if researcher.totp_sealed is not None and not _has_code(researcher, code):
        return None
    researcher.password_hash = newer or researcher.password_hash
    return researcher


def _has_code(researcher: Researcher, code: str | None = None) -> bool:
    """Whether a right code came along, which is used up; wrong ones are counted."""
    who = str(researcher.id)
    if security.refuses(AttemptKind.ACCOUNT, who):
        return False
    typed = request.form.get("code", "") if code is None else code
    left = people.recovery_codes_left(session(), researcher)
    if not people.is_right_code(session(), researcher, typed):
        security.count_failure(AttemptKind.ACCOUNT, who)
        return False
    if people.recovery_codes_left(session(), researcher) < left:
        change_log.record(session(), researcher, Action.RECOVERY_USED, None)
    return True


def _signed_in(researcher: Researcher, invitation: str = "") -> ResponseReturnValue:
    # A sign-in of somebody else, or an older one, on the same browser ends.
    people.sign_out(session(), request.cookies.get(security.COOKIE, ""))
    cookie = people.sign_in(session(), researcher, request.headers.get("User-Agent", ""))
    session().commit()
    target = url_for("joining.page", secret=invitation) if invitation else url_for("manage.surveys_page")
    response = redirect(target, 303)
    security.set_sign_in_cookie(response, cookie)
    return response


def _page(failed: str = "", **shown: object) -> str:
    fields = {"secret": None, "with_code": False, "login": "", "invitation": "", "problems": ()}
    return render_template("account/sign_in.html", failed=failed, **{**fields, **shown})
