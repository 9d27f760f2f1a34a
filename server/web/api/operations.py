"""One operation for programs: what it takes and answers, and who may; described and carried out from the same value."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue

from server.inputs import N_, InputError, parse_json, refuse, shorten_value
from server.inputs.decoding import unpoint_whole_numbers
from server.inputs.schema import schema, violations
from server.store.models import ApiToken, KeptReply, Role, Survey
from server.study.definitions.definition_reader import DEFINITION_LIMIT
from server.web.api import kept_replies
from server.web.api.api_guard import find_survey, require_all_surveys, require_role, require_token
from server.web.context import session
from server.web.security import SAFE_METHODS, housekeeper

View = TypeVar("View", bound=Callable[..., "Reply | Response"])

blueprint = Blueprint("api", __name__, url_prefix="/api/v1")

SCHEMA = "api"
"""The shipped schema of bodies and answers."""
_EVERYWHERE = ("lang", "digits")
"""What every address may say: in which language, and with which digits."""
ESTIMATES = ("n", "more_fewer_than", "minimum", "versions", "questions")
"""What of a report is answered where estimates are asked for."""


@dataclass(frozen=True)
class Reply:
    """What an operation answers as JSON.

    Attributes
    ----------
    retry_answer : tuple of int and JSON, optional
        Status and body that the same request is told later, if that is something else.
    new_survey : Survey, optional
        The survey that it made: what is kept of the answer goes with it.
    """

    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)
    retry_answer: tuple[int, Any] | None = None
    new_survey: Survey | None = None


@dataclass(frozen=True)
class Operation:
    """What is published of an operation, and what requests are held to.

    Attributes
    ----------
    path : str
        Below `/api/v1`, as Flask writes it; an operation on a survey begins with `/surveys/<slug>`.
    needed : Role
        Which role it needs, of the researcher in the survey and of the token.
    takes, gives : str or None
        Where the schema describes the body, and the answer; None where there is none, or a file.
    file : str
        Content type of the file that it answers with, if it does.
    parameters : mapping
        What numbers may stand in the address behind the question mark, and what they mean.
    texts, repeated : mapping
        What texts may stand there, once, and any number of times.
    keyed : bool
        Whether it must carry a key, so that it can be sent again.
    changes : bool
        Whether it changes something.
    beforehand : Callable, optional
        What takes long: it is given survey and body, and ends the transaction before. Then everything is looked at
        again, and the operation gets what came of it as `known`.
    """

    name: str
    method: str
    path: str
    summary: str
    needed: Role
    takes: str | None = None
    gives: str | None = None
    file: str = ""
    status: int = 200
    parameters: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    repeated: Mapping[str, str] = field(default_factory=dict)
    keyed: bool = False
    changes: bool = True
    beforehand: Callable[[Survey, Any], Any] | None = None

    @property
    def on_survey(self) -> bool:
        """Whether it is about one survey."""
        return "<slug>" in self.path

    @property
    def query_parameters(self) -> Mapping[str, str]:
        """All that may stand in the address behind the question mark."""
        return {**self.parameters, **self.texts, **self.repeated}


OPERATIONS: dict[str, Operation] = {}
"""By their names, in the order in which they are described."""


def operation(method: str, path: str, summary: str, needed: Role, **more: Any) -> Callable[[View], View]:
    """Make a function an operation: it gets `survey` where it is about one, and `body` where it takes one.

    It does not commit: what it changed, what is kept for a retry and what it answers belong together.
    """

    def register(view: View) -> View:
        found = Operation(view.__name__, method, path, summary, needed, **more)
        OPERATIONS[found.name] = found

        def handle(**values: Any) -> ResponseReturnValue:
            return _carry_out(found, view, values)

        blueprint.add_url_rule(path, found.name, handle, methods=[method])
        return view

    return register


class _Admitted(NamedTuple):
    """Who may carry out an operation, on what; and what the same request was answered before."""

    token: ApiToken
    survey: Survey | None
    earlier: KeptReply | None


def _carry_out(
    operation: Operation, view: Callable[..., Reply | Response], values: dict[str, Any]
) -> Response:
    require_role(require_token(), operation.needed)
    _refuse_unknown(operation)
    key = kept_replies.read_key() if operation.keyed else None
    if operation.takes is not None:
        values["body"] = _read_body(operation.takes)
    slug = values.pop("slug", None) if operation.on_survey else None
    token, survey, earlier = _admit(operation, slug, key)
    if operation.beforehand is not None and survey is not None and earlier is None:
        values["known"] = operation.beforehand(survey, values["body"])
        token, survey, earlier = _admit(operation, slug, key)
    if earlier is not None:
        return _answer(earlier.body, earlier.status, {"Idempotent-Replayed": "true"})
    if operation.on_survey:
        values["survey"] = survey
    to_change = operation.changes and operation.method not in SAFE_METHODS
    reply = view(**values)
    if isinstance(reply, Response):
        return reply
    if to_change:
        _finish(operation, token, survey, key, reply)
    else:
        session().rollback()  # what was only looked at changes nothing
    return _answer(json.dumps(reply.body, ensure_ascii=False), operation.status, reply.headers)


def _refuse_unknown(operation: Operation) -> None:
    """Refuse what stands in the address behind the question mark and would be passed over."""
    known = [*_EVERYWHERE, *operation.query_parameters]
    for name in request.args:
        if name not in known:
            template = N_("is not known here; allowed: %(allowed)s")
            raise refuse(422, shorten_value(name), template, allowed=", ".join(known))
    for name in (*operation.parameters, *operation.texts):
        if len(request.args.getlist(name)) > 1:
            raise refuse(422, name, N_("must be given once"))


def _admit(operation: Operation, slug: str | None, key: str | None) -> _Admitted:
    token = require_token()
    survey = None
    if slug is not None:
        to_change = operation.changes and operation.method not in SAFE_METHODS
        survey = find_survey(token, slug, operation.needed, to_change=to_change)
    elif operation.method not in SAFE_METHODS:
        require_all_surveys(token)
    if key is None:
        return _Admitted(token, survey, None)
    kept_replies.lock_replies(token.researcher)
    token = require_token()  # it may have been revoked while this waited
    return _Admitted(token, survey, kept_replies.find_reply(token.researcher, key))


def _finish(
    operation: Operation, token: ApiToken, survey: Survey | None, key: str | None, reply: Reply
) -> None:
    if key is not None:
        status, body = reply.retry_answer or (operation.status, reply.body)
        kept_replies.keep_reply(token.researcher, key, survey or reply.new_survey, status, body)
    session().commit()
    housekeeper().notify()


def _read_body(takes: str) -> Any:
    """The body, as its schema describes it.

    Raises
    ------
    InputError
        415 if it is not said to be JSON, 400 if it is none, 422 with every violation.
    """
    if request.mimetype != "application/json":
        template = N_("must be application/json; it is %(value)s")
        raise refuse(415, "Content-Type", template, value=shorten_value(request.mimetype) or "-")
    body = parse_json(request.get_data(), DEFINITION_LIMIT)
    # Definitions and plans have a schema of their own, and are held to it where they are parsed.
    if takes not in schema(SCHEMA)["$defs"]:
        return body
    problems = violations(body, SCHEMA, "$defs", takes)
    if problems:
        raise InputError(422, problems)
    return unpoint_whole_numbers(body)


def _answer(text: str, status: int, headers: Mapping[str, str]) -> Response:
    kind = "application/json" if status < 400 else "application/problem+json"
    return Response(text + "\n", status, headers, mimetype=kind)
