"""Pages that are sent compressed."""

import gzip
from collections.abc import Callable

from flask import Response, request


def compress(page: str) -> bytes:
    """The same bytes for the same page: there is no time in its header."""
    return gzip.compress(page.encode(), mtime=0)


def make_compressed(page: str, pack: Callable[[str], bytes] = compress) -> Response:
    """A page, compressed for a browser that takes it.

    Only of a page that holds no secret and nothing that the request brought along: of others, their length would tell
    how much what was brought is like what is secret.
    """
    response = Response(page, mimetype="text/html")
    if request.accept_encodings.quality("gzip") > 0:
        response.data = pack(page)
        response.headers["Content-Encoding"] = "gzip"
    response.headers.add("Vary", "Accept-Encoding")
    return response
