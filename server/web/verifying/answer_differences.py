"""How an answer of a site differs from what this release answers itself."""

import hashlib
import re

from werkzeug.test import TestResponse
from werkzeug.wrappers import Response

from server.web.verifying.visitors import SiteAnswer

_TRANSPORT = {
    "accept-ranges", "alt-svc", "connection", "content-encoding", "content-length", "date", "keep-alive", "server",
    "strict-transport-security", "transfer-encoding", "vary", "via",
}  # fmt: skip
"""Headers that a server or a proxy adds, and that make a browser load, send or run nothing."""
_SAME_HOST = re.compile(r'clear|[\w-]+=":[0-9]{1,5}"(; *(ma|persist)=[0-9]+)*')
"""What `Alt-Svc` may list: from another host, if one is named, a browser would load everything later on."""


def compare_headers(answer: SiteAnswer, expected: Response, policy: str = "") -> list[str]:
    """Headers that are missing, say something else, or are none of the release, which may have a `policy` for it."""
    ours = {name.lower(): value for name, value in expected.headers}
    if policy:
        ours["content-security-policy"] = policy
    theirs = {name: answer.header(name) for name, _ in answer.headers}
    problems = []
    others = theirs.get("alt-svc", "clear")
    if not all(_SAME_HOST.fullmatch(other.strip()) for other in others.split(",")):
        problems.append(f"its header alt-svc is {others[:160]!r}, which may lead to another host")
    for name in sorted((ours.keys() | theirs.keys()) - _TRANSPORT):
        if name not in theirs:
            problems.append(f"sends no header {name}")
        elif name not in ours:
            problems.append(f"sends a header {name}: {theirs[name][:160]!r}, which the release does not")
        elif theirs[name] != ours[name]:
            problems.append(f"its header {name} is {theirs[name][:160]!r} instead of {ours[name]!r}")
    return problems


def compare_answers(answer: SiteAnswer, release_answer: TestResponse) -> list[str]:
    """As `compare_headers`, and whether status and body are the same."""
    problems = compare_headers(answer, release_answer)
    if answer.status != release_answer.status_code:
        problems.append(f"answers with status {answer.status} instead of {release_answer.status_code}")
    if answer.body != release_answer.data:
        served, expected = (
            hashlib.sha256(content).hexdigest() for content in (answer.body, release_answer.data)
        )
        problems.append(f"SHA-256 {served} instead of {expected}")
    return problems
