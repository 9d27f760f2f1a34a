"""Signing in and out."""

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from server import accounts, security
from server.context import session

blueprint = Blueprint("account", __name__, url_prefix="/manage")


@blueprint.get("/sign-in")
def sign_in() -> ResponseReturnValue:
    """How to get a link."""
    return render_template("account/sign_in.html", secret=None, failed=False)


@blueprint.get("/sign-in/<secret>")
def sign_in_link(secret: str) -> ResponseReturnValue:
    """A button, so that a program that only looks at the link does not use it up."""
    return render_template("account/sign_in.html", secret=secret, failed=False)


@blueprint.post("/sign-in/<secret>")
def redeem(secret: str) -> ResponseReturnValue:
    """Use the link up."""
    cookie = accounts.redeem_sign_in_link(session(), secret)
    session().commit()
    if cookie is None:
        return render_template("account/sign_in.html", secret=None, failed=True), 403
    response = redirect(url_for("manage.surveys_page"), 303)
    security.set_sign_in_cookie(response, cookie)
    return response


@blueprint.post("/sign-out")
def sign_out() -> ResponseReturnValue:
    """End the sign-in on this browser."""
    accounts.sign_out(session(), request.cookies.get(security.COOKIE, ""))
    session().commit()
    response = redirect(url_for(".sign_in"), 303)
    security.forget_sign_in_cookie(response)
    return response
