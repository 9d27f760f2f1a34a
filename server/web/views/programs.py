"""Programs of a researcher: their tokens, and what they can call."""

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from server.inputs import InputError
from server.people import api_tokens, survey_access
from server.people.change_log import Action
from server.store.models import Role, Survey
from server.study import surveys
from server.web.api.openapi import describe_interface
from server.web.api.operations import OPERATIONS
from server.web.context import public_address, session
from server.web.problem_texts import describe
from server.web.security import record, researcher, signed_in

blueprint = Blueprint("programs", __name__)

_UNTYPED = {"name": "", "survey": "", "role": "", "days": "90"}


@blueprint.get("/api")
def reference() -> ResponseReturnValue:
    """Every operation, for people."""
    return render_template(
        "programs/reference.html",
        operations=OPERATIONS.values(),
        components=describe_interface()["components"],
    )


@blueprint.get("/api/v1/openapi.json")
def description() -> ResponseReturnValue:
    """Every operation, for programs."""
    return describe_interface()


@blueprint.get("/manage/account/programs")
@signed_in
def tokens() -> ResponseReturnValue:
    """The tokens there are, and the form for another."""
    return _page()


@blueprint.post("/manage/account/programs")
@signed_in
def make_token() -> ResponseReturnValue:
    """A new token, shown this once."""
    try:
        secret = api_tokens.create_token(
            session(),
            researcher(),
            _chosen_survey(),
            request.form.get("role", ""),
            request.form.get("name", ""),
            request.form.get("days", "").strip(),
        )
    except InputError as error:
        session().rollback()
        return _page(error=error), error.status
    record(Action.TOKEN_MADE, name=" ".join(request.form.get("name", "").split()))
    session().commit()
    return _page(secret=secret)


@blueprint.post("/manage/account/programs/revoke")
@signed_in
def revoke_token() -> ResponseReturnValue:
    """Let a token do nothing any more, at once."""
    name = api_tokens.revoke_token(session(), researcher(), request.form.get("token", ""))
    record(Action.TOKEN_REVOKED, name=name)
    session().commit()
    return redirect(url_for(".tokens", said="revoked"), 303)


def _chosen_survey() -> Survey | None:
    """The survey that the token shall be for; None for all."""
    slug = request.form.get("survey", "")
    return survey_access.find_for(session(), researcher(), slug, Role.VIEWER)[0] if slug else None


def _page(secret: str = "", error: InputError | None = None) -> str:
    reached = survey_access.shared_with(session(), researcher())
    return render_template(
        "programs/tokens.html",
        secret=secret,
        problems=[] if error is None else [describe(problem) for problem in error.problems],
        bad=set() if error is None else {problem.field for problem in error.problems},
        said=request.args.get("said", ""),
        typed={**_UNTYPED, **(request.form if error is not None else {})},
        tokens=[(token, _title(token.survey)) for token in api_tokens.list_tokens(session(), researcher())],
        surveys=[(survey.slug, _title(survey)) for survey, _role in reached],
        longest=api_tokens.LONGEST_DAYS,
        name_limit=api_tokens.NAME_LIMIT,
        address=public_address("/api/v1"),
    )


def _title(survey: Survey | None) -> str | None:
    return None if survey is None else str(surveys.draft_document(survey).get("title", "")) or survey.slug
