"""The headers of every answer: the argument in one place.

*Pages.* The policy starts from `default-src 'none'` and admits only this site's own
scripts, style, images and requests. No inline code or style is admitted anywhere, so an
injected text can at worst be seen. Every script and style sheet carries its hash
(Subresource Integrity), so that the files a page runs are the files that were published.
No address is ever sent as a referrer, and nothing under `/s/` or `/manage` is kept by a cache.

*Frames.* No page may be framed, but for three. The researcher's preview of a draft, and what its results will look
like, are shown by this site's own editor beside it: they take no answer, change nothing and show no link to anything
that does, so that a click on them, even a stolen one, has no effect. Only the editor may hold
a frame, and only one of this site. A figure of a public report may stand in a frame of any site's
page: it knows no cookie, runs nothing, has no form, and its only link is to the report, which is public.
"""

from flask import Response, g, request

from server.output import documents
from server.reports.public_page import SHEETS
from server.web.context import config

FRAMED = {"manage.preview", "simulate.preview"}
"""Pages that the editor shows in a frame."""
FRAMING = {"editor.new", "editor.create", "editor.edit", "editor.save"}
"""Pages that hold the frame."""
PARSING = {*FRAMING, "elsewhere.page", "elsewhere.analyse", "lesson_board.board", "results.live"}
"""Pages whose script reads a page that it fetched (client/fetched_page.js); on all others no script reads HTML."""
FIGURES = {"public.figure"}
"""Pages that any site may show in a frame."""
REPORTS = {"public.page"}
"""Pages that are a document which needs nothing else: its own style sheet is inside, known by its hash."""

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
OFFLINE_POLICY = CONTENT_SECURITY_POLICY.replace("trusted-types 'none'", "trusted-types offline-worker")
"""Of a survey that can be answered without a network: its page may name the one worker that answers then."""
UNUSED_FEATURES = (
    "accelerometer browsing-topics camera display-capture geolocation gyroscope hid identity-credentials-get "
    "idle-detection local-fonts magnetometer microphone midi payment publickey-credentials-get screen-wake-lock serial "
    "usb xr-spatial-tracking"
).split()
"""What browsers offer to pages and no page here uses; those that no browser knows would only be complained about."""


def add_headers(response: Response) -> Response:
    """The same headers on every answer; a page may set a stricter cache rule, never a laxer policy."""
    policy = CONTENT_SECURITY_POLICY
    if g.get("offline"):
        policy = OFFLINE_POLICY
    if request.endpoint in FRAMED:
        policy = policy.replace("frame-ancestors 'none'", "frame-ancestors 'self'")
    elif request.endpoint in FRAMING:
        policy += "; frame-src 'self'"
    if request.endpoint in PARSING:
        policy = policy.replace("trusted-types 'none'", "trusted-types fetched-page")
    if request.endpoint in REPORTS and request.method != "OPTIONS" and response.status_code == 200:
        policy = f"{documents.policy(SHEETS)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    figure = (
        request.endpoint in FIGURES and request.method != "OPTIONS" and response.status_code in (200, 410)
    )
    if figure:
        policy = f"{documents.policy(SHEETS)}; base-uri 'none'; form-action 'none'; frame-ancestors *"
    for name, value in headers(config().secure).items():
        response.headers.setdefault(name, value)
    response.headers["Content-Security-Policy"] = policy
    if request.endpoint in FRAMED:
        response.headers["X-Frame-Options"] = "SAMEORIGIN"
    elif figure:
        del response.headers["X-Frame-Options"]
    return response


def headers(secure: bool) -> dict[str, str]:
    """The headers of an answer to nobody in particular; `secure` where the site is reached over https."""
    found = {
        "Content-Security-Policy": CONTENT_SECURITY_POLICY,
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cross-Origin-Embedder-Policy": "require-corp",
        "Permissions-Policy": ", ".join(f"{name}=()" for name in UNUSED_FEATURES),
        "X-Robots-Tag": "noindex",
        "Cache-Control": "no-store",
    }
    return found | ({"Strict-Transport-Security": "max-age=31536000"} if secure else {})
