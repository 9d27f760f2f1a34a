"""Headers, cross-origin requests and the sign-in guard: the argument in one place.

*Pages.* The policy starts from `default-src 'none'` and admits only this site's own
scripts, style, images and requests. No inline code or style is admitted anywhere, so an
injected text can at worst be seen. Every script and style sheet carries its hash
(Subresource Integrity), so that the files a page runs are the files that were published.
No address is ever sent as a referrer, and nothing under `/s/` or `/manage` is kept by a cache.

*Frames.* No page may be framed, but for the researcher's preview of a draft, which this
site's own editor shows beside it: it takes no answer, changes nothing and links to nothing
that does, so that a click on it, even a stolen one, has no effect. Only the editor may hold
a frame, and only one of this site.

*Forms.* A request that changes something must come from this site. Browsers say where a
request comes from in `Sec-Fetch-Site`, which no page can forge; where it is missing (an
old browser), `Origin` must name this host; where both are missing, the client is not a
browser, holds no cookie of a victim, and there is nobody to forge a request for. This is
the check of Go's `CrossOriginProtection` and Datasette's: no token that could expire
while somebody types. Responses are JSON, which another site cannot send without a
preflight that is never granted.

*Roles.* Every page of a survey stands behind `on_survey`, which names the role that it needs;
for a stranger there is no such survey, whatever address is tried. What researchers change is
recorded by `record` in the same transaction as the change.

*Sign-in.* The cookie is 256 random bits of which the database keeps a hash; it is sent
only under `/manage` (a respondent's request never carries it), is unreadable for scripts
and is not sent along from other sites.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

from flask import Response, abort, g, redirect, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.wrappers import Response as BaseResponse

from server import accounts, audit, surveys
from server.context import config, session
from server.inputs import N_, refuse
from server.models import Researcher, Role, Survey

COOKIE = "moneda_sign_in"
COOKIE_PATH = "/manage"

FRAMED = {"manage.preview"}
"""Pages that the editor shows in a frame."""
FRAMING = {"editor.new", "editor.create", "editor.edit", "editor.save"}
"""Pages that hold the frame."""

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

P = ParamSpec("P")

_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}


def add_headers(response: Response) -> Response:
    """The same headers on every answer; a page may set a stricter cache rule, never a laxer policy."""
    policy = CONTENT_SECURITY_POLICY
    if request.endpoint in FRAMED:
        policy = policy.replace("frame-ancestors 'none'", "frame-ancestors 'self'")
    elif request.endpoint in FRAMING:
        policy += "; frame-src 'self'"
    response.headers["Content-Security-Policy"] = policy
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["X-Frame-Options"] = "SAMEORIGIN" if request.endpoint in FRAMED else "DENY"
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
    response.headers["Permissions-Policy"] = "camera=(), geolocation=(), microphone=(), browsing-topics=()"
    response.headers.setdefault("Cache-Control", "no-store")
    if config().secure:
        response.headers["Strict-Transport-Security"] = "max-age=31536000"
    return response


def refuse_other_origins() -> None:
    """Refuse a request that changes something and was made by another site's page."""
    if request.method in _SAFE_METHODS:
        return
    site = request.headers.get("Sec-Fetch-Site")
    origin = request.headers.get("Origin")
    if site is not None:
        allowed = site in ("same-origin", "none")
    else:
        allowed = origin is None or origin.partition("://")[2] == request.host
    if not allowed:
        abort(403)


def set_sign_in_cookie(response: BaseResponse, cookie: str) -> None:
    """Remember the sign-in in this browser."""
    response.set_cookie(
        COOKIE,
        cookie,
        max_age=accounts.SIGN_IN_LIFETIME,
        path=COOKIE_PATH,
        secure=config().secure,
        httponly=True,
        samesite="Lax",
    )


def forget_sign_in_cookie(response: BaseResponse) -> None:
    """Forget the sign-in in this browser."""
    response.delete_cookie(COOKIE, path=COOKIE_PATH)


def signed_in(view: Callable[P, ResponseReturnValue]) -> Callable[P, ResponseReturnValue]:
    """Let only a signed-in researcher through, who is then `researcher()`."""

    @wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> ResponseReturnValue:
        # All of the body first: SQLite's write lock, taken by the next line, must not wait for a slow sender.
        request.get_data(parse_form_data=True)
        found = accounts.signed_in(session(), request.cookies.get(COOKIE, ""))
        if found is None:
            return redirect(url_for("account.sign_in"))
        g.researcher = found
        return view(*args, **kwargs)

    return guarded


def researcher() -> Researcher:
    """Who is signed in, behind `signed_in`."""
    value: Researcher = g.researcher
    return value


def on_survey(
    needed: Role, *, archived: bool = False
) -> Callable[[Callable[..., ResponseReturnValue]], Callable[..., ResponseReturnValue]]:
    """Let through whoever is signed in and has a role in the survey `slug`: the view gets `survey` instead.

    An archived survey is not changed, unless the view says that it works on `archived` ones too.
    """

    def guard(view: Callable[..., ResponseReturnValue]) -> Callable[..., ResponseReturnValue]:
        @signed_in
        @wraps(view)
        def guarded(*args: Any, slug: str, **kwargs: Any) -> ResponseReturnValue:
            survey, g.role = surveys.find_for(session(), researcher(), slug, needed)
            if survey.archived_on is not None and request.method not in _SAFE_METHODS and not archived:
                raise refuse(409, "survey", N_("is archived; take it out of the archive first"))
            return view(*args, survey=survey, **kwargs)

        return guarded

    return guard


def may(needed: str) -> bool:
    """Whether the reader's role in the survey on the page allows what this role may."""
    role: Role | None = g.get("role")
    return role is not None and role.allows(Role(needed))


def record(action: audit.Action, survey: Survey | None = None, **details: object) -> None:
    """Write into the log what the signed-in researcher changes, in the transaction of the change."""
    audit.record(session(), researcher(), action, survey, **details)
