"""Cross-origin requests and the sign-in guard: the argument in one place; that of headers is in `response_headers`.

*Forms.* A request that changes something must come from this site. Browsers say where a
request comes from in `Sec-Fetch-Site`, which no page can forge; where it is missing (an
old browser), `Origin` must be one of this site's, scheme and port included; where both are missing, the client is not a
browser, holds no cookie of a victim, and there is nobody to forge a request for. This is
the check of Go's `CrossOriginProtection` and Datasette's: no token that could expire
while somebody types. Responses are JSON, which another site cannot send without a
preflight that is never granted. And it must be whole: a form ends with a field that one which
was cut on its way has lost (`server.web.form_ends`), and nothing else changes anything.

*Roles.* Every page of a survey stands behind `on_survey`, which names the role that it needs;
for a stranger there is no such survey, whatever address is tried. What may change the survey locks
it there, and the role is looked up after that: it holds until the change is committed. What researchers change is
recorded by `record` in the same transaction as the change.

*Sign-in.* The cookie is 256 random bits of which the database keeps a hash; it is sent
only under `/manage` (a respondent's request never carries it), is unreadable for scripts
and is not sent along from other sites. Passwords are hashed with Argon2, off the database's
lock; whatever was wrong, the answer is the same, after the same work.

*Guessing.* Wrong sign-ins are counted by all processes together, for the address that they come from, and for an
account only wrong codes after its right password: whoever does not know that locks nobody out. What stands in
`X-Forwarded-For` is believed of proxies that the setting names, and of nobody else, on this machine or
any other, since every client may write it: read from its end, the first address that is none of theirs counts.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

from flask import abort, current_app, g, redirect, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response as BaseResponse

from server import people
from server.config import Config
from server.inputs import N_, refuse
from server.people import change_log, survey_access
from server.people.throttling import AttemptKind, count_attempt, find_client, refuses_attempts
from server.store.engines import open_session
from server.store.models import ApiToken, Researcher, Role, SignIn, Survey
from server.study import surveys
from server.web.context import config, find_site, session
from server.web.housekeeping import Housekeeper

COOKIE = "moneda_sign_in"
COOKIE_PATH = "/manage"
SIGN_IN = "/manage/sign-in"
"""Where a name and a password are sent; whoever sends many there waits apart from everybody else."""

P = ParamSpec("P")

SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
"""Methods of requests that change nothing."""


def refuse_other_origins() -> None:
    """Refuse a request that changes something and was made by another site's page."""
    fetched, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if request.method not in SAFE_METHODS and is_from_elsewhere(config(), fetched, origin, request.host):
        abort(403)


def is_from_elsewhere(config: Config, fetched: str | None, origin: str | None, host: str | None) -> bool:
    """Whether another site's page made a request, by its headers `Sec-Fetch-Site`, `Origin` and `Host`."""
    if fetched is not None:
        return fetched not in ("same-origin", "none")
    return origin is not None and not config.is_own(origin, host or "")


def set_sign_in_cookie(response: BaseResponse, cookie: str) -> None:
    """Remember the sign-in in this browser."""
    response.set_cookie(
        COOKIE,
        cookie,
        max_age=people.SIGN_IN_LIFETIME,
        path=COOKIE_PATH,
        secure=find_site().startswith("https://"),
        httponly=True,
        samesite="Lax",
    )


def forget_sign_in_cookie(response: BaseResponse) -> None:
    """Forget the sign-in in this browser."""
    response.delete_cookie(COOKIE, path=COOKIE_PATH)


def signed_in(view: Callable[P, ResponseReturnValue]) -> Callable[P, ResponseReturnValue]:
    """Let only a signed-in researcher through, who is then `researcher()`."""

    @wraps(view)
    def guarded_view(*args: P.args, **kwargs: P.kwargs) -> ResponseReturnValue:
        if find_sign_in() is None:
            return redirect(url_for("account.sign_in"))
        return view(*args, **kwargs)

    return guarded_view


