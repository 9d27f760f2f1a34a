"""What a respondent's browser loads is compressed: on a poor network, every kilobyte keeps somebody out.

Only pages that hold no secret and repeat nothing of the request are: the length of a compressed
page that mixes the two would tell of the secret (BREACH). The researcher's pages are left alone.
"""

import gzip
from functools import lru_cache

from flask import Response, request

COMPRESSED = {"client", "respond.page", "respond.definition"}
"""Endpoints: the client's files, the respondent's page and the published definition."""

_LEAST = 500  # bytes; below, the gain is less than the header


def compress(response: Response) -> Response:
    """Send the body as gzip where the browser takes it."""
    if request.endpoint not in COMPRESSED:
        return response
    response.headers.add("Vary", "Accept-Encoding")
    # quality() is 0 where the browser does not name it, or refuses it.
    if response.status_code == 200 and request.accept_encodings.quality("gzip") > 0:
        body = response.get_data()
        if len(body) >= _LEAST:
            response.set_data(_gzipped(body))
            response.headers["Content-Encoding"] = "gzip"
    return response


@lru_cache(maxsize=64)
def _gzipped(body: bytes) -> bytes:
    """The same bytes for the same page, without a time in their header."""
    return gzip.compress(body, compresslevel=9, mtime=0)
