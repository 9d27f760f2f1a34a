"""Addresses as people type and paste them: with a slash too many, in capitals, with the full stop of a sentence."""

import re
import string
from typing import Final
from urllib.parse import quote

from server.web.front.messages import Scope
from server.web.front.route_patterns import OTHER, RoutePatterns

_LINK: Final = re.compile(r"/[sr]/[^/]+", re.IGNORECASE)
"""To a survey, or to its report: what is handed on in texts and on paper."""
_AFTER: Final = "/.,;:!?…)>]}'\"’”» "
"""What stands behind a link in a text, and no link of ours ends with."""


def find_meant(scope: Scope, patterns: RoutePatterns) -> bytes | None:
    """Where whoever asks for this wanted to go, as a path of this site; None where it is here, or nobody can know.

    Slugs of links are in small letters alone, so that nothing is looked up: of a link that exists the same is said as
    of one that does not.
    """
    path: str = scope["path"]
    link = _LINK.match(path)
    meant = path.rstrip("/") if link is None else (link[0].lower() + path[link.end() :]).rstrip(_AFTER)
    # Whatever begins with two slashes names another site.
    if meant == path or meant.startswith("//") or patterns.find("GET", meant) == OTHER:
        return None
    query = quote(scope["query_string"], safe=string.punctuation)
    return (quote(meant) + ("?" + query if query else "")).encode()