def find_sign_in() -> SignIn | None:
    """The sign-in of this browser, if it has one, which is then `this_sign_in()`."""
    found = people.sign_in_of(session(), request.cookies.get(COOKIE, ""))
    if found is not None:
        g.sign_in, g.researcher = found, found.researcher
        if found.seen_on != surveys.today():
            # No request changes anything for being read.
            housekeeper().note_use(found.secret_hash, people.mark_seen)
    return found


def administrators_only(view: Callable[P, ResponseReturnValue]) -> Callable[P, ResponseReturnValue]:
    """Let only a signed-in administrator through."""

    @signed_in
    @wraps(view)
    def guarded_view(*args: P.args, **kwargs: P.kwargs) -> ResponseReturnValue:
        if request.method not in SAFE_METHODS:
            people.lock_administrators(session())
        people.check_administrator(researcher())
        return view(*args, **kwargs)

    return guarded_view


def researcher() -> Researcher:
    """Who is signed in, behind `signed_in`."""
    value: Researcher = g.researcher
    return value


def get_reader() -> Researcher | None:
    """Who is signed in, if the page asked."""
    value: Researcher | None = g.get("researcher")
    return value


def this_sign_in() -> SignIn:
    """The sign-in of this browser, behind `signed_in`."""
    value: SignIn = g.sign_in
    return value


def on_survey(
    needed: Role, *, archived: bool = False, changes: bool = True
) -> Callable[[Callable[..., ResponseReturnValue]], Callable[..., ResponseReturnValue]]:
    """Let through whoever is signed in and has a role in the survey `slug`: the view gets `survey` instead.

    A request that may change something waits for others who change the survey, and is checked after
    that, so that role and state hold until it is answered; unless the view says that it `changes`
    nothing. An archived survey is not changed, unless the view says that it works on `archived` ones too.
    """

    def guard(view: Callable[..., ResponseReturnValue]) -> Callable[..., ResponseReturnValue]:
        @signed_in
        @wraps(view)
        def guarded_view(*args: Any, slug: str, **kwargs: Any) -> ResponseReturnValue:
            to_change = changes and request.method not in SAFE_METHODS
            survey, g.role = survey_access.find_for(
                session(), researcher(), slug, needed, to_change=to_change
            )
            if to_change and find_sign_in() is None:  # somebody was shut out meanwhile
                return redirect(url_for("account.sign_in"))
            if survey.archived_on is not None and request.method not in SAFE_METHODS and not archived:
                raise refuse(409, "survey", N_("is archived; take it out of the archive first"))
            return view(*args, survey=survey, **kwargs)

        return guarded_view

    return guard


def may(needed: str) -> bool:
    """Whether the reader's role in the survey on the page allows what this role may."""
    role: Role | None = g.get("role")
    return role is not None and role.allows(Role(needed))


def get_role() -> Role:
    """The reader's role in the survey of the request."""
    role: Role = g.role
    return role


def record(action: change_log.Action, survey: Survey | None = None, **details: object) -> None:
    """Write into the log what the researcher changes, and with which program, in the transaction of the change."""
    token: ApiToken | None = g.get("token")
    if token is not None:
        details["program"] = token.name
    change_log.record(session(), researcher(), action, survey, **details)


def refuses(kind: AttemptKind, who: str) -> bool:
    """Whether there were too many failures."""
    return refuses_attempts(session(), kind, who)


def count_failure(kind: AttemptKind, who: str) -> None:
    """Count a failure, at once; what the request has begun is given up."""
    session().rollback()  # of SQLite it may hold the write lock
    with open_session(current_app.extensions["moneda.engine"], writes=True) as counting, counting.begin():
        count_attempt(counting, kind, who)


def housekeeper() -> Housekeeper:
    """The job that this process does by itself."""
    value: Housekeeper = current_app.extensions["moneda.housekeeper"]
    return value


def client_address() -> str:
    """Where a request comes from, for counting failures."""
    named = request.headers.get("X-Forwarded-For", "").split(",")
    return find_client(request.remote_addr or "", named, config().proxies)
