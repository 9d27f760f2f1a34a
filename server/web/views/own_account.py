"""A researcher's own account: name, password, codes from an app, and where they are signed in."""

import re

import segno
from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from server import people
from server.inputs import N_, InputError, refuse, shorten_value
from server.people.change_log import Action
from server.people.throttling import AttemptKind
from server.store.models import Researcher
from server.web.context import session
from server.web.problem_texts import describe
from server.web.security import count_failure, record, refuses, researcher, signed_in, this_sign_in

blueprint = Blueprint("settings", __name__, url_prefix="/manage/account")

SAID = {"saved", "codes_off", "ended"}


@blueprint.get("")
@signed_in
def page() -> ResponseReturnValue:
    """The account as it is."""
    return _page()


@blueprint.post("")
@signed_in
def save() -> ResponseReturnValue:
    """Change name, login and password; a new password ends every other sign-in."""
    who = researcher()
    try:
        _check_password(who)
        name = people.check_name(request.form.get("name", ""))
        login = people.check_login(session(), request.form.get("login", ""), who)
        new = _new_password(who, login)
        # Checked first, hashed off the lock: what was read is read again.
        session().rollback()
        password_hash = None if new is None else people.hash_password(new)
        people.check_login(session(), login, who)
    except InputError as error:
        return _show_refusal(error)
    if (name, login) != (who.name, who.login):
        who.name, who.login = name, login
        record(Action.ACCOUNT_CHANGED, name=name, login=login)
    if password_hash is not None:
        who.password_hash = password_hash
        people.end_others(session(), who, this_sign_in())
        record(Action.PASSWORD_CHOSEN)
    session().commit()
    return redirect(url_for(".page", said="saved"), 303)


@blueprint.get("/codes")
@signed_in
def codes() -> ResponseReturnValue:
    """A secret for the app, as a QR code and as text; it counts once a code shows that the app has it."""
    if researcher().password_hash is None or researcher().totp_sealed is not None:
        return redirect(url_for(".page"))
    return _codes(people.new_totp_secret())


@blueprint.post("/codes")
@signed_in
def turn_codes_on() -> ResponseReturnValue:
    """Ask for codes from now on; the recovery codes are shown once."""
    secret = request.form.get("secret", "")
    try:
        if re.fullmatch(r"[A-Z2-7]{32}", secret) is None:
            raise refuse(422, "secret", N_("is none that this page made; begin again"))
        if researcher().password_hash is None or researcher().totp_sealed is not None:
            raise refuse(409, "code", N_("must be set up once, after a password was chosen"))
        recovery = people.turn_on_codes(session(), researcher(), secret, request.form.get("code", ""))
    except InputError as error:
        return _show_refusal(error)
    if recovery is None:
        template = N_("must be the six digits that the app shows now; it is %(value)s")
        problem = refuse(422, "code", template, value=shorten_value(request.form.get("code", ""))).problems[0]
        return _codes(secret, [describe(problem)]), 422
    record(Action.CODES_ON)
    session().commit()
    return _page(recovery=recovery)


@blueprint.post("/codes/off")
@signed_in
def turn_codes_off() -> ResponseReturnValue:
    """Ask for no codes any more; the password must be given."""
    try:
        _check_password(researcher())
    except InputError as error:
        return _show_refusal(error)
    people.turn_off_codes(session(), researcher())
    record(Action.CODES_OFF)
    session().commit()
    return redirect(url_for(".page", said="codes_off"), 303)


@blueprint.post("/codes/recovery")
@signed_in
def renew_recovery() -> ResponseReturnValue:
    """New recovery codes instead of those before; the password must be given."""
    try:
        _check_password(researcher())
        if researcher().totp_sealed is None:
            raise refuse(409, "code", N_("must be turned on first"))
    except InputError as error:
        return _show_refusal(error)
    recovery = people.new_recovery_codes(session(), researcher())
    record(Action.RECOVERY_RENEWED)
    session().commit()
    return _page(recovery=recovery)


@blueprint.post("/sign-ins/end")
@signed_in
def end_sign_in() -> ResponseReturnValue:
    """End one sign-in, or all but this one."""
    which = request.form.get("sign_in", "")
    if which == "others":
        people.end_others(session(), researcher(), this_sign_in())
        record(Action.OTHERS_ENDED)
    elif people.end_sign_in(session(), researcher(), which):
        record(Action.SIGN_IN_ENDED)
    else:
        raise refuse(404, "sign_in", N_("is not known; it is %(value)s"), value=shorten_value(which))
    session().commit()
    return redirect(url_for(".page", said="ended"), 303)


def _check_password(who: Researcher) -> None:
    """Refuse whoever only found the browser open; wrong passwords are counted for the account."""
    kept, number = who.password_hash, str(who.id)
    if kept is None:
        return
    if refuses(AttemptKind.ACCOUNT, number):
        raise refuse(429, "current", N_("was wrong too often; wait 15 minutes"))
    session().rollback()
    if not people.verify(kept, request.form.get("current", ""))[0]:
        count_failure(AttemptKind.ACCOUNT, number)
        raise refuse(403, "current", N_("is not the password you sign in with"))


def _new_password(who: Researcher, login: str) -> str | None:
    """The password that was chosen, if one was; the first must be."""
    new = request.form.get("password", "")
    if not new and who.password_hash is not None:
        return None
    password = people.check_password(new, login)
    if request.form.get("again", "") != new:
        raise refuse(422, "again", N_("must be the same password once more"))
    return password


def _show_refusal(error: InputError) -> ResponseReturnValue:
    session().rollback()
    return _page([describe(problem) for problem in error.problems]), error.status


def _page(problems: object = (), recovery: object = ()) -> str:
    who, notice = researcher(), request.args.get("said", "")
    typed = {name: request.form[name] for name in ("name", "login") if name in request.form}
    return render_template(
        "account/settings.html",
        problems=problems,
        recovery=recovery,
        said=notice if notice in SAID else "",
        values={"name": who.name, "login": who.login or "", **typed},
        sign_ins=people.sign_ins_of(session(), who),
        this=this_sign_in(),
        left=people.recovery_codes_left(session(), who),
    )


def _codes(secret: str, problems: object = ()) -> str:
    address = people.totp_address(secret, researcher())
    image = segno.make(address, error="m").svg_inline(border=4, light="white", omitsize=True)
    return render_template(
        "account/codes.html", secret=secret, address=address, image=image, problems=problems
    )
