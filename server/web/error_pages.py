"""What is answered, as a page or as JSON, where something was refused, cannot be done now, or is our mistake."""

from collections.abc import Callable
from typing import TypeVar

from flask import Flask, current_app, jsonify, render_template, request
from flask.typing import ResponseReturnValue
from flask_babel import gettext
from markupsafe import Markup
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm.exc import ObjectDeletedError
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

from server.config import find_missing_package
from server.inputs import N_, InputError, refuse
from server.store.failures import RETRY_AFTER, describe_failure, find_failure
from server.study.retention import DeletedResponsesError
from server.web.api.problem_replies import answer_problem, is_for_programs
from server.web.context import session
from server.web.deleted_page import draw_deleted_page
from server.web.form_ends import CutForm
from server.web.problem_texts import describe
from server.web.security import SAFE_METHODS

T = TypeVar("T")


def register(app: Flask) -> None:
    """Answer for everything that a view raises, and for what a template draws or computes with `part` and `attempt`."""
    app.jinja_env.globals.update(part=_part, attempt=_attempt)
    app.register_error_handler(InputError, _refuse_input)
    app.register_error_handler(DeletedResponsesError, _show_deleted)
    app.register_error_handler(ObjectDeletedError, _answer_deleted)
    app.register_error_handler(HTTPException, _show_failure)
    app.register_error_handler(ModuleNotFoundError, _lacking)
    app.register_error_handler(Exception, _broken)


def _refuse_input(error: InputError) -> ResponseReturnValue:
    session().rollback()
    problem = error.problems[0]
    name, message = describe(problem)
    title = gettext("There is nothing here") if error.status == 404 else gettext("That cannot be done")
    if is_for_programs(request.path):
        return answer_problem(
            title, error.status, [(each.field, describe(each)[1]) for each in error.problems]
        )
    return _error_page(problem.field, title, message, error.status, name)


def _show_deleted(error: DeletedResponsesError) -> ResponseReturnValue:
    """What was deleted and what is left, for whoever reads pages."""
    session().rollback()
    if not request.path.startswith("/manage/") or request.path.endswith(".json"):
        return _refuse_input(error)
    return draw_deleted_page(error.slug), error.status


def _answer_deleted(_error: ObjectDeletedError) -> ResponseReturnValue:
    """Somebody deleted the survey while this was answered, where nothing had to be locked."""
    return _refuse_input(refuse(404, "survey", N_("is not known; check the link")))


def _show_failure(error: HTTPException) -> ResponseReturnValue:
    status = error.code or 500
    if status < 400:
        return error
    if isinstance(error, RequestEntityTooLarge):
        message = gettext("What was sent is too large.")
    elif isinstance(error, CutForm):
        message = gettext(
            "The form did not arrive whole, so nothing was changed. Please go back and send it again."
        )
    else:
        message = {
            403: gettext("This request came from another site and was refused."),
            404: gettext("There is no page at this address. Check the link, or ask who gave it to you."),
            405: gettext("This address does not take this kind of request."),
        }.get(status, gettext("The request could not be understood."))
    title = gettext("There is nothing here") if status == 404 else gettext("Not possible")
    return _error_page("body" if status == 413 else "request", title, message, status)


def _lacking(error: ModuleNotFoundError) -> ResponseReturnValue:
    name = find_missing_package(error)
    if name is None:
        return _broken(error)
    session().rollback()
    message = gettext(
        "This needs %(name)s, which this server was installed without. Whoever runs it can add it. "
        "Nothing was changed.",
        name=name,
    )
    return _error_page("server", gettext("Not possible here"), message, 501)


def _broken(error: Exception) -> ResponseReturnValue:
    request_kind = request.endpoint or "unknown address"
    current_app.logger.error("%s while serving %s", describe_failure(error), request_kind)
    failure = find_failure(error)
    if failure is None:
        message = gettext("Something went wrong here. Nothing was half-done; please try again.")
        return _error_page("server", gettext("Our mistake"), message, 500)
    if failure.undone or request.method in SAFE_METHODS:
        message = gettext(
            "The database cannot be used at the moment. Nothing was changed; please try again later."
        )
    else:
        message = gettext(
            "The database failed while this was under way. Look whether it was done before you do it again."
        )
    return _error_page("server", gettext("Not possible at the moment"), message, 503)


def _part(draw: Callable[..., Markup], *arguments: object) -> Markup:
    """A part of a page, drawn by a macro; in its place a sentence where something in it cannot be computed.

    What is wrong can then still be mended on the rest of the page.
    """
    drawn = _attempt(draw, *arguments)
    return Markup(render_template("errors/part.html")) if drawn is None else drawn  # noqa: S704 - a template of ours


def _attempt(compute: Callable[..., T], *arguments: object) -> T | None:
    """What is computed for a part of a page; None, and a line in the log, where it cannot be."""
    try:
        return compute(*arguments)
    except (InputError, HTTPException):  # say what is asked for wrongly
        raise
    except Exception as error:
        if isinstance(error, SQLAlchemyError) or find_failure(error) is not None:  # no part can be drawn
            raise
        current_app.logger.error("%s while drawing a part of %s", describe_failure(error), request.endpoint)
        return None


def _error_page(
    field: str, title: str, message: str, status: int, name: str | None = None
) -> ResponseReturnValue:
    """`field` is for programs, `name` what the page calls it."""
    if is_for_programs(request.path):
        return answer_problem(title, status, [(field, message)])
    if request.path.endswith(("/responses", ".json")):
        answer = jsonify(error={"field": field, "message": message})
    else:
        sentence = message if name is None else f"{name}: {message}"
        answer = current_app.make_response(
            render_template("errors/error.html", title=title, message=sentence)
        )
    answer.status_code = status
    if status == 503:
        answer.headers["Retry-After"] = str(RETRY_AFTER)
    return answer
