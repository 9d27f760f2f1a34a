"""Addresses as people type and paste them: with a slash too many, in capitals, with the full stop of a sentence."""

import re
import string
from typing import Final
from urllib.parse import quote

from server.web.front.messages import Scope
from server.web.front.route_patterns import OTHER, RoutePatterns
from server.web.front.signs_of_life import HEALTH, READY

_LINK: Final = re.compile(r"/[sr]/[^/]+", re.IGNORECASE)
"""To a survey, or to its report: what is handed on in texts and on paper."""
_AFTER: Final = "/.,;:!?…)>]}'\"’”“» ،؛؟。，*_\u00a0\u200b\u200e\u200f"
"""What stands behind a link in a text, and no link of ours ends with; the last four are seen by nobody."""


def find_meant(scope: Scope, patterns: RoutePatterns) -> bytes | None:
    """Where whoever asks for this wanted to go, as a path of this site; None where it is here, or nobody can know.

    Links are in small letters alone, so that nothing is looked up: of one that exists the same is said as of one that
    does not. Programs are led nowhere: a balancer would take it for the good news that it asks for.
    """
    path: str = scope["path"]
    meant = path.lower().rstrip(_AFTER) if _LINK.match(path) else path.rstrip("/")
    # Whatever begins with two slashes names another site.
    if meant in ("", path, HEALTH, READY) or meant.startswith(("//", "/api/v1/")):
        return None
    if patterns.find("GET", meant) == OTHER:
        return None
    query = quote(scope["query_string"], safe=string.punctuation)
    return (quote(meant) + ("?" + query if query else "")).encode()
